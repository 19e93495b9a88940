/* Rules that more than one field takes part in: which outputs a task is read from, and what must be there for
 * a preparation. */
#include "base/messages.h"
#include "model/manifest_fields.h"

#define R(r) (1u << MODEL_##r)
#define ANY  (R(SOFTMAX) | R(SIGMOID) | R(SCORES))

/* What a task may be read from: one row's `need` (one of each listed set) and nothing beyond `may`. A task
 * without rows takes any outputs: it has no predict yet. */
static const struct {
    int task;
    uint32_t need[3];
    uint32_t may;
    const char *said;
} ways[] = {
    {ANNOTATION_IMAGE_CLASS, {ANY}, 0, "one of softmax, sigmoid, scores"},
    {ANNOTATION_IMAGE_CLASSES, {ANY}, 0, "one of softmax, sigmoid, scores"},
    {ANNOTATION_TEXT_CLASS, {ANY}, 0, "one of softmax, sigmoid, scores"},
    {ANNOTATION_AUDIO_CLASS, {ANY}, 0, "one of softmax, sigmoid, scores"},
    {ANNOTATION_DETECTION,
     {R(BOXES), ANY},
     R(CLASSES) | R(COUNT),
     "boxes and scores, or rows, or anchors and scores, or heatmap and ltrb or wh"},
    {ANNOTATION_DETECTION, {R(ROWS)}, 0, NULL},
    {ANNOTATION_DETECTION, {R(ANCHORS), ANY}, 0, NULL},
    {ANNOTATION_DETECTION, {R(HEATMAP), R(LTRB)}, 0, NULL},
    {ANNOTATION_DETECTION, {R(HEATMAP), R(WH)}, R(OFFSET), NULL},
    {ANNOTATION_SEGMENTATION, {R(ARGMAX)}, 0, "argmax, or mask, or mask with boxes and scores"},
    {ANNOTATION_SEGMENTATION, {R(MASK)}, 0, NULL},
    {ANNOTATION_SEGMENTATION, {R(MASK), R(BOXES), ANY}, R(CLASSES) | R(COUNT), NULL},
    {ANNOTATION_KEYPOINTS, {R(POINTS)}, 0, "points or point-maps"},
    {ANNOTATION_KEYPOINTS, {R(POINT_MAPS)}, 0, NULL},
    {ANNOTATION_OCR,
     {R(TEXT_MAP), R(CTC)},
     R(SOFTMAX) | R(SCORES),
     "text-map and ctc, and softmax or scores of a classifier"},
    {MODEL_TASK_EMBEDDING, {R(VECTOR)}, 0, "vector"},
};

bool model_task_predicts(int task)
{
    for (size_t i = 0; i < countof(ways); i++)
        if (ways[i].task == task)
            return true;
    return false;
}

static uint32_t readings(const struct model_manifest *m)
{
    uint32_t all = 0;
    for (size_t i = 0; i < m->n_outputs; i++)
        all |= 1u << m->outputs[i].reading;
    return all;
}

static bool way_fits(size_t w, uint32_t have)
{
    uint32_t rest = have;
    for (size_t i = 0; i < countof(ways[w].need); i++) {
        if (ways[w].need[i] && __builtin_popcount(rest & ways[w].need[i]) != 1)
            return false;
        rest &= ~ways[w].need[i];
    }
    return !(rest & ~ways[w].may);
}

static bool check_ways(struct model_parse *p)
{
    uint32_t have = readings(p->m);
    const char *said = NULL;
    for (size_t i = 0; i < p->m->n_outputs; i++)
        for (size_t k = 0; k < i; k++)
            if (p->m->outputs[i].reading == p->m->outputs[k].reading)
                return err_message(p->err, ERR_INVALID, "outputs", MESSAGE_MODEL_SAME,
                                   model_reading_names[p->m->outputs[i].reading]);
    for (size_t i = 0; i < countof(ways); i++) {
        if (ways[i].task != p->m->task)
            continue;
        if (way_fits(i, have))
            return true;
        if (ways[i].said)
            said = ways[i].said;
    }
    if (!said)
        return true;
    return err_message(p->err, ERR_INVALID, "outputs", MESSAGE_MODEL_OUTPUTS, model_task_name(p->m->task),
                       said);
}

static bool wrong(struct model_parse *p, size_t i, const char *field, const char *rule_en,
                  const char *rule_zh)
{
    const char *path = arena_printf(p->a, "inputs[%zu].%s", i, field);
    err_set(p->err, ERR_INVALID, path, "%s: %s", path, rule_en);
    err_chinese(p->err, "model-rule", "%s：%s", path, rule_zh);
    return false;
}

