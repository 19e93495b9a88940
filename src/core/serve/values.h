/* The environment values of a service version: an object of names and sealed values (base/seal.h), so that
 * neither the database nor a backup gives them away; nobody ever reads them but the version's replicas. */
#ifndef INGOT_CORE_SERVE_VALUES_H
#define INGOT_CORE_SERVE_VALUES_H

#include "core/job/owner.h"

#define VALUES_MAX       200  /* names */
#define VALUES_CHARACTER 1000 /* of each value */

/* The rule of the field: names of variables; values are texts, sealed or not. */
bool values_check(struct arena *a, const struct field *f, const struct db_value *value, struct err *err);
/* Inside a write: seals what is new in *value; what `old` (may be null) has alike is sealed already.
 * ERR_INVALID for a value that is too long or has line ends. */
bool values_seal(struct op *op, const struct db_value *old, struct db_value *value, struct err *err);
/* Gives them to a container. ERR_CONFLICT when they were sealed with another key. */
bool values_launch(struct launch *u, struct str sealed, struct err *err);
/* The names as a list. */
void values_write_names(struct arena *a, struct str sealed, struct json_out *out);

#endif
