/* The /workspace of an environment, seen from the server. */
#ifndef INGOT_CORE_ENVIRONMENT_WORKSPACE_H
#define INGOT_CORE_ENVIRONMENT_WORKSPACE_H

#include "core/engine.h"
#include "exec/exec.h"

/* environment_folder of one that there is, which may have had another name once. */
const char *workspace_path(const struct core *core, const struct object *o, struct arena *a);

/* What is mounted below /workspace, read-only, from the next start on. */
struct workspace_mount {
    const char *path; /* "algorithm/net" */
    const struct kind *version;
    int64_t id;
};
bool workspace_mounts(struct core *core, const struct object *o, struct arena *a,
                      struct workspace_mount **ret, size_t *ret_n, struct err *err);
/* Whether path is folder or lies below it; all paths lie below "". */
bool workspace_is_in(const char *path, const char *folder);

/* A folder of /workspace, open for reading as people see it: through the first container while that runs,
 * with what is mounted in it; else as it lies on the server's disk. */
struct workspace_folder {
    int fd;                   /* the caller's to close */
    bool inside;              /* through the container: */
    struct exec_id container; /* this one */
};
/* path is relative to /workspace, "" is all of it; it cannot lead out of it, and no link is followed. Errors
 * are of the field `folder`. */
bool workspace_open(struct core *core, const struct object *o, const char *path, struct arena *a,
                    struct workspace_folder *ret, struct err *err);
/* ERR_CONFLICT when the container has ended since: what was mounted went with it, so that not all may have
 * been read. */
bool workspace_still(struct core *core, const struct workspace_folder *f, struct arena *a, struct err *err);

/* The names of the folders in it, sorted; hidden ones are left out. At most WORKSPACE_LISTED. */
#define WORKSPACE_LISTED 1000
bool workspace_folders(int fd, struct arena *a, const char ***ret, size_t *ret_n, struct err *err);
/* Whether there is nothing at all in it. */
bool workspace_is_empty(int fd);

#endif
