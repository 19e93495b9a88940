/* Sharpness and perceptual hashes of a version's pictures, and what follows from them. */
#include "base/messages.h"
#include "core/data/preprocess.h"
#include "core/data/sample.h"
#include "media/media.h"

#include <math.h>

#define BATCH      64
#define MAX_GROUPS 1000

struct measuring {
    struct task *task;
    struct sample *list;
    struct media_measures *measures;
    bool *ok;
    size_t n;
};

static bool measured_write(struct op *op, void *ctx, struct err *err)
{
    struct measuring *m = ctx;
    for (size_t i = 0; i < m->n; i++)
        if (m->ok[i] &&
            !sample_measured(op, m->list[i].id, m->measures[i].sharpness, m->measures[i].phash, err))
            return false;
    return true;
}

static bool measure_one(struct measuring *m, size_t i, struct err *err)
{
    if (m->list[i].measured)
        return true;
    auto_fd int fd = blob_open(m->task->core->store, &m->list[i].blob, NULL, err);
    if (fd < 0)
        return false;
    m->ok[i] = media_measure(m->task->core->media, fd, &m->measures[i], err);
    if (m->ok[i] || err->code != ERR_INVALID)
        return m->ok[i];
    err_because(err, err->code, NULL, err, MESSAGE_NOT_MEASURED);
    task_note_err(m->task, m->list[i].name, NULL, err);
    *err = (struct err){0};
    return true;
}

static bool measure_batch(struct task *t, int64_t *after, size_t *ret_n, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct measuring m = {.task = t};
    struct sample_query q = {.state = -1, .after = *after, .limit = BATCH};
    if (!sample_list(t->core->db, &a, t->subject, &q, &m.list, &m.n, err))
        return false;
    *ret_n = m.n;
    if (m.n == 0)
        return true;
    m.measures = arena_array(&a, struct media_measures, m.n);
    m.ok = arena_array(&a, bool, m.n);
    for (size_t i = 0; i < m.n; i++)
        if (!measure_one(&m, i, err))
            return false;
    *after = m.list[m.n - 1].position;
    return engine_write(t->core, &t->caller, &a, measured_write, &m, err);
}

static bool run_measure(struct task *t, struct err *err)
{
    struct sample_counts counts;
    int64_t after = 0, done = 0;
    size_t n = 1;
    if (!sample_counts(t->core->db, t->subject, &counts, err))
        return false;
    while (n > 0) {
        if (!measure_batch(t, &after, &n, err))
            return false;
        done += (int64_t)n;
        if (!task_progress(t, done < counts.samples ? done : counts.samples, counts.samples, err))
            return false;
    }
    return true;
}

const struct task_type task_measure = {
    .name = "measure", .title = {"Measure sharpness and likeness", "计算清晰度与相似度"}, .run = run_measure};

bool measure_run(struct op *op, struct object *version, const struct db_value *input, struct json_out *out,
                 int *status, struct err *err)
{
    (void)input;
    (void)status;
    struct sample_set set;
    if (!sample_set_of(op, version, &set, err))
        return false;
    if (annotation_types[set.type].data != ANNOTATION_IMAGE)
        return err_set(err, ERR_CONFLICT, NULL, "only datasets of images can be measured");
    return version_start_task(op, version, "measure", task_name(op->arena, MESSAGE_NAME_MEASURE), STR("{}"),
                              out, err);
}

/* --- the histogram, for choosing a threshold --- */

#define BINS 50

struct histogram {
    int64_t bins[BINS], measured;
};

/* 0..5000 by square roots: most pictures lie low. */
static bool count_sharpness(void *ctx, const struct sample *s, struct err *err)
{
    (void)err;
    struct histogram *h = ctx;
    if (!s->measured)
        return true;
    double x = sqrt((s->sharpness < 5000 ? s->sharpness : 4999.999) / 5000) * BINS;
    h->bins[(int)x < BINS ? (int)x : BINS - 1]++;
    h->measured++;
    return true;
}

bool sharpness_run(struct op *op, struct object *version, const struct db_value *input, struct json_out *out,
                   int *status, struct err *err)
{
    (void)input;
    (void)status;
    struct histogram h = {0};
    if (!sample_each(op->core->db, version->id, &(struct sample_query){.state = -1}, count_sharpness, &h,
                     err))
        return false;
    json_object(out);
    json_kint(out, "measured", h.measured);
    json_key(out, "bins");
    json_array(out);
    for (int i = 0; i < BINS; i++) {
        json_object(out);
        json_key(out, "from");
        json_real(out, 5000.0 * i * i / (BINS * BINS));
        json_key(out, "to");
        json_real(out, 5000.0 * (i + 1) * (i + 1) / (BINS * BINS));
        json_kint(out, "samples", h.bins[i]);
        json_object_end(out);
    }
    json_array_end(out);
    json_object_end(out);
    return true;
}

