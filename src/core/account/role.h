/* The built-in roles, and what the kinds' hooks ask about roles. */
#ifndef INGOT_CORE_ACCOUNT_ROLE_H
#define INGOT_CORE_ACCOUNT_ROLE_H

#include "core/account/permission.h"
#include "core/core.h"

/* Makes the rows that are missing and writes anew what they may, for the kinds of this program. */
bool role_make_built_in(struct core *core, struct err *err);
/* Inside a write: the id of a built-in role; 0 when there is none. */
bool role_built_in_id(struct db_conn *c, struct arena *a, const char *name, int64_t *ret, struct err *err);
/* Inside a write: the caller may not give away more than they hold in the project (0: platform-wide), and
 * `administrator` is no role of a project. field names the reference in the error. */
bool role_may_give(struct op *op, int64_t role, int64_t project, const char *field, struct err *err);

#endif
