/* Training data: the samples that have annotations, also empty ones, split into train and test, in the files
 * each kind of training expects. The split depends on the seed and the samples' paths only, not on their
 * order, and keeps each class's share: a sample counts for the rarest of its classes. */
#include "codec/csv_rows.h"
#include "codec/formats.h"
#include "codec/tfrecord.h"

#include <math.h>
#include <stdio.h>

enum { TEST_MIN = 10 };
#define SHARD_BYTES (256u << 20)

static const struct layout {
    const char *train, *test; /* files of annotations */
    bool (*write)(struct codec_writer *w, const char *path, enum codec_split part, struct err *err);
} layouts[ANNOTATION_TYPE_COUNT] = {
    [ANNOTATION_DETECTION] = {"train.json", "test.json", coco_write_file},
    [ANNOTATION_ROTATED] = {"train.json", "test.json", coco_write_file},
    [ANNOTATION_SEGMENTATION] = {"trainval.json", "test.json", coco_write_file},
    [ANNOTATION_KEYPOINTS] = {"train.json", "test.json", coco_write_file},
    [ANNOTATION_OCR] = {"train.json", "test.json", coco_write_file},
    [ANNOTATION_TEXT_SPANS] = {"train.jsonl", "test.jsonl", own_write_file},
    [ANNOTATION_TRANSCRIPTION] = {"train.jsonl", "test.jsonl", own_write_file},
};

/* ---- split ---- */

struct candidate {
    uint64_t order; /* pseudo-random */
    uint32_t class, number;
};

/* The same on every machine and in every process, unlike hash64. */
static uint64_t shuffle_key(struct str path, uint64_t seed)
{
    uint64_t h = seed ^ UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < path.n; i++)
        h = (h ^ (unsigned char)path.p[i]) * UINT64_C(0x100000001b3);
    h ^= h >> 30;
    h *= UINT64_C(0xbf58476d1ce4e5b9);
    h ^= h >> 27;
    h *= UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 31;
}

/* Calls fn with each class of the sample. */
static void each_class(const struct codec_writer *w, const struct annotation *n,
                       void (*fn)(void *ctx, size_t class), void *ctx)
{
    for (uint32_t i = 0; i < n->label_count; i++)
        fn(ctx, writer_label(w, n->labels[i]));
    for (uint32_t i = 0; i < n->shape_count; i++)
        fn(ctx, writer_label(w, n->shapes[i].label));
    for (uint32_t i = 0; i < n->span_count; i++)
        fn(ctx, writer_label(w, n->spans[i].label));
}

struct rarity {
    uint64_t *counts;
    size_t best; /* SIZE_MAX: none */
};

static void count_class(void *ctx, size_t class)
{
    if (class != SIZE_MAX)
        ((struct rarity *)ctx)->counts[class]++;
}

static void pick_rarest(void *ctx, size_t class)
{
    struct rarity *r = ctx;
    if (class == SIZE_MAX)
        return;
    if (r->best == SIZE_MAX || r->counts[class] < r->counts[r->best] ||
        (class < r->best && r->counts[class] == r->counts[r->best]))
        r->best = class;
}

static int by_class(const void *x, const void *y)
{
    const struct candidate *a = x, *b = y;
    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Deals each class's samples out; what rounding leaves over is carried to the next class. */
static void deal(struct codec_writer *w, struct candidate *c, size_t count, double share)
{
    double carry = 0;
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && c[to].class == c[from].class;)
            to++;
        carry += (double)(to - from) * share;
        size_t test = carry > 0 ? (size_t)floor(carry + 0.5) : 0;
        if (test > to - from - 1)
            test = to - from - 1; /* training sees every class */
        carry -= (double)test;
        for (size_t i = from; i < to; i++)
            w->parts[c[i].number] = i - from < test ? CODEC_TEST : CODEC_TRAIN;
    }
}

struct splitting {
    struct codec_writer *w;
    const struct codec_training *opt;
    struct rarity rarity;
    struct candidate *c;
    size_t count;
    bool has_test; /* a sample was imported into it */
    uint64_t negatives;
};

/* The first walk: how often each class is there, and which parts. */
static void look_at(struct splitting *s, const struct writer_sample *it)
{
    each_class(s->w, &it->n, count_class, &s->rarity);
    s->has_test = s->has_test || it->s.split == CODEC_TEST;
}

