/* Feeds: points that wait in memory to be written together. */
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "core/controllers.h"
#include "core/series/series_own.h"

#include <math.h>
#include <stdio.h>

#define ROWS_MAX   7200 /* of a feed, while the database cannot be reached; then the oldest go */
#define ROWS_DROP  600  /* at once */
#define WRITE_MOST 512  /* rows of one write */

/* Moments in which all names have a value, oldest first. */
struct series_feed {
    struct core *core;
    char *kind, *part;
    int64_t owner;
    char *names[SERIES_FEED_MAX];
    size_t n_names;
    unsigned users;
    int64_t *at;
    double *values; /* n_names of each moment */
    size_t n, room;
    uint64_t gone; /* moments that are not here any more */
};

static const char *key_of(struct arena *a, const char *kind, int64_t owner, const char *part)
{
    return arena_printf(a, "%s/%lld/%s", kind, (long long)owner, part);
}

/* --- opening, adding --- */

static struct series_feed *feed_new(struct core *core, const char *kind, int64_t owner, const char *part,
                                    const char *const *names, size_t n)
{
    struct series_feed *f = base_zalloc(sizeof *f);
    f->core = core;
    f->kind = base_strdup(kind);
    f->part = base_strdup(part);
    f->owner = owner;
    f->n_names = n < SERIES_FEED_MAX ? n : SERIES_FEED_MAX;
    for (size_t i = 0; i < f->n_names; i++)
        f->names[i] = base_strdup(names[i]);
    return f;
}

static void feed_free(struct series_feed *f)
{
    for (size_t i = 0; i < f->n_names; i++)
        free(f->names[i]);
    free(f->kind);
    free(f->part);
    free(f->at);
    free(f->values);
    free(f);
}

struct series_feed *series_feed_open(struct core *core, const char *kind, int64_t owner, const char *part,
                                     const char *const *names, size_t n)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct series_engine *e = core->series;
    struct str key = str_of(key_of(&a, kind, owner, part));
    pthread_mutex_lock(&e->lock);
    struct series_feed *f = map_get(e->feeds, key);
    if (!f) {
        f = feed_new(core, kind, owner, part, names, n);
        map_set(e->feeds, key, f);
    }
    f->users++;
    pthread_mutex_unlock(&e->lock);
    return f;
}

/* Under the lock. */
static void drop(struct series_feed *f, size_t n)
{
    memmove(f->at, f->at + n, (f->n - n) * sizeof *f->at);
    memmove(f->values, f->values + n * f->n_names, (f->n - n) * f->n_names * sizeof *f->values);
    f->n -= n;
    f->gone += n;
}

static void make_room(struct series_feed *f)
{
    if (f->n == ROWS_MAX)
        drop(f, ROWS_DROP);
    if (f->n < f->room)
        return;
    f->room = f->room ? f->room * 2 : 32;
    f->at = base_realloc(f->at, f->room * sizeof *f->at);
    f->values = base_realloc(f->values, f->room * f->n_names * sizeof *f->values);
}

void series_feed_add(struct series_feed *f, int64_t at, const double *values)
{
    struct series_engine *e = f->core->series;
    pthread_mutex_lock(&e->lock);
    make_room(f);
    f->at[f->n] = at;
    memcpy(f->values + f->n * f->n_names, values, f->n_names * sizeof *values);
    f->n++;
    pthread_mutex_unlock(&e->lock);
}

void series_feed_close(struct series_feed *f)
{
    if (!f)
        return;
    pthread_mutex_lock(&f->core->series->lock);
    f->users--;
    pthread_mutex_unlock(&f->core->series->lock);
}

/* --- writing --- */

/* What one feed had when the flush began. */
struct taken {
    struct series_feed *feed; /* stays: only a flush frees feeds */
    int64_t *at;
    double *values;
    size_t n;
    uint64_t first; /* moment */
};

