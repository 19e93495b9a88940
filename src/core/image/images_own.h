/* What the files of image/ share beside repositories. */
#ifndef INGOT_CORE_IMAGE_IMAGES_OWN_H
#define INGOT_CORE_IMAGE_IMAGES_OWN_H

#include "core/image/repository.h"

#include <pthread.h>
#include <stdatomic.h>

enum layer_state { LAYER_READY, LAYER_WAITING, LAYER_FAILED };
/* Asks for a layer; one that is not there is unpacked by the thread. */
enum layer_state images_layer(struct images *im, const struct digest *d, struct err *err);
const char *images_layer_path(struct images *im, const struct digest *d, struct arena *a);

/* A password that a task needs and the database must not know: kept in memory until the server ends, at most
 * 1000. Returns its key. */
const char *images_keep_secret(struct images *im, const char *text, struct arena *a);
const char *images_secret(struct images *im, struct str key, struct arena *a); /* NULL when there is none */

/* An image as it is in the store: the manifest of one architecture with its configuration. */
struct image_parts {
    struct repository repository;
    struct digest digest;
    struct str text; /* of the manifest */
    struct oci_manifest manifest;
    struct oci_config config;
};
/* arch: the words of OCI ("amd64"); NULL: this machine's. ERR_NOT_FOUND, or ERR_INVALID for one that cannot
 * be run here. */
bool image_load(struct core *core, const struct repository *r, const struct reference *at, const char *arch,
                struct arena *a, struct image_parts *ret, struct err *err);
/* By what people write; `host` is no such image. */
bool image_find(struct core *core, int64_t project, struct str name, const char *arch, struct arena *a,
                struct image_parts *ret, struct err *err);
const char *image_arch(void); /* of this machine */

#endif
