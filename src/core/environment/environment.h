/* Environments: a container to work in, with JupyterLab, VS Code and ssh, that runs as a job. The kind and
 * its actions (kind_environment.c, environment_actions.c), what its containers get (environment_job.c), its
 * folder and what is kept of it as a version (workspace.c, keep.c), and a thread that publishes ssh ports,
 * ends what is not used and deletes the folders of deleted ones (environments.c).
 *
 * /workspace is data/workspace/<id>-<created_at>: it stays over stop, start and failure, and goes with the
 * environment. */
#ifndef INGOT_CORE_ENVIRONMENT_ENVIRONMENT_H
#define INGOT_CORE_ENVIRONMENT_ENVIRONMENT_H

#include "core/environment/tool.h"

extern const struct kind kind_environment;
extern const struct job_owner environment_owner;
extern const struct action environment_actions[];

#define ENVIRONMENT_SSH_PORT 2222         /* sshd in the first container, on its loopback */
#define ENVIRONMENT_FILES    TOOL_SCRIPTS /* what the platform puts in */

/* data/workspace/<id>-<created_at>, in the arena: after a restore a number may be given a second time. */
const char *environment_folder(const struct core *core, int64_t id, int64_t created_at, struct arena *a);
/* Its /workspace has become larger: it is ended when its project is over its storage or the disk is full
 * (*ret_within: neither). */
bool environment_grown(struct core *core, int64_t id, struct arena *a, bool *ret_within, struct err *err);
/* Seconds since it was used last (use.h), or since its start; -1: it does not run. */
int64_t environment_idle(struct core *core, const struct object *o);

void environments_wake(struct core *core);
/* The port by which the environment's ssh is reached; 0: none (yet). */
uint16_t environments_port(struct core *core, int64_t environment);

#endif