static size_t take_all(struct series_engine *e, struct arena *a, struct taken **ret)
{
    struct str key;
    void *value;
    size_t n = 0;
    pthread_mutex_lock(&e->lock);
    struct taken *list = arena_array(a, struct taken, map_count(e->feeds) + 1);
    for (size_t i = 0; map_next(e->feeds, &i, &key, &value);) {
        struct series_feed *f = value;
        if (!f->n)
            continue;
        list[n++] =
            (struct taken){f, arena_copy(a, f->at, f->n * sizeof *f->at),
                           arena_copy(a, f->values, f->n * f->n_names * sizeof *f->values), f->n, f->gone};
    }
    pthread_mutex_unlock(&e->lock);
    *ret = list;
    return n;
}

static size_t points_of(const struct taken *t, size_t name, struct series_point *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        if (!isnan(t->values[i * t->feed->n_names + name]))
            ret[n++] = (struct series_point){t->at[i], NAN, t->values[i * t->feed->n_names + name]};
    return n;
}

static size_t batches_of(const struct taken *t, struct arena *a, struct series_batch *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < t->feed->n_names; i++) {
        struct series_point *p = arena_array(a, struct series_point, t->n);
        size_t points = points_of(t, i, p);
        if (!points)
            continue;
        ret[n] = (struct series_batch){.kind = t->feed->kind,
                                       .owner = t->feed->owner,
                                       .part = str_of(t->feed->part),
                                       .name = str_of(t->feed->names[i]),
                                       .keep = SERIES_LIVE,
                                       .point = p,
                                       .n = points};
        n++;
    }
    return n;
}

static void drop_written(struct series_engine *e, const struct taken *t, size_t n)
{
    pthread_mutex_lock(&e->lock);
    for (size_t i = 0; i < n; i++) {
        struct series_feed *f = t[i].feed;
        uint64_t until = t[i].first + t[i].n; /* some may have gone for want of room */
        if (until > f->gone)
            drop(f, (size_t)(until - f->gone));
    }
    pthread_mutex_unlock(&e->lock);
}

/* Several feeds in one write: some 2 ms of the writing thread. */
static bool write_taken(struct core *core, const struct taken *t, size_t n, struct err *err)
{
    struct series_batch *batch = base_alloc((WRITE_MOST + SERIES_FEED_MAX) * sizeof *batch);
    bool ok = true;
    for (size_t from = 0, i = 0; ok && from < n; from = i) {
        auto_arena struct arena a;
        arena_init(&a);
        size_t rows = 0;
        for (; i < n && rows < WRITE_MOST; i++)
            rows += batches_of(&t[i], &a, batch + rows);
        ok = !rows || series_append(core, batch, rows, err);
        if (ok)
            drop_written(core->series, t + from, i - from);
    }
    free(batch);
    return ok;
}

/* Those that nobody adds to any more, when they are written. */
static void free_closed(struct series_engine *e, bool all)
{
    auto_arena struct arena a;
    struct str key;
    void *value;
    size_t n = 0;
    arena_init(&a);
    pthread_mutex_lock(&e->lock);
    struct str *old = arena_array(&a, struct str, map_count(e->feeds) + 1);
    for (size_t i = 0; map_next(e->feeds, &i, &key, &value);) {
        const struct series_feed *f = value;
        if (all || (f->users == 0 && f->n == 0))
            old[n++] = arena_str(&a, key);
    }
    for (size_t i = 0; i < n; i++)
        feed_free(map_remove(e->feeds, old[i]));
    pthread_mutex_unlock(&e->lock);
}

bool series_flush(struct core *core, struct err *err)
{
    struct series_engine *e = core->series;
    auto_arena struct arena a;
    struct taken *t;
    arena_init(&a);
    pthread_mutex_lock(&e->flushing);
    size_t n = take_all(e, &a, &t);
    bool ok = write_taken(core, t, n, err);
    free_closed(e, false);
    e->written = clock_mono();
    pthread_mutex_unlock(&e->flushing);
    return ok;
}

/* --- reading --- */

static bool wanted(const struct series_feed *f, const struct series_query *q)
{
    return f->owner == q->owner && strcmp(f->kind, q->kind) == 0 && (!q->part.p || str_is(q->part, f->part));
}

