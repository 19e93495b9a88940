/* The models that are served, by name and version, and where they come from on disk. Loading is slow and
 * happens beside the requests: a model that is loaded again is replaced when the new one is ready, and the
 * old one goes when its last request is answered. */
#ifndef INGOT_INFER_MODELS_H
#define INGOT_INFER_MODELS_H

#include "infer/served.h"

struct models;

struct models *models_new(const struct served_options *o);
/* When no request has a model any more. */
void models_free(struct models *m);

/* A model to be served: a file, or a folder with a manifest or a model.onnx, or with folders of versions (1,
 * 2 ...). version NULL: 1, or those of the folders. Before the first load. */
bool models_add(struct models *m, const char *name, const char *path, const char *version, struct err *err);
/* Every folder in there is a model of that name, also those that come later. */
void models_folder(struct models *m, const char *path);

/* Loads, or loads again, all versions of a name; what is served stays when it fails. Any thread that may
 * wait. */
bool models_load(struct models *m, struct str name, struct err *err);
/* All that were added; goes on after a failure, and returns false with the first. */
bool models_load_all(struct models *m, struct err *err);
bool models_unload(struct models *m, struct str name, struct err *err);

/* version STR_NULL: the greatest. The name may be of a part, NAME.PART: ret_part, NULL when the model has
 * several and the name is its own. Give it back with models_drop. ERR_NOT_FOUND. */
struct served *models_find(struct models *m, struct str name, struct str version,
                           struct served_part **ret_part, struct err *err);
void models_drop(struct models *m, struct served *s);

/* All there are, in the arena, each to be dropped; by name and version. */
struct served **models_all(struct models *m, struct arena *a, size_t *ret_n);

/* For the index: all names that are known. state: "READY", "UNAVAILABLE", with the reason. */
struct models_entry {
    const char *name, *version, *state, *reason;
};
struct models_entry *models_index(struct models *m, struct arena *a, size_t *ret_n);

#endif