/* The second: the part of each, or a place among those that are dealt out. */
static void place(struct splitting *s, const struct writer_sample *it)
{
    bool negative = annotation_empty(it->s.annotation);
    if (negative && s->w->type == ANNOTATION_IMAGE_CLASS) {
        writer_problem(s->w, CODEC_SKIPPED, it->s.path, STR_NULL, "it has no label");
        return;
    }
    s->negatives += negative;
    if (s->opt->keep_split && it->s.split != CODEC_SPLIT_NONE) {
        bool train = it->s.split == CODEC_TRAIN || (it->s.split == CODEC_VAL && s->has_test);
        s->w->parts[it->number] = train ? CODEC_TRAIN : CODEC_TEST;
        return;
    }
    s->rarity.best = SIZE_MAX;
    each_class(s->w, &it->n, pick_rarest, &s->rarity);
    s->c[s->count++] = (struct candidate){shuffle_key(it->s.path, s->opt->seed),
                                          s->rarity.best == SIZE_MAX ? UINT32_MAX : (uint32_t)s->rarity.best,
                                          (uint32_t)it->number};
}

static bool walk(struct splitting *s, void (*each)(struct splitting *s, const struct writer_sample *it),
                 struct err *err)
{
    struct writer_sample it = {0};
    bool end = false, ok = writer_rewind(s->w, &it, err);
    while (ok && (ok = writer_next(s->w, &it, &end, err)) && !end)
        if (it.s.annotation.n && it.number < s->w->sample_count)
            each(s, &it);
    writer_sample_release(&it);
    return ok;
}

/* Fills w->parts; samples without annotation stay outside. */
static bool split(struct codec_writer *w, const struct codec_training *opt, struct codec_training_counts *ret,
                  struct err *err)
{
    if (w->sample_count >= UINT32_MAX)
        return err_set(err, ERR_TOO_LARGE, NULL, "more than 4 billion samples");
    auto_free uint64_t *counts = base_zalloc((w->label_count + 1) * sizeof *counts);
    auto_free struct candidate *c = base_alloc((w->sample_count + 1) * sizeof *c);
    struct splitting s = {.w = w, .opt = opt, .rarity = {.counts = counts}, .c = c};
    w->parts = base_zalloc(w->sample_count + 1);
    if (!walk(&s, look_at, err) || !walk(&s, place, err))
        return false;
    if (s.count)
        qsort(c, s.count, sizeof *c, by_class);
    deal(w, c, s.count, s.count < TEST_MIN ? 0 : opt->test_share);
    *ret = (struct codec_training_counts){.negatives = s.negatives};
    for (size_t i = 0; i < w->sample_count; i++) {
        ret->train += w->parts[i] == CODEC_TRAIN;
        ret->test += w->parts[i] == CODEC_TEST;
    }
    return true;
}

/* ---- classification ---- */

/* "file,label", a line per label; of a sample without one "file,". */
static bool write_list(struct codec_writer *w, const char *path, enum codec_split part, struct err *err)
{
    struct writer_sample it = {0};
    bool end = false, ok = writer_begin(w, path, err) && writer_rewind(w, &it, err);
    while (ok && (ok = writer_next(w, &it, &end, err)) && !end) {
        uint32_t lines = it.n.label_count ? it.n.label_count : 1;
        for (uint32_t i = 0; writer_part(w, &it) == part && i < lines; i++) {
            csv_put(&w->buf, it.s.path);
            buf_char(&w->buf, ',');
            if (it.n.label_count)
                csv_put(&w->buf, it.n.labels[i]);
            buf_char(&w->buf, '\n');
        }
        ok = writer_flush(w, err);
    }
    writer_sample_release(&it);
    return ok && writer_end(w, err);
}

static bool write_classes(struct codec_writer *w, struct err *err)
{
    buf_clear(&w->buf);
    for (size_t i = 0; i < w->label_count; i++) {
        buf_str(&w->buf, w->labels[i].name);
        buf_char(&w->buf, '\n');
    }
    return writer_file(w, "classes.txt", err);
}

