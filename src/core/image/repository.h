/* Repositories of the registry: what has been pushed to an image. All calls block.
 *
 * A repository is an image of a project. Its blobs are rows of image_blobs, each a use of the project: a blob
 * is readable through a repository only while it has such a row. A row counts the manifests that name it; one
 * that no manifest names any more (or yet) goes an hour after it was last touched, so that a push which found
 * it there can finish. Manifests are rows of image_manifests, each a use of its own blob, with their parts in
 * image_parts. A version (tag) names a manifest. */
#ifndef INGOT_CORE_IMAGE_REPOSITORY_H
#define INGOT_CORE_IMAGE_REPOSITORY_H

#include "core/image/image.h"
#include "core/image/oci.h"
#include "core/image/reference.h"

extern const char repository_sql[]; /* the tables beside the kinds' own */

enum repository_right {
    REPOSITORY_PULL,
    REPOSITORY_PULL_BLOB, /* and what was uploaded before the image's first manifest, to callers that may make
                             it: clients ask for a blob as soon as they have sent it */
    REPOSITORY_PUSH,
    REPOSITORY_DELETE
};

struct repository {
    int64_t project;
    int64_t image; /* 0: nothing was pushed yet (only with REPOSITORY_PUSH and _PULL_BLOB) */
    bool public_;
    struct str name; /* of the image, in the project */
};

/* path: "<project>/<image name>", the project by its name or as "id.<number>" (which is always the number).
 * ERR_INVALID field name; ERR_NOT_FOUND field repository where there is nothing or nothing that the caller
 * may know of; ERR_FORBIDDEN; ERR_UNAUTHORIZED without a user. */
bool repository_find(struct core *core, const struct caller *c, struct str path, enum repository_right right,
                     struct arena *a, struct repository *ret, struct err *err);
/* By what a project's users write ("name", or "project/name"): their own first, then the public ones. */
bool repository_of_name(struct core *core, int64_t project, struct str name, struct arena *a,
                        struct repository *ret, struct err *err);
/* "vision" or "id.7": the first part of the paths of a project's repositories. */
const char *repository_project_text(struct arena *a, int64_t project, struct str name);

/* --- blobs --- */
/* Puts a blob of the store into the repository: the quota is looked at. Pushing it again touches it. */
bool repository_add_blob(struct core *core, const struct repository *r, const struct digest *d, int64_t size,
                         struct err *err);
/* *ret_size is -1 when the repository does not have it. Touches it: the client may be about to name it. */
bool repository_blob(struct core *core, const struct repository *r, const struct digest *d, struct arena *a,
                     int64_t *ret_size, struct err *err);
/* Inside a write: so many names less. A blob without one goes at once, unless a push may rely on it. */
bool repository_unname_blob(struct db_conn *c, int64_t project, struct str name, const struct digest *d,
                            int64_t count, struct err *err);
/* ERR_CONFLICT while a manifest names it; ERR_NOT_FOUND field blob. */
bool repository_drop_blob(struct core *core, const struct repository *r, const struct digest *d,
                          struct err *err);

/* --- manifests --- */
struct repository_manifest {
    struct digest digest;
    struct str media_type;
    int64_t size;
    int64_t version; /* id of the version it was found by; 0 */
};
bool repository_manifest(struct core *core, const struct repository *r, const struct reference *at,
                         struct arena *a, struct repository_manifest *ret, struct err *err);

struct repository_push {
    struct reference at;
    struct str media_type; /* STR_NULL: what the text says */
    struct str text;
    struct str description; /* of a new image; may be STR_NULL */
};
struct repository_pushed {
    struct digest digest;
    bool has_subject;
    struct digest subject;
    int64_t image, version; /* version 0 when pushed by digest */
};
/* All that it names must be in the repository (ERR_INVALID field blob); makes image and version where they
 * are missing. Checks image.create for a new image; the right to push was checked by repository_find. */
bool repository_push(struct core *core, const struct caller *c, const struct repository *r,
                     const struct repository_push *p, struct arena *a, struct repository_pushed *ret,
                     struct err *err);
/* By digest: its versions too. By tag: the version, and its manifest when nothing else names it. */
bool repository_delete(struct core *core, const struct caller *c, const struct repository *r,
                       const struct reference *at, struct arena *a, struct err *err);

/* Inside a write, for the kinds' hooks. */
bool repository_unname(struct op *op, int64_t image, const struct digest *d, struct err *err);
bool repository_drop_all(struct op *op, int64_t image, struct err *err);

/* One pass: forgets blobs and manifests that nothing names, in small writes. */
bool repository_sweep(struct core *core, struct err *err);

#endif
