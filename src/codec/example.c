/* codec_example: a few samples of each type, written by the format's own writer. */
#include "codec/codec.h"
#include "codec/example_media.h"

#include <stdio.h>

#define BOX    "\"h\":30,\"label\":\"box\",\"type\":\"box\",\"w\":36,\"x\":8,\"y\":12"
#define DISC   "\"h\":36,\"label\":\"disc\",\"type\":\"box\",\"w\":36,\"x\":52,\"y\":14"
#define CORNER "[8,12,44,12,44,42,8,42]"
#define ROUND  "[88,32,83,45,70,50,57,45,52,32,57,19,70,14,83,19]"

struct example {
    const char *text;           /* of text samples */
    const char *first, *second; /* annotations of samples in turn */
};

static const struct example examples[ANNOTATION_TYPE_COUNT] = {
    [ANNOTATION_IMAGE_CLASS] = {NULL, "{\"labels\":[\"blue\"]}", "{\"labels\":[\"red\"]}"},
    [ANNOTATION_IMAGE_CLASSES] = {NULL, "{\"labels\":[\"box\",\"disc\"]}", "{\"labels\":[\"disc\"]}"},
    [ANNOTATION_DETECTION] = {NULL, "{\"shapes\":[{" BOX "},{" DISC "}]}", "{\"shapes\":[{" BOX "}]}"},
    [ANNOTATION_ROTATED] = {NULL, "{\"shapes\":[{" BOX "},{\"angle\":45," DISC "}]}",
                            "{\"shapes\":[{" BOX "}]}"},
    [ANNOTATION_SEGMENTATION] = {NULL,
                                 "{\"shapes\":[{\"label\":\"box\",\"rings\":[" CORNER
                                 "],\"type\":\"polygon\"},{\"label\":\"disc\",\"rings\":[" ROUND
                                 "],\"type\":\"polygon\"}]}",
                                 "{\"shapes\":[{\"label\":\"disc\",\"rings\":[" ROUND
                                 "],\"type\":\"polygon\"}]}"},
    [ANNOTATION_KEYPOINTS] =
        {NULL,
         "{\"shapes\":[{\"box\":[8,12,36,30],\"label\":\"box\",\"points\":[[8,12,2],[44,12,2],"
         "[44,42,2],[8,42,1]],\"type\":\"keypoints\"}]}",
         "{\"shapes\":[{\"box\":[8,12,36,30],\"label\":\"box\",\"points\":[[8,12,2],[44,12,2],"
         "[0,0,0],[8,42,2]],\"type\":\"keypoints\"}]}"},
    [ANNOTATION_OCR] =
        {NULL,
         "{\"shapes\":[{\"h\":30,\"label\":\"sign\",\"text\":\"OPEN\",\"type\":\"box\",\"w\":36,\"x\":8,"
         "\"y\":12}]}",
         "{\"shapes\":[{\"label\":\"sign\",\"rings\":[" ROUND "],\"text\":\"STOP\",\"type\":\"polygon\"}]}"},
    [ANNOTATION_TEXT_CLASS] = {"The parcel came on time.", "{\"labels\":[\"good\"]}",
                               "{\"labels\":[\"bad\"]}"},
    [ANNOTATION_TEXT_SPANS] =
        {"Anna lives in Paris.",
         "{\"spans\":[{\"end\":4,\"label\":\"person\",\"start\":0},{\"end\":19,\"label\":"
         "\"place\",\"start\":14}]}",
         "{\"spans\":[{\"end\":4,\"label\":\"person\",\"start\":0}]}"},
    [ANNOTATION_AUDIO_CLASS] = {NULL, "{\"labels\":[\"low\"]}", "{\"labels\":[\"high\"]}"},
    [ANNOTATION_TRANSCRIPTION] =
        {NULL, "{\"segments\":[{\"end\":0.5,\"start\":0,\"text\":\"beep\"}],\"text\":\"beep\"}",
         "{\"text\":\"boop\"}"},
};

