/* What the files task_*.c share: one prediction on its way, and reading of outputs. Internal to src/infer. */
#ifndef INGOT_INFER_TASK_OWN_H
#define INGOT_INFER_TASK_OWN_H

#include "codec/model.h"
#include "infer/prepare.h"
#include "infer/task.h"

#define TASK_MAX_CANDIDATES 10000 /* boxes that go into the suppression of overlaps: the best ones */

struct task {
    const struct model_manifest *m;
    const struct task_options *o;
    const struct task_input *in;
    task_run_fn *run;
    void *ctx;
    struct arena *a;
    struct task_times *times;
    struct err *err;
    struct picture picture; /* pictures; released by task_predict */
    struct annotation result;
    struct str json; /* embedding: the whole answer, in place of `result` */
};

/* A task's file: predicts whole, with task_one for the usual way of one part. */
typedef bool task_fn(struct task *t);
task_fn task_class, task_detection, task_segmentation, task_keypoints, task_ocr, task_embedding;

double task_threshold(const struct task *t, enum model_threshold which);

/* Outputs of one part as floats. */
struct task_values {
    const struct model_output *out;
    const float *v;
    size_t n, n_dims;
    int64_t dims[TENSOR_DIMS];
};

struct task_run {
    struct prepared prepared;
    struct task_values values[MODEL_MAX_OUTPUTS]; /* in the order of the manifest's outputs of the part */
    size_t n;
};

/* Prepares the input for a part and runs it; numbers that are none (NaN) are refused. */
bool task_run_part(struct task *t, size_t part, const struct picture *p, struct task_run *ret);
/* The part that all outputs belong to, on the input as it came. */
bool task_one(struct task *t, struct task_run *ret);
const struct task_values *task_reading(const struct task_run *r, enum model_reading reading);
/* The one of softmax, sigmoid, scores. */
const struct task_values *task_scores(const struct task_run *r);

/* The input of a part. */
const struct model_input *task_input_of(const struct model_manifest *m, size_t part);

/* Shapes that are not what the manifest's reading has. */
bool task_wrong_shape(struct task *t, const struct task_values *v);
#define task_wrong_shape(...)                                                                                \
    ({ /* the false in sight, as with err_set */                                                             \
       (task_wrong_shape)(__VA_ARGS__);                                                                      \
       false;                                                                                                \
    })

/* Scores of one row by the reading; `ret` may be `v`. */
void task_softmax(const float *v, float *ret, size_t n, size_t step);
float task_sigmoid(float v);
float task_activate(const struct model_output *o, float v); /* none or sigmoid */

/* Label of a class number, counting past the background; STR_NULL for the background and what has no label.
 */
struct str task_label(const struct task *t, const struct model_output *o, int64_t number);

/* --- boxes --- */
struct task_box {
    double at[4]; /* x0, y0, x1, y1 in pixels of the input */
    double score;
    int64_t number; /* class */
    size_t index;   /* among the model's */
};
/* All boxes above the threshold that survive the suppression, best first. */
bool task_boxes(struct task *t, const struct task_run *r, struct task_box **ret, size_t *ret_n);
/* Sorts, drops what overlaps, cuts to manifest->most. */
size_t task_suppress(const struct task *t, struct task_box *boxes, size_t n);

/* Maps to pixels of the picture: one value per map cell, [rows][columns] with strides. */
struct task_map {
    const float *v;
    uint32_t width, height;
    size_t step_x, step_y;
};
bool task_map_of(struct task *t, const struct task_values *v, int64_t *ret_channels, size_t *ret_channel_step,
                 struct task_map *ret);

double task_tidy(double score); /* to a millionth */

#endif
