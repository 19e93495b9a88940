/* What a project may take. */
#ifndef INGOT_CORE_QUOTA_H
#define INGOT_CORE_QUOTA_H

#include "core/core.h"

/* Bytes that the project may store; -1: no limit. */
bool quota_storage(struct core *core, int64_t project, int64_t *ret, struct err *err);
/* Inside a write that changes a project's quota (JSON, or nothing): the store keeps the limit from then on.
 */
bool quota_write(struct db_conn *c, int64_t project, struct str quota, struct err *err);
/* The same for all projects: at the start, and after everything was replaced by a backup. */
bool quota_write_all(struct core *core, struct err *err);
/* ERR_QUOTA with numbers when `more` bytes would be over it. */
bool quota_admit_storage(struct core *core, int64_t project, int64_t more, struct err *err);
/* The same for bytes of which some may be stored already: only what is over the limit by itself is refused.
 */
bool quota_admit_size(struct core *core, int64_t project, int64_t size, struct err *err);

#endif
