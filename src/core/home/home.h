/* What a first page says, in one answer: of a project (`GET /projects/{id}/home`) and of all projects that
 * the caller sees (`GET /home`): what runs, what waits and why, what failed and its last line, which models
 * are best, how services are, how far labelling is, what is one's own to do, what changed, what comes next.
 *
 * A home is a table of parts (home.c). Each names the permission that it takes and is null for callers
 * without it; each is a statement or a few over the newest rows, with a limit, so that a home costs the same
 * in a large project as in a small one. */
#ifndef INGOT_CORE_HOME_HOME_H
#define INGOT_CORE_HOME_HOME_H

#include "core/engine.h"

/* The object `ProjectHome` of the API; the caller may read the project. */
bool home_project_write(struct op *op, int64_t project, struct json_out *out, struct err *err);
/* `PlatformHome`: only what the caller may see of each project. */
bool home_platform_write(struct core *core, const struct caller *c, struct arena *a, struct buf *out,
                         struct err *err);

/* `NodeOverview`: the load of a node, what runs on it, what ended on it, and how its state changed. */
bool home_node_write(struct op *op, const struct object *node, struct json_out *out, struct err *err);

#endif