/* --- near-duplicates --- */

const struct field duplicates_fields[] = {
    {.name = "distance",
     .type = FIELD_INT,
     .flags = FIELD_CREATE,
     .max = 16,
     .fallback = "4",
     .title = {"Largest distance", "最大距离"},
     .help = {"Bits in which two hashes may differ, 0 to 16.", "两个哈希允许不同的位数，0 到 16。"}},
    {0},
};

struct hashed {
    int64_t id;
    uint64_t hash;
    struct str name;
    size_t group; /* index of the first one like it, itself when it is the first */
};

struct hashes {
    struct arena *arena;
    struct hashed *item;
    size_t n, cap;
};

#define DUPLICATES_MAX 200000

static bool take_hash(void *ctx, const struct sample *s, struct err *err)
{
    struct hashes *h = ctx;
    if (!s->measured)
        return true;
    if (h->n == DUPLICATES_MAX)
        return err_set(err, ERR_TOO_LARGE, NULL, "over %d samples cannot be compared at once",
                       DUPLICATES_MAX);
    if (h->n == h->cap) {
        size_t cap = h->cap ? h->cap * 2 : 1024;
        h->item = arena_grow(h->arena, h->item, h->cap * sizeof *h->item, cap * sizeof *h->item);
        h->cap = cap;
    }
    h->item[h->n] = (struct hashed){s->id, s->phash, arena_str(h->arena, s->name), h->n};
    h->n++;
    return true;
}

static size_t root(struct hashes *h, size_t i)
{
    while (h->item[i].group != i)
        i = h->item[i].group = h->item[h->item[i].group].group;
    return i;
}

/* Hashes that differ in at most d bits agree in at least one of d+1 equal parts: only those of one bucket are
 * compared. */
struct part {
    uint64_t bits;
    size_t index;
};

static int by_bits(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->bits != y->bits)
        return x->bits < y->bits ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void join_bucket(struct hashes *h, const struct part *p, size_t n, int distance)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n && k < i + 2000; k++) {
            size_t a = root(h, p[i].index), b = root(h, p[k].index);
            if (a != b &&
                __builtin_popcountll(h->item[p[i].index].hash ^ h->item[p[k].index].hash) <= distance)
                h->item[a > b ? a : b].group = a > b ? b : a;
        }
}

static void group_all(struct hashes *h, int distance)
{
    struct part *parts = arena_array(h->arena, struct part, h->n + 1);
    int count = distance + 1;
    for (int p = 0; p < count; p++) {
        int from = 64 * p / count, to = 64 * (p + 1) / count;
        uint64_t mask = to - from == 64 ? ~UINT64_C(0) : ((UINT64_C(1) << (to - from)) - 1) << from;
        for (size_t i = 0; i < h->n; i++)
            parts[i] = (struct part){h->item[i].hash & mask, i};
        qsort(parts, h->n, sizeof *parts, by_bits);
        for (size_t i = 0, k; i < h->n; i = k) {
            for (k = i; k < h->n && parts[k].bits == parts[i].bits;)
                k++;
            join_bucket(h, parts + i, k - i, distance);
        }
    }
}

static int by_group(const void *a, const void *b)
{
    const struct hashed *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static void write_groups(struct hashes *h, struct json_out *out)
{
    size_t groups = 0;
    for (size_t i = 0; i < h->n; i++)
        h->item[i].group = root(h, i);
    if (h->n)
        qsort(h->item, h->n, sizeof *h->item, by_group);
    json_object(out);
    json_kint(out, "measured", (int64_t)h->n);
    json_key(out, "groups");
    json_array(out);
    for (size_t i = 0, k; i < h->n && groups < MAX_GROUPS; i = k) {
        for (k = i; k < h->n && h->item[k].group == h->item[i].group;)
            k++;
        if (k - i < 2)
            continue;
        groups++;
        json_array(out);
        for (size_t j = i; j < k; j++) {
            json_object(out);
            json_kint(out, "id", h->item[j].id);
            json_kstr(out, "name", h->item[j].name);
            json_object_end(out);
        }
        json_array_end(out);
    }
    json_array_end(out);
    json_object_end(out);
}

bool duplicates_run(struct op *op, struct object *version, const struct db_value *input, struct json_out *out,
                    int *status, struct err *err)
{
    (void)status;
    struct hashes h = {.arena = op->arena};
    if (input[0].i < 0 || input[0].i > 16)
        return err_set(err, ERR_INVALID, "distance", "distance: must be from 0 to 16");
    if (!sample_each(op->core->db, version->id, &(struct sample_query){.state = -1}, take_hash, &h, err))
        return false;
    group_all(&h, (int)input[0].i);
    write_groups(&h, out);
    return true;
}
