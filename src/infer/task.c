#include "infer/task.h"

#include "base/messages.h"
#include "infer/task_own.h"
#include "infer/types.h"

#include <math.h>
#include <time.h>

/* One row per task; those without a function have no predict yet. */
static task_fn *const tasks[MODEL_TASK_COUNT] = {
    [ANNOTATION_IMAGE_CLASS] = task_class,
    [ANNOTATION_IMAGE_CLASSES] = task_class,
    [ANNOTATION_DETECTION] = task_detection,
    [ANNOTATION_ROTATED] = NULL,
    [ANNOTATION_SEGMENTATION] = task_segmentation,
    [ANNOTATION_KEYPOINTS] = task_keypoints,
    [ANNOTATION_OCR] = task_ocr,
    [ANNOTATION_TEXT_CLASS] = task_class,
    [ANNOTATION_TEXT_SPANS] = NULL,
    [ANNOTATION_AUDIO_CLASS] = task_class,
    [ANNOTATION_TRANSCRIPTION] = NULL,
    [MODEL_TASK_EMBEDDING] = task_embedding,
};

bool task_can_predict(const struct model_manifest *m, struct err *err)
{
    if (tasks[m->task])
        return true;
    return err_message(err, ERR_INVALID, "task", MESSAGE_PREDICT_NOT_YET, model_task_name(m->task));
}

bool task_option(struct task_options *o, struct str name, struct str value, struct err *err)
{
    if (str_is(name, "exact")) {
        if (!str_is(value, "true") && !str_is(value, "false"))
            return err_message(err, ERR_INVALID, "exact", MESSAGE_MODEL_BOOL, "exact");
        o->exact = str_is(value, "true");
        return true;
    }
    for (size_t i = 0; i < MODEL_THRESHOLD_COUNT; i++) {
        const char *known = model_threshold_names[i];
        double v;
        if (!str_is(name, known))
            continue;
        if (!str_to_real(value, &v) || v < 0 || v > 1)
            return err_message(err, ERR_INVALID, known, MESSAGE_MODEL_RANGE, known, 0.0, 1.0);
        o->has[i] = true;
        o->value[i] = v;
        return true;
    }
    char field[41];
    size_t n = name.n < sizeof field - 1 ? name.n : sizeof field - 1;
    memcpy(field, name.p ? name.p : "", n);
    field[n] = 0;
    return err_message(err, ERR_INVALID, field, MESSAGE_UNKNOWN_FIELD, field);
}

double task_threshold(const struct task *t, enum model_threshold which)
{
    return t->o && t->o->has[which] ? t->o->value[which] : t->m->thresholds[which];
}

const struct model_input *task_input_of(const struct model_manifest *m, size_t part)
{
    for (size_t i = 0; i < m->n_inputs; i++)
        if (m->inputs[i].part == part)
            return &m->inputs[i];
    return NULL; /* the manifest's check sees to it that a part with outputs has one */
}

static uint64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* --- running --- */
static double element(const struct tensor *t, size_t i)
{
    const char *p = t->data.p;
    switch (t->type) {
    case TENSOR_BOOL:
    case TENSOR_UINT8:
        return ((const uint8_t *)p)[i];
    case TENSOR_INT8:
        return ((const int8_t *)p)[i];
    case TENSOR_UINT16:
        return ((const uint16_t *)p)[i];
    case TENSOR_INT16:
        return ((const int16_t *)p)[i];
    case TENSOR_UINT32:
        return ((const uint32_t *)p)[i];
    case TENSOR_INT32:
        return ((const int32_t *)p)[i];
    case TENSOR_UINT64:
        return (double)((const uint64_t *)p)[i];
    case TENSOR_INT64:
        return (double)((const int64_t *)p)[i];
    case TENSOR_FP16:
        return types_from_half(((const uint16_t *)p)[i]);
    case TENSOR_BF16:
        return types_from_bfloat(((const uint16_t *)p)[i]);
    case TENSOR_FP64:
        return ((const double *)(const void *)p)[i];
    default:
        return NAN;
    }
}

