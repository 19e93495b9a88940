/* Runtimes: images that the platform makes itself, out of Debian's packages and Python's, with this machine's
 * own apt and pip; no outside image registry is needed. Each is a row of the kind `runtime`: a recipe (lists
 * of packages), what it costs to fetch, and the image it became, a public version of the project "built-in".
 * The built-in recipes are in recipes.c; administrators add others.
 *
 * Making one is a background task (make.c): scripts/runtimes/fetch.py resolves and fetches the packages
 * (script.c), the essential ones become the lowest layer of an image, and a job in it, without network,
 * installs them all, maintainer scripts included (container.c); what it changed is the second layer. */
#ifndef INGOT_CORE_RUNTIME_RUNTIME_H
#define INGOT_CORE_RUNTIME_RUNTIME_H

#include "core/job/owner.h"
#include "core/task/task.h"

extern const struct kind kind_runtime;
extern const struct job_owner runtime_owner;
extern const struct task_type task_runtime_build, task_runtime_estimate, task_runtime_export,
    task_runtime_import;

/* At every start: the rows of the built-in recipes are there and as this program has them. */
bool runtime_make_built_in(struct core *core, struct err *err);

/* The id of the project "built-in", which is made when there is none. */
bool runtime_project(struct core *core, const struct caller *c, struct arena *a, int64_t *ret,
                     struct err *err);

/* Begins the task t in that project with an upload of the caller's, an archive that was made elsewhere; its
 * params are {"blob": HEX}. Answers the task. */
bool runtime_begin_import(struct op *op, struct task_new t, struct str upload, struct json_out *out,
                          struct err *err);

/* The image of a runtime that is ready, as jobs name it ("built-in/pytorch:v1"), in the arena. NULL with
 * ERR_CONFLICT, field runtime: it is not there yet, and the sentence says how one gets it. */
const char *runtime_image(struct core *core, struct str name, struct arena *a, struct err *err);

/* The built-in runtime that has a Python module ("torch.nn": the first part counts); NULL: none has. */
const char *runtime_of_module(struct str module);

#endif