enum { EXAMPLE_SAMPLES = 4 };

struct making {
    const struct codec_output *out;
    enum annotation_type type;
    unsigned next;
    struct buf bytes; /* of the sample given last */
    char path[32];
};

static void make_bytes(struct making *m, unsigned number)
{
    buf_clear(&m->bytes);
    switch (annotation_types[m->type].data) {
    case ANNOTATION_TEXT:
        buf_z(&m->bytes, examples[m->type].text);
        break;
    case ANNOTATION_AUDIO:
        example_wav(&m->bytes, number);
        break;
    default:
        example_png(&m->bytes, number);
    }
}

static bool on_next(void *ctx, struct codec_sample *ret, bool *ret_end, struct err *err)
{
    (void)err;
    static const char *const endings[] = {"png", "txt", "wav"};
    struct making *m = ctx;
    *ret_end = m->next == EXAMPLE_SAMPLES;
    if (*ret_end)
        return true;
    unsigned i = m->next++;
    enum annotation_data data = annotation_types[m->type].data;
    snprintf(m->path, sizeof m->path, "%03u.%s", i + 1, endings[data]);
    make_bytes(m, i);
    *ret = (struct codec_sample){
        .path = str_of(m->path),
        .content = buf_view(&m->bytes),
        .annotation = str_of(i % 2 ? examples[m->type].second : examples[m->type].first),
        .split = i < 3 ? CODEC_TRAIN : CODEC_VAL,
        .width = data == ANNOTATION_IMAGE ? EXAMPLE_WIDTH : 0,
        .height = data == ANNOTATION_IMAGE ? EXAMPLE_HEIGHT : 0,
    };
    return true;
}

static bool on_rewind(void *ctx, struct err *err)
{
    (void)err;
    ((struct making *)ctx)->next = 0;
    return true;
}

static bool on_bytes(void *ctx, const struct codec_sample *s, struct str *ret, struct err *err)
{
    (void)ctx;
    (void)err;
    *ret = s->content;
    return true;
}

static bool on_begin(void *ctx, const char *path, struct err *err)
{
    const struct codec_output *out = ((struct making *)ctx)->out;
    return out->file_begin(out->ctx, path, err);
}

static bool on_write(void *ctx, const void *p, size_t n, struct err *err)
{
    const struct codec_output *out = ((struct making *)ctx)->out;
    return out->write(out->ctx, p, n, err);
}

static bool on_end(void *ctx, struct err *err)
{
    const struct codec_output *out = ((struct making *)ctx)->out;
    return out->file_end(out->ctx, err);
}

static bool on_media(void *ctx, const struct codec_sample *s, const char *path, struct err *err)
{
    return on_begin(ctx, path, err) && on_write(ctx, s->content.p, s->content.n, err) && on_end(ctx, err);
}

bool codec_example(const struct codec *c, enum annotation_type type, const struct codec_output *out,
                   struct err *err)
{
    static const struct str corners[] = {
        {"top left", 8}, {"top right", 9}, {"bottom right", 12}, {"bottom left", 11}};
    static const uint16_t edges[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}};
    const struct codec_label skeleton = {
        .name = STR("box"), .keypoints = corners, .keypoint_count = 4, .edges = edges, .edge_count = 4};
    struct making m = {.out = out, .type = type};
    struct codec_source src = {.ctx = &m, .next = on_next, .rewind = on_rewind, .bytes = on_bytes};
    if (type == ANNOTATION_KEYPOINTS) {
        src.labels = &skeleton;
        src.label_count = 1;
    }
    struct codec_output own = {
        .ctx = &m, .file_begin = on_begin, .write = on_write, .file_end = on_end, .media = on_media};
    bool ok = codec_write(c, &src, type, &own, NULL, NULL, err);
    buf_release(&m.bytes);
    return ok;
}