static bool check_picture(struct model_parse *p, size_t i)
{
    struct model_input *in = &p->m->inputs[i];
    bool free_w = !in->size[0], free_h = !in->size[1];
    if (free_w && free_h && !in->longest)
        return wrong(p, i, "longest", "is required with size [0,0]", "size 为 [0,0] 时必填");
    if (in->longest && !(free_w && free_h))
        return wrong(p, i, "longest", "goes with size [0,0] only", "只能与 size [0,0] 一起使用");
    if ((free_w || free_h) && in->fit == MODEL_CROP)
        return wrong(p, i, "fit", "a crop needs both sides of size", "裁剪需要给出 size 的两边");
    if (in->range[0] > in->range[1])
        return wrong(p, i, "range", "must be least and most", "应为最小值和最大值");
    if (in->crop < 1 && in->fit != MODEL_CROP)
        return wrong(p, i, "crop", "goes with fit crop only", "只能与 fit crop 一起使用");
    if (in->type == MODEL_INT32 || in->type == MODEL_INT64)
        return wrong(p, i, "type", "a picture is fp32, fp16 or uint8", "图像只能是 fp32、fp16 或 uint8");
    if (!in->range[1])
        in->range[0] = 1, in->range[1] = MODEL_MAX_SIDE;
    return true;
}

static bool check_text(struct model_parse *p, size_t i)
{
    struct model_input *in = &p->m->inputs[i];
    if (in->tokenizer != MODEL_NGRAMS && !in->vocab)
        return wrong(p, i, "vocab", "is required for this tokenizer", "该分词器必须给出词表");
    if (in->tokenizer == MODEL_NGRAMS && (!in->counts.n || in->mask.n || in->types.n || in->vocab))
        return wrong(p, i, "counts", "ngrams have counts, and neither vocab, mask nor types",
                     "ngrams 需要 counts，不能有 vocab、mask 和 types");
    if (in->tokenizer != MODEL_NGRAMS && in->counts.n)
        return wrong(p, i, "counts", "goes with ngrams only", "只能与 ngrams 一起使用");
    if (in->type != MODEL_INT64 && in->type != MODEL_INT32)
        return wrong(p, i, "type", "a text is int64 or int32", "文本只能是 int64 或 int32");
    if (!in->length)
        in->length = in->tokenizer == MODEL_NGRAMS ? 16384 : 512;
    return true;
}

static bool check_input(struct model_parse *p, size_t i)
{
    const struct model_manifest *m = p->m;
    const struct model_input *in = &m->inputs[i];
    static const enum model_input_kind kinds[] = {
        [ANNOTATION_IMAGE] = MODEL_PICTURE, [ANNOTATION_TEXT] = MODEL_TEXT, [ANNOTATION_AUDIO] = MODEL_SOUND};
    if (m->task != MODEL_TASK_EMBEDDING && in->kind != kinds[annotation_types[m->task].data])
        return wrong(p, i, "kind", "is not what the task works on", "与任务的数据类型不符");
    for (size_t k = 0; k < i; k++)
        if (m->inputs[k].part == in->part)
            return wrong(p, i, "part", "has an input already", "该部件已有输入");
    if (in->kind == MODEL_PICTURE)
        return check_picture(p, i);
    if (in->kind == MODEL_TEXT)
        return check_text(p, i);
    if (in->type != MODEL_FP32)
        return wrong(p, i, "type", "a sound is fp32", "声音只能是 fp32");
    return true;
}

static bool check_labels(struct model_parse *p)
{
    const struct model_manifest *m = p->m;
    static const uint8_t without[MODEL_TASK_COUNT] = {
        [ANNOTATION_OCR] = 1, [ANNOTATION_TRANSCRIPTION] = 1, [MODEL_TASK_EMBEDDING] = 1};
    if (!without[m->task] && !m->n_labels)
        return err_message(p->err, ERR_INVALID, "labels", MESSAGE_REQUIRED, "labels");
    if (m->task == ANNOTATION_KEYPOINTS && !m->n_points)
        return err_message(p->err, ERR_INVALID, "points", MESSAGE_REQUIRED, "points");
    return true;
}

bool model_manifest_check(struct model_parse *p)
{
    const struct model_manifest *m = p->m;
    for (size_t i = 0; i < m->n_inputs; i++)
        if (!check_input(p, i))
            return false;
    for (size_t i = 0; i < m->n_outputs; i++) {
        bool has_input = false;
        for (size_t k = 0; k < m->n_inputs; k++)
            has_input = has_input || m->inputs[k].part == m->outputs[i].part;
        if (!has_input)
            return err_message(p->err, ERR_INVALID, "inputs", MESSAGE_MODEL_PART_INPUT,
                               m->parts[m->outputs[i].part].name.p);
    }
    for (size_t i = 0; i < m->n_outputs && m->task != ANNOTATION_OCR; i++)
        if (m->outputs[i].part != m->outputs[0].part)
            return err_message(p->err, ERR_INVALID, "outputs", MESSAGE_MODEL_ONE_PART,
                               model_task_name(m->task));
    return check_labels(p) && check_ways(p);
}