static bool values_of(struct task *t, const struct model_output *o, const struct tensor *from,
                      struct task_values *ret)
{
    uint64_t n;
    if (from->type == TENSOR_BYTES || !types_elements(from->dims, from->n_dims, SIZE_MAX / 8, &n) ||
        from->data.n != n * types[from->type].size)
        return err_message(t->err, ERR_INVALID, "outputs", MESSAGE_PREDICT_SHAPE, o->name.p);
    *ret = (struct task_values){.out = o, .n = n, .n_dims = from->n_dims};
    memcpy(ret->dims, from->dims, sizeof ret->dims);
    ret->v = (const float *)(const void *)from->data.p;
    if (from->type != TENSOR_FP32) {
        float *v = arena_alloc(t->a, sizeof *v * (n + 1));
        for (size_t i = 0; i < n; i++)
            v[i] = (float)element(from, i);
        ret->v = v;
    }
    for (size_t i = 0; i < n; i++)
        if (isnan(ret->v[i]))
            return err_message(t->err, ERR_INVALID, "outputs", MESSAGE_PREDICT_NAN, o->name.p);
    return true;
}

static bool run_part(struct task *t, size_t part, struct task_run *r)
{
    const char *names[MODEL_MAX_OUTPUTS];
    const struct model_output *outs[MODEL_MAX_OUTPUTS] = {0};
    struct tensor tensors[MODEL_MAX_OUTPUTS] = {0};
    size_t n = 0;
    for (size_t i = 0; i < t->m->n_outputs; i++) {
        if (t->m->outputs[i].part != part)
            continue;
        outs[n] = &t->m->outputs[i];
        names[n++] = t->m->outputs[i].name.p;
    }
    uint64_t start = now_ns();
    bool ok = t->run(t->ctx, part, r->prepared.tensors, r->prepared.n, names, tensors, n, t->a, t->err);
    t->times->run_ns += now_ns() - start;
    for (size_t i = 0; ok && i < n; i++)
        ok = values_of(t, outs[i], &tensors[i], &r->values[i]);
    r->n = n;
    return ok;
}

bool task_run_part(struct task *t, size_t part, const struct picture *p, struct task_run *ret)
{
    const struct model_input *in = task_input_of(t->m, part);
    uint64_t start = now_ns();
    ret->n = 0;
    bool ok = in->kind == MODEL_PICTURE ? prepare_picture(t->a, in, p, &ret->prepared, t->err)
              : in->kind == MODEL_TEXT  ? prepare_text(t->a, in, t->in->bytes, &ret->prepared, t->err)
                                        : prepare_sound(t->a, in, t->in->bytes, &ret->prepared, t->err);
    t->times->prepare_ns += now_ns() - start;
    return ok && run_part(t, part, ret);
}

/* The size of a picture is known from its header only after decoding; a reduced decode wants the least size
 * that loses nothing that the input can hold, which follows from the full size. */
static bool decode_picture(struct task *t, const struct model_input *in)
{
    uint64_t start = now_ns();
    bool reduce = in->scaled_decoding && !(t->o && t->o->exact);
    uint32_t w = reduce ? (uint32_t)ceil(in->size[0] / in->crop) : 0;
    uint32_t h = reduce ? (uint32_t)ceil(in->size[1] / in->crop) : 0;
    if (reduce && (!w || !h))
        w = h = in->longest; /* 0 where one side follows: exact */
    bool ok = picture_decode(t->in->bytes, w, h, &t->picture, t->err);
    t->times->prepare_ns += now_ns() - start;
    if (!ok)
        return false;
    t->times->width = t->picture.full_width;
    t->times->height = t->picture.full_height;
    return true;
}

bool task_one(struct task *t, struct task_run *ret)
{
    size_t part = t->m->outputs[0].part;
    return task_run_part(t, part, &t->picture, ret);
}

/* --- the whole --- */
static void write_result(struct task *t, struct json_out *out)
{
    if (t->json.p) {
        json_raw(out, t->json);
        return;
    }
    json_raw(out, model_text(t->a, &t->result));
}

bool task_predict(const struct model_manifest *m, const struct task_options *o, const struct task_input *in,
                  task_run_fn *run, void *ctx, struct arena *a, struct json_out *out,
                  struct task_times *times, struct err *err)
{
    struct task_times own = {0};
    struct task t = {.m = m, .o = o, .in = in, .run = run, .ctx = ctx, .a = a, .times = &own, .err = err};
    if (!task_can_predict(m, err))
        return false;
    uint64_t start = now_ns();
    const struct model_input *first = &m->inputs[0];
    const struct model_output *map = model_output_of(m, -1, MODEL_TEXT_MAP);
    if (map)
        first = task_input_of(m, map->part);
    bool ok = (first->kind != MODEL_PICTURE || decode_picture(&t, first)) && tasks[m->task](&t);
    picture_release(&t.picture);
    if (!ok)
        return false;
    write_result(&t, out);
    uint64_t all = now_ns() - start;
    own.read_ns = all - own.run_ns - own.prepare_ns;
    if (times)
        *times = own;
    return true;
}