/* Under the lock: the points of one name in the range. */
static struct series_points copy_name(const struct series_feed *f, size_t name, const struct series_query *q,
                                      struct arena *a)
{
    struct series_points s = {.part = arena_str(a, str_of(f->part)),
                              .name = arena_str(a, str_of(f->names[name])),
                              .point = arena_array(a, struct series_point, f->n + 1)};
    for (size_t i = 0; i < f->n; i++) {
        double v = f->values[i * f->n_names + name];
        bool in = (!q->from && !q->to) || (f->at[i] >= q->from && f->at[i] <= q->to);
        if (in && !isnan(v))
            s.point[s.n++] = (struct series_point){f->at[i], NAN, v};
    }
    return s;
}

static size_t copy_feed(const struct series_feed *f, const struct series_query *q, struct arena *a,
                        struct series_points *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n_names; i++) {
        if (q->name.p && !str_is(q->name, f->names[i]))
            continue;
        ret[n] = copy_name(f, i, q, a);
        n += ret[n].n > 0;
    }
    return n;
}

void feeds_read(struct core *core, const struct series_query *q, struct arena *a, struct series_points **ret,
                size_t *ret_n)
{
    struct series_engine *e = core->series;
    struct str key;
    void *value;
    size_t all = 0, n = 0;
    struct series_points *list = NULL;
    pthread_mutex_lock(&e->lock);
    struct series_feed *one =
        q->part.p ? map_get(e->feeds, str_of(key_of(a, q->kind, q->owner, arena_strz(a, q->part)))) : NULL;
    if (one) {
        list = arena_array(a, struct series_points, one->n_names + 1);
        n = copy_feed(one, q, a, list);
    }
    for (size_t i = 0; !q->part.p && map_next(e->feeds, &i, &key, &value);)
        all += wanted(value, q) ? ((struct series_feed *)value)->n_names : 0;
    if (all)
        list = arena_array(a, struct series_points, all + 1);
    for (size_t i = 0; all && map_next(e->feeds, &i, &key, &value);)
        n += wanted(value, q) ? copy_feed(value, q, a, list + n) : 0;
    pthread_mutex_unlock(&e->lock);
    *ret = list;
    *ret_n = n;
}

int64_t feeds_waiting(const struct series_engine *e)
{
    struct str key;
    void *value;
    int64_t n = 0;
    for (size_t i = 0; map_next(e->feeds, &i, &key, &value);) {
        const struct series_feed *f = value;
        n += (int64_t)(f->n * f->n_names);
    }
    return n;
}

/* --- the controller --- */

static bool start(struct core *core, const struct core_options *o, struct err *err)
{
    (void)o, (void)err;
    struct series_engine *e = base_zalloc(sizeof *e);
    pthread_mutex_init(&e->lock, NULL);
    pthread_mutex_init(&e->flushing, NULL);
    e->core = core;
    e->feeds = map_new();
    e->written = clock_mono();
    core->series = e;
    return true;
}

static bool write_feeds(struct core *core, struct err *err)
{
    uint64_t every = (uint64_t)core->series_limits.write_s * UINT64_C(1000000000);
    return clock_mono() - core->series->written < every || series_flush(core, err);
}

/* After the last request and the last job: whoever had a feed has closed it. */
static void free_engine(struct core *core)
{
    struct series_engine *e = core->series;
    struct err err = {0};
    if (!series_flush(core, &err))
        log_warn("the newest points of curves are lost: %s", err.message);
    free_closed(e, true);
    map_free(e->feeds);
    pthread_mutex_destroy(&e->lock);
    pthread_mutex_destroy(&e->flushing);
    free(e);
    core->series = NULL;
}

const struct controller controller_write_series = {
    .name = "write-series",
    .title = {"Writes what was measured", "写入测量数据"},
    .thread = "series",
    .first_s = 5,
    .every_s = 5,
    .start = start,
    .tick = write_feeds,
    .free = free_engine,
};
