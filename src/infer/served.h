/* One version of one model, loaded: the graphs of its parts, each with its batcher, and its manifest when it
 * has one. Immutable but for figures. Counted references: a model that is replaced or unloaded goes when the
 * last request that has it is answered. */
#ifndef INGOT_INFER_SERVED_H
#define INGOT_INFER_SERVED_H

#include "infer/batcher.h"
#include "infer/figures.h"
#include "infer/session.h"
#include "model/manifest.h"

#define SERVED_FILE "model.onnx" /* in a folder without a manifest */

struct served_options {
    struct batcher_options batch; /* instances 0: by the processors, 1 when requests share runs */
    unsigned cpus;
    size_t max_file; /* bytes of a graph's file */
};

struct served_part {
    struct served *served;
    const char *name;  /* of the part; the model's for the only one */
    const char *model; /* as v2 calls it: NAME, or NAME.PART of several */
    struct session *session;
    struct batcher *batcher;
    struct batcher_options batch; /* as it is run */
};

struct served {
    const char *name, *version;
    struct model_manifest *manifest; /* NULL: only v2 */
    struct served_part *parts;
    size_t n_parts;
    struct figures figures; /* of requests, by v2 and predict */
    struct arena arena;
    atomic_uint refs;
    struct served *next_gone; /* of models.c */
};

/* path: of an ONNX file, or of a folder with ingot-model.json or model.onnx. ERR_INVALID and others name the
 * file. With one reference. */
struct served *served_load(const char *name, const char *version, const char *path,
                           const struct served_options *o, struct err *err);
/* The same of a folder, with this text in place of its ingot-model.json. */
struct served *served_load_as(const char *name, const char *version, const char *path, struct str manifest,
                              const struct served_options *o, struct err *err);
/* Runs a part on whole tensors and waits (task_run_fn of task.h); how long it waited for others is added to
 * *queue_ns (NULL allowed). */
bool served_run(struct served *s, size_t part, const struct tensor *inputs, size_t n_inputs,
                const char *const *names, struct tensor *ret, size_t n_names, struct arena *a,
                uint64_t *queue_ns, struct err *err);
/* Frees at once; not on a thread of its batchers. */
void served_free(struct served *s);

#endif
