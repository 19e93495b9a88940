/* What refers to an object: fields of type ref, children, and what lives in a project. */
#ifndef INGOT_CORE_REFS_H
#define INGOT_CORE_REFS_H

#include "core/engine.h"

/* Inside a write, before a delete. *ret is STR_NULL when nothing refers to it, otherwise the JSON array of
 * engine_delete. Rows that only record (audit) do not count. */
bool refs_find(struct op *op, const struct object *o, struct str *ret, struct err *err);
/* Inside a write: the object that a field refers to exists and may be referred to from this project. */
bool refs_check(struct op *op, const struct object *o, const struct field *f, int64_t id, struct err *err);

#endif
