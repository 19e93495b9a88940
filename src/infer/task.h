/* Predict: one picture, text or sound in, the annotation of docs/annotations.md out, as the manifest of the
 * model says (model/manifest.h, docs/models.md). Preparation and reading are here, one task_*.c per task
 * behind the table in task.c; what runs the graph is the caller's: the batcher in the server, a plain session
 * in tests. */
#ifndef INGOT_INFER_TASK_H
#define INGOT_INFER_TASK_H

#include "base/json.h"
#include "infer/tensor.h"
#include "model/manifest.h"

/* Runs one part of the model (its index in manifest->parts) on whole tensors and waits for the result. The
 * outputs are made in the arena, in the order of `names`. The inputs live until it returns. */
typedef bool task_run_fn(void *ctx, size_t part, const struct tensor *inputs, size_t n_inputs,
                         const char *const *names, struct tensor *ret, size_t n_names, struct arena *a,
                         struct err *err);

/* One picture, text or sound as it came. The media type may be empty: pictures and sounds are known by their
 * first bytes, whatever it says. */
struct task_input {
    struct str bytes;
    struct str media_type;
};

/* What the client asks for; zeroes ask for nothing. */
struct task_options {
    bool has[MODEL_THRESHOLD_COUNT]; /* thresholds in place of the manifest's */
    double value[MODEL_THRESHOLD_COUNT];
    bool exact; /* never decode a JPEG at a reduced size, even where the manifest allows it: evaluation */
};

/* What a client may give, by name: a threshold 0..1 ("score", "iou" ...), "exact" (true or false).
 * ERR_INVALID names the field. */
bool task_option(struct task_options *o, struct str name, struct str value, struct err *err);

struct task_times {
    uint64_t prepare_ns, run_ns, read_ns;
    uint32_t width, height; /* of the upright picture; 0 for texts and sounds */
};

/* Writes the canonical annotation of one input to `out` (embedding: {"embedding":[...]}), as one JSON value.
 * On a thread that may wait; any number at once. Needs the manifest's assets (model_manifest_assets).
 * ERR_INVALID names the field and the rule; a task that has no predict is refused with a sentence
 * (task_can_predict tells before). `out` is untouched on failure. */
bool task_predict(const struct model_manifest *m, const struct task_options *o, const struct task_input *in,
                  task_run_fn *run, void *ctx, struct arena *a, struct json_out *out,
                  struct task_times *times, struct err *err);

/* Whether the manifest's task has a predict; else ERR_INVALID with the sentence. */
bool task_can_predict(const struct model_manifest *m, struct err *err);

#endif
