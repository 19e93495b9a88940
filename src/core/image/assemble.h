/* New versions out of parts that are there: what saving, copying, deriving, importing and pulling share. */
#ifndef INGOT_CORE_IMAGE_ASSEMBLE_H
#define INGOT_CORE_IMAGE_ASSEMBLE_H

#include "core/image/images_own.h"
#include "core/task/task.h"

extern const struct task_type task_image_import, task_image_pull, task_image_derive;

/* The repository of an image of the project, also one that does not exist yet. */
bool assemble_target(struct core *core, int64_t project, struct str name, struct arena *a,
                     struct repository *ret, struct err *err);

/* What a new version is made of. */
struct assembly {
    struct core *core;
    const struct caller *caller;
    struct repository target;
    struct str version, description;
    const struct image_parts *base; /* NULL: none, or `host` */
    bool host;
    const struct oci_descriptor *layer; /* one more, above; NULL: none */
    struct oci_change change;           /* of the configuration; from and add_diff are filled in */
    const struct digest *diff;          /* of layer */
};
/* Puts base, layer and a new configuration into the repository and pushes the manifest. */
bool assemble_push(struct assembly *x, struct arena *a, struct repository_pushed *ret, struct err *err);
/* The task's result: {"image", "version", "name"}. */
void assemble_result(struct task *t, const struct repository *r, struct str version,
                     const struct repository_pushed *p);

/* Copies a manifest of another repository (an index with all of its) without copying bytes. */
bool assemble_copy(struct core *core, const struct caller *c, const struct repository *from,
                   const struct digest *d, const struct repository *to, const struct reference *at,
                   struct arena *a, struct repository_pushed *ret, struct err *err);

/* Starts a task of the image; writes it as the answer of an action (202). */
bool assemble_task(struct op *op, const struct object *image, const char *type, struct words title,
                   struct str params, struct json_out *out, struct err *err);

/* For actions that make a version. */
#define IMAGE_FIELD_VERSION                                                                                  \
    {                                                                                                        \
        .name = "version", .type = FIELD_TEXT, .flags = FIELD_CREATE | FIELD_REQUIRED, .rule = "image-tag",  \
        .title = {"Version", "版本"}, .help = {                                                              \
            "The new version; one of that name is replaced.",                                                \
            "新版本的名称；同名版本将被替换。"                                               \
        }                                                                                                    \
    }

#endif
