/* The people of a project: members of their own and those of its groups, for whoever chooses one of them.
 * It needs no right to see users of the platform. */
#ifndef INGOT_CORE_ACCOUNT_PEOPLE_H
#define INGOT_CORE_ACCOUNT_PEOPLE_H

#include "core/engine.h"

extern const struct field people_fields[];
bool people_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                int *status, struct err *err);

#endif
