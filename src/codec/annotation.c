#include "codec/annotation.h"

#include "base/json.h"
#include "base/map.h"
#include "base/messages.h"
#include "codec/model.h"

const struct annotation_type_info annotation_types[] = {
    [ANNOTATION_IMAGE_CLASS] = {"image-class", "Image classification", "图像单标签分类", ANNOTATION_IMAGE},
    [ANNOTATION_IMAGE_CLASSES] = {"image-classes", "Image classification, several labels", "图像多标签分类",
                                  ANNOTATION_IMAGE},
    [ANNOTATION_DETECTION] = {"detection", "Object detection", "目标检测", ANNOTATION_IMAGE},
    [ANNOTATION_ROTATED] = {"rotated-detection", "Detection with rotated boxes", "旋转框检测",
                            ANNOTATION_IMAGE},
    [ANNOTATION_SEGMENTATION] = {"segmentation", "Segmentation", "图像分割", ANNOTATION_IMAGE},
    [ANNOTATION_KEYPOINTS] = {"keypoints", "Keypoints", "关键点", ANNOTATION_IMAGE},
    [ANNOTATION_OCR] = {"ocr", "Text recognition", "文字识别", ANNOTATION_IMAGE},
    [ANNOTATION_TEXT_CLASS] = {"text-class", "Text classification", "文本分类", ANNOTATION_TEXT},
    [ANNOTATION_TEXT_SPANS] = {"text-spans", "Text spans", "文本序列标注", ANNOTATION_TEXT},
    [ANNOTATION_AUDIO_CLASS] = {"audio-class", "Audio classification", "音频分类", ANNOTATION_AUDIO},
    [ANNOTATION_TRANSCRIPTION] = {"transcription", "Transcription", "语音转写", ANNOTATION_AUDIO},
};

const char *const annotation_data_names[] = {
    [ANNOTATION_IMAGE] = "image",
    [ANNOTATION_TEXT] = "text",
    [ANNOTATION_AUDIO] = "audio",
};

bool annotation_type_of(struct str name, enum annotation_type *ret)
{
    for (size_t i = 0; i < countof(annotation_types); i++) {
        if (str_is(name, annotation_types[i].name)) {
            *ret = (enum annotation_type)i;
            return true;
        }
    }
    return false;
}

bool annotation_type_asked(const char *field, struct str name, enum annotation_type *ret, struct err *err)
{
    char shown[64], all[256] = "";
    size_t n = 0;
    if (annotation_type_of(name, ret))
        return true;
    for (size_t i = 0; i < countof(annotation_types) && n < sizeof all; i++)
        n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "", annotation_types[i].name);
    snprintf(shown, sizeof shown, "\"" STR_FMT "\"", STR_ARG(name));
    return err_message(err, ERR_INVALID, field, MESSAGE_NO_CHOICE, field, shown, all);
}

bool annotation_check(struct arena *a, enum annotation_type type, struct str json, struct str *ret_canonical,
                      struct err *err)
{
    struct annotation n;
    if (!model_parse(a, type, json, &n, err))
        return false;
    *ret_canonical = model_text(a, &n);
    return true;
}

static bool canonical(struct arena *a, struct str json, struct str *ret)
{
    struct err ignored;
    return annotation_check(a, MODEL_ANY, json, ret, &ignored);
}

bool annotation_equal(struct str a, struct str b)
{
    if (str_eq(a, b))
        return true;
    auto_arena struct arena arena = {0};
    struct str x, y;
    struct err ignored;
    return canonical(&arena, a, &x) && canonical(&arena, b, &y) &&
           (str_eq(x, y) || (annotation_without_ids(&arena, x, &x, &ignored) &&
                             annotation_without_ids(&arena, y, &y, &ignored) && str_eq(x, y)));
}

bool annotation_empty(struct str json)
{
    if (json.n == 0 || str_is(json, "{}"))
        return true;
    auto_arena struct arena arena = {0};
    struct str text;
    return canonical(&arena, json, &text) && str_is(text, "{}");
}

/* The labels met so far, with counts, in order. */
struct tally {
    struct map *index; /* label -> count's address */
    struct entry {
        struct str label;
        uint32_t count;
    } * entries;
    size_t count;
};

static void tally_add(struct tally *t, struct str label)
{
    if (!label.n)
        return;
    struct entry *e = map_get(t->index, label);
    if (!e) {
        e = &t->entries[t->count++];
        *e = (struct entry){label, 0};
        map_set(t->index, label, e);
    }
    e->count++;
}

bool annotation_each_label(struct str json, void (*fn)(void *ctx, struct str label, uint32_t count),
                           void *ctx, struct err *err)
{
    auto_arena struct arena a = {0};
    struct annotation n;
    if (!model_parse(&a, MODEL_ANY, json, &n, err))
        return false;
    size_t most = (size_t)n.label_count + n.shape_count + n.span_count + n.segment_count;
    struct tally t = {.index = map_new(), .entries = arena_array(&a, struct entry, most)};
    for (uint32_t i = 0; i < n.label_count; i++)
        tally_add(&t, n.labels[i]);
    for (uint32_t i = 0; i < n.shape_count; i++)
        tally_add(&t, n.shapes[i].label);
    for (uint32_t i = 0; i < n.span_count; i++)
        tally_add(&t, n.spans[i].label);
    for (uint32_t i = 0; i < n.segment_count; i++)
        tally_add(&t, n.segments[i].label);
    for (size_t i = 0; i < t.count; i++)
        fn(ctx, t.entries[i].label, t.entries[i].count);
    map_free(t.index);
    return true;
}

struct relabel {
    struct arena *a;
    struct str (*fn)(void *ctx, struct str label);
    void *ctx;
};

/* Whether to keep what bears the label. */
static bool renamed(struct relabel *r, struct str *label)
{
    if (!label->n)
        return true;
    struct str name = r->fn(r->ctx, *label);
    if (!name.p)
        return false;
    *label = arena_str(r->a, name);
    return true;
}

static void relabel_parts(struct relabel *r, struct part *parts, uint32_t *count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *count; i++)
        if (renamed(r, &parts[i].label))
            parts[kept++] = parts[i];
    *count = kept;
}

/* Two labels that became one are one. */
static void relabel_labels(struct relabel *r, struct annotation *n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n->label_count; i++) {
        struct str label = n->labels[i];
        bool keep = renamed(r, &label);
        for (uint32_t k = 0; keep && k < kept; k++)
            keep = !str_eq(n->labels[k], label);
        if (!keep)
            continue;
        n->labels[kept] = label;
        if (n->scores)
            n->scores[kept] = n->scores[i];
        kept++;
    }
    n->label_count = kept;
}

bool annotation_relabel(struct arena *a, struct str json, struct str (*fn)(void *ctx, struct str label),
                        void *ctx, struct str *ret_json, struct err *err)
{
    struct annotation n;
    if (!model_parse(a, MODEL_ANY, json, &n, err))
        return false;
    struct relabel r = {a, fn, ctx};
    relabel_labels(&r, &n);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n.shape_count; i++)
        if (renamed(&r, &n.shapes[i].label))
            n.shapes[kept++] = n.shapes[i];
    n.shape_count = kept;
    relabel_parts(&r, n.spans, &n.span_count);
    relabel_parts(&r, n.segments, &n.segment_count);
    *ret_json = model_text(a, &n);
    return true;
}