static bool put_example(struct codec_writer *w, struct writer_sample *it, struct err *err)
{
    static const char *const keys[][3] = {
        [ANNOTATION_IMAGE] = {"image/encoded", "image/filename", "image/class/"},
        [ANNOTATION_TEXT] = {"text", "text/filename", "text/class/"},
        [ANNOTATION_AUDIO] = {"audio/encoded", "audio/filename", "audio/class/"},
    };
    const char *const *key = keys[w->data];
    struct tfrecord_example e = {0};
    struct str bytes;
    char name[40];
    if (!w->src->bytes)
        return err_set(err, ERR_INTERNAL, NULL, "the samples' bytes are not available");
    if (!w->src->bytes(w->src->ctx, &it->s, &bytes, err))
        return false;
    int64_t *numbers = arena_array(&it->arena, int64_t, it->n.label_count + 1);
    for (uint32_t i = 0; i < it->n.label_count; i++)
        numbers[i] = (int64_t)writer_label(w, it->n.labels[i]);
    tfrecord_bytes(&e, key[0], bytes);
    tfrecord_bytes(&e, key[1], it->s.path);
    snprintf(name, sizeof name, "%slabel", key[2]);
    tfrecord_ints(&e, name, numbers, it->n.label_count);
    snprintf(name, sizeof name, "%stext", key[2]);
    tfrecord_texts(&e, name, it->n.labels, it->n.label_count);
    if (w->data == ANNOTATION_IMAGE) {
        struct str stem = path_stem(it->s.path), base = path_base(it->s.path);
        struct str ending =
            stem.n < base.n ? (struct str){base.p + stem.n + 1, base.n - stem.n - 1} : STR("");
        tfrecord_bytes(&e, "image/format", ending);
        int64_t width = it->s.width, height = it->s.height;
        tfrecord_ints(&e, "image/width", &width, 1);
        tfrecord_ints(&e, "image/height", &height, 1);
    }
    tfrecord_put(&w->buf, &e);
    return true;
}

/* FOLDER/FOLDER-00000.tfrecord, a new file after each 256 MiB. */
static bool write_records(struct codec_writer *w, const char *folder, enum codec_split part, struct err *err)
{
    struct writer_sample it = {0};
    bool end = false, open = false, ok = writer_rewind(w, &it, err);
    uint64_t bytes = 0;
    unsigned shard = 0;
    while (ok && (ok = writer_next(w, &it, &end, err)) && !end) {
        if (writer_part(w, &it) != part)
            continue;
        if (!open) {
            char path[64];
            snprintf(path, sizeof path, "%s/%s-%05u.tfrecord", folder, folder, shard++);
            ok = open = writer_begin(w, path, err);
            bytes = 0;
        }
        size_t before = w->buf.n;
        ok = ok && put_example(w, &it, err);
        bytes += w->buf.n - before;
        if (ok && bytes >= SHARD_BYTES) {
            ok = writer_end(w, err);
            open = false;
        }
        ok = ok && writer_flush(w, err);
    }
    writer_sample_release(&it);
    return ok && (!open || writer_end(w, err));
}

static bool write_classification(struct codec_writer *w, bool test, struct err *err)
{
    return write_classes(w, err) && write_list(w, "train_label_file.txt", CODEC_TRAIN, err) &&
           (!test || write_list(w, "test_label_file.txt", CODEC_TEST, err)) &&
           write_records(w, "train", CODEC_TRAIN, err) &&
           (!test || write_records(w, "evaluate", CODEC_TEST, err));
}

/* ---- all ---- */

static bool write_media(struct codec_writer *w, struct err *err)
{
    static const char *const folders[] = {"images", "texts", "audio"};
    struct writer_sample it = {0};
    bool end = false, ok = writer_rewind(w, &it, err);
    while (ok && (ok = writer_next(w, &it, &end, err)) && !end)
        if (writer_part(w, &it) != CODEC_SPLIT_NONE)
            ok = writer_media(
                w, &it, arena_printf(&it.arena, "%s/" STR_FMT, folders[w->data], STR_ARG(it.s.path)), err);
    writer_sample_release(&it);
    return ok;
}

static bool write_all(struct codec_writer *w, const struct codec_training *opt,
                      struct codec_training_counts *counts, struct err *err)
{
    const struct layout *l = &layouts[w->type];
    if (!split(w, opt, counts, err))
        return false;
    bool test = counts->test > 0;
    if (!l->write
            ? !write_classification(w, test, err)
            : !l->write(w, l->train, CODEC_TRAIN, err) || (test && !l->write(w, l->test, CODEC_TEST, err)))
        return false;
    return !w->out->media || write_media(w, err);
}

bool codec_training_write(const struct codec_source *src, enum annotation_type type,
                          const struct codec_training *opt, const struct codec_output *out,
                          void (*problem)(void *ctx, const struct codec_problem *p), void *problem_ctx,
                          struct codec_training_counts *ret, struct err *err)
{
    struct codec_training_counts counts;
    if (!(opt->test_share >= 0 && opt->test_share <= 0.9))
        return err_set(err, ERR_INVALID, "test_share", "test_share is %g; it must be from 0 to 0.9",
                       opt->test_share);
    struct codec_writer w = {.problem = problem, .problem_ctx = problem_ctx};
    bool ok = writer_init(&w, src, type, out, err) && write_all(&w, opt, &counts, err);
    writer_release(&w);
    if (ok)
        *ret = counts;
    return ok;
}
