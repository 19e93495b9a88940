/* The documents of the OCI image format (and Docker's, which have the same shape): manifests of images,
 * indexes of several manifests, configurations. Read here, bounded and checked; made here too. */
#ifndef INGOT_CORE_IMAGE_OCI_H
#define INGOT_CORE_IMAGE_OCI_H

#include "base/json.h"
#include "store/store.h"

#define OCI_MANIFEST_MAX (4 << 20) /* bytes */
#define OCI_CONFIG_MAX   (4 << 20)
#define OCI_ITEMS_MAX    1000
#define OCI_LAYERS_RUN   120 /* of an image that is run */

#define OCI_MANIFEST    "application/vnd.oci.image.manifest.v1+json"
#define OCI_INDEX       "application/vnd.oci.image.index.v1+json"
#define OCI_CONFIG      "application/vnd.oci.image.config.v1+json"
#define OCI_LAYER_GZIP  "application/vnd.oci.image.layer.v1.tar+gzip"
#define OCI_BASE        "org.opencontainers.image.base.name"
#define DOCKER_MANIFEST "application/vnd.docker.distribution.manifest.v2+json"
#define DOCKER_LIST     "application/vnd.docker.distribution.manifest.list.v2+json"

struct oci_descriptor {
    struct digest digest;
    int64_t size;
    struct str media_type;
    struct str arch, os; /* of an index's items; may be STR_NULL */
};

struct oci_manifest {
    bool index; /* items are manifests; otherwise layers */
    struct str media_type;
    struct str artifact_type; /* its own, or the configuration's type; STR_NULL */
    struct oci_descriptor config;
    struct oci_descriptor *items;
    size_t n;
    bool has_subject;
    struct oci_descriptor subject;
    yyjson_val *annotations; /* object or NULL */
    bool host;               /* layers above the built-in image host */
};
/* media_type: the Content-Type it came with, STR_NULL when unknown. Everything points into the arena or text.
 * ERR_INVALID, field manifest. */
bool oci_parse(struct arena *a, struct str media_type, struct str text, struct oci_manifest *ret,
               struct err *err);
/* The sum of all sizes it names. */
int64_t oci_bytes(const struct oci_manifest *m);

struct oci_config {
    struct str arch, os, variant;
    const char *const *env, *const *entrypoint, *const *cmd;
    size_t n_env, n_entrypoint, n_cmd;
    const char *cwd, *user; /* NULL when absent or empty */
    struct digest *diff_ids;
    size_t n_diff_ids;
    yyjson_val *doc;
};
bool oci_config_parse(struct arena *a, struct str text, struct oci_config *ret, struct err *err);

/* A new manifest: the parts in order. */
struct oci_write {
    struct oci_descriptor config;
    const struct oci_descriptor *layers;
    size_t n;
    bool host;
};
void oci_write(const struct oci_write *w, struct buf *out);

/* What changes in a configuration; NULL or 0: as it was. */
struct oci_change {
    const struct oci_config *from; /* NULL: a new one of this architecture */
    const char *arch;
    const struct digest *add_diff; /* a layer more */
    yyjson_val *env;               /* object: set; null removes */
    yyjson_val *cmd, *entrypoint;  /* arrays of texts */
    const char *cwd;
    const char *comment; /* of the history */
};
void oci_config_write(struct arena *a, const struct oci_change *c, struct buf *out);

#endif
