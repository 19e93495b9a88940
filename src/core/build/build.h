/* Building a version: a script runs as a job in the image it starts from, and what it changed is saved as one
 * more image layer. The job's log is the log of the build.
 *
 * The container waits after the script has ended well: it reads a pipe of the folder <data>/builds/<job>,
 * which the server takes for "save me" and answers when the version is there. So a server that is killed
 * meanwhile finds a container that waits, and does it again. */
#ifndef INGOT_CORE_BUILD_BUILD_H
#define INGOT_CORE_BUILD_BUILD_H

#include "core/job/owner.h"
#include "core/task/task.h"

extern const struct job_owner image_build_owner;
extern const struct task_type task_image_build;
extern const struct field image_build_fields[];
/* The action `build` of an image: answers with the job. */
bool image_build(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                 int *status, struct err *err);

#endif
