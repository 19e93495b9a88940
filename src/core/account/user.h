/* Changes of users inside a write, beyond what the engine does. */
#ifndef INGOT_CORE_ACCOUNT_USER_H
#define INGOT_CORE_ACCOUNT_USER_H

#include "core/kind.h"

/* Also ends the user's sessions. The caches are dropped by the caller when it is committed. */
bool user_set_password(struct op *op, int64_t user, struct str hash, struct err *err);
bool user_end_sessions(struct db_conn *c, int64_t user, struct err *err);

#endif
