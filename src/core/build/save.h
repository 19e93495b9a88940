/* Saving a running container as a version of an image (A7). */
#ifndef INGOT_CORE_BUILD_SAVE_H
#define INGOT_CORE_BUILD_SAVE_H

#include "core/task/task.h"
#include "exec/exec.h"

extern const struct task_type task_image_save;

/* Makes a new version of an image of the container's project from a running container: the image layers it
 * was started with, and one more with all files it changed outside of its mounts. */
struct image_save {
    struct exec_id container; /* of a running job */
    int64_t project;
    const char *base;         /* the image the container was started with, as in image_want.name */
    struct str name;          /* of the new version's image; made when there is none */
    struct str version;       /* a version of that name is replaced */
    struct str description;   /* of a new image; may be STR_NULL */
    const char *subject_kind; /* what the task is shown with: "environment" */
    int64_t subject;
};
/* Checks names, permissions (image.create or image.update) and that the container runs; then starts a task
 * (type "image_save") that does the rest. *ret_task is its id. On a pool thread, outside of writes. */
bool image_save(struct core *core, const struct caller *c, const struct image_save *s, struct arena *a,
                int64_t *ret_task, struct err *err);

/* The whole of such a task: saves the container of the task's params (job, attempt, rank, base, name,
 * version, description). */
bool assemble_saved(struct task *t, const char *comment, struct err *err);

#endif
