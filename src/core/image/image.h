/* Images: OCI container images of a project, pushed to and pulled from the platform's own registry
 * (api/oci/oci.c), imported, copied, derived, or saved from a running container; and what a job needs to run
 * in one.
 *
 * An image (kind `image`) is a repository of the registry, "<project>/<name>"; a version (kind
 * `image_version`) is one of its tags. All bytes are blobs of the store: layers, configurations, and the
 * manifests themselves.
 *
 * The built-in image "host" (exec/exec.h) needs nothing of this. An image saved from a container of `host` is
 * a layer above it: its manifest carries the annotation org.opencontainers.image.base.name = "host". */
#ifndef INGOT_CORE_IMAGE_IMAGE_H
#define INGOT_CORE_IMAGE_IMAGE_H

#include "core/engine.h"
#include "exec/exec.h"

extern const struct kind kind_image, kind_image_version;
/* What can be done to an image beside the registry's protocol: core/build/actions.c. */
extern const struct action image_actions[];

/* --- running --- */

/* What a job asks for. */
struct image_want {
    int64_t project;
    const char *name; /* "host", "name:version" of the project, or "project/name:version" of a public image;
                         without a version "latest" */
    int64_t spec;     /* what it would run with; 0: not asked */
    int64_t job;      /* that will use it: its layers stay while the job is not over */
    const char *arch; /* of the node, "amd64"; NULL: this machine's */
};

/* What a container needs of it; in the caller's arena. */
struct image_ready {
    bool host;                 /* `host` itself, or layers above it */
    const char *const *layers; /* unpacked folders, lowest first; none for `host` itself */
    size_t n_layers;
    const char *const *env; /* "NAME=value" of the image */
    size_t n_env;
    const char *cwd;               /* NULL: / */
    const char *user;              /* NULL: root */
    const char *const *entrypoint; /* entrypoint and command of the image, in this order */
    size_t n_entrypoint;
    const char *digest; /* of the manifest, 64 hex; "" for `host` */
};

enum image_state {
    IMAGE_READY,
    IMAGE_UNPACKING, /* not yet: a thread unpacks it and wakes the jobs (jobs_wake); err says what is awaited
                      */
    IMAGE_FAILED,    /* never: err says why (no such image, another architecture, a broken layer) */
};
/* Never waits for bytes to be unpacked: for the controller of jobs. */
enum image_state image_prepare(struct core *core, const struct image_want *w, struct arena *a,
                               struct image_ready *ret, struct err *err);
/* May the image run in this project with this spec? For forms and create hooks: ERR_INVALID naming field when
 * there is no such image or version, or it is made for other specs. */
bool image_check(struct core *core, const struct image_want *w, const char *field, struct err *err);
/* The content that the name stands for now, as 64 hex in the arena: "" for `host`, and when there is none. */
const char *image_digest(struct core *core, int64_t project, struct str name, struct arena *a);

/* --- the service: controllers that unpack layers and give back what is not used --- */
struct images;
/* A client pulled this version: counted in memory, written now and then. Never waits. */
void images_pulled(struct images *im, int64_t version);

#endif
