#include "core/job/curves.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/map.h"
#include "core/controllers.h"
#include "core/job/curves_file.h"
#include "core/job/job.h"
#include "core/job/placed.h"

#include <pthread.h>
#include <stdio.h>

#define MINUTE INT64_C(60000000)
#define KINDS  16 /* of accelerators in one project at a time */

/* One container. */
struct series {
    struct exec_id id;
    int64_t project;
    struct curves_cards cards;
    struct exec_stats last; /* at_us 0: none yet */
    struct curve_point ring[CURVES_SECONDS];
    size_t n, next;
    struct curve_point sum; /* of the minute that is not over; `at` is its begin */
    int64_t counted;
};

/* One project's minute. */
struct total {
    int64_t project;
    struct curve_point sum;
    struct curves_cards cards[KINDS];
    size_t n_cards;
};

struct curves {
    struct core *core;
    struct jobs *jobs;
    pthread_mutex_t lock; /* series */
    struct map *series, *totals;
    int64_t minute, ticks; /* of the totals */
};

/* --- a second --- */

static void add_point(struct curve_point *sum, const struct curve_point *p)
{
    sum->cpu += p->cpu;
    sum->memory += p->memory;
    sum->rx += p->rx;
    sum->tx += p->tx;
    sum->disk = p->disk;
    sum->cards_busy = p->cards_busy < 0 ? -1 : sum->cards_busy + p->cards_busy;
    sum->cards_memory = p->cards_memory;
}

static struct curve_point mean(const struct curve_point *sum, int64_t n)
{
    return (struct curve_point){.at = sum->at,
                                .cpu = sum->cpu / n,
                                .memory = sum->memory / n,
                                .rx = sum->rx / n,
                                .tx = sum->tx / n,
                                .disk = sum->disk,
                                .cards_busy = sum->cards_busy < 0 ? -1 : sum->cards_busy / n,
                                .cards_memory = sum->cards_memory};
}

/* Under the lock, as readers see the minute that is not over. */
static void flush_series(struct curves *c, struct series *s)
{
    struct err err = {0};
    struct curve_point p = s->counted ? mean(&s->sum, s->counted) : s->sum;
    if (s->counted && !curves_file_add(c->core, s->id, &p, &err))
        log_warn("curves: %s", err.message);
    s->counted = 0;
}

static struct total *total_of(struct curves *c, int64_t project)
{
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)project);
    struct total *t = map_get(c->totals, str_of(key));
    if (!t) {
        t = base_zalloc(sizeof *t);
        t->project = project;
        map_set(c->totals, str_of(key), t);
    }
    return t;
}

static void add_cards(struct total *t, const struct curves_cards *cards)
{
    size_t i = 0;
    while (i < t->n_cards && strcmp(t->cards[i].kind, cards->kind) != 0)
        i++;
    if (i == KINDS || cards->count <= 0)
        return;
    if (i == t->n_cards)
        t->cards[t->n_cards++] = (struct curves_cards){0};
    memcpy(t->cards[i].kind, cards->kind, sizeof cards->kind);
    t->cards[i].count += cards->count;
}

static int64_t per_second(int64_t now, int64_t before, int64_t us)
{
    return now > before && us > 0 ? (int64_t)((double)(now - before) * 1e6 / (double)us) : 0;
}

static struct curve_point point_of(const struct exec_stats *last, const struct exec_stats *now)
{
    int64_t us = now->at_us - last->at_us;
    return (struct curve_point){.at = now->at_us,
                                .cpu = per_second(now->cpu_ns, last->cpu_ns, us) / 1000,
                                .memory = now->memory,
                                .rx = per_second(now->net_rx, last->net_rx, us),
                                .tx = per_second(now->net_tx, last->net_tx, us),
                                .disk = now->disk,
                                .cards_busy = now->cards_busy,
                                .cards_memory = now->cards_memory};
}

/* Under the lock. */
static void take(struct curves *c, struct series *s, const struct exec_stats *now)
{
    struct curve_point p = point_of(&s->last, now);
    bool first = s->last.at_us == 0;
    s->last = *now;
    if (first)
        return;
    int64_t minute = p.at - p.at % MINUTE;
    if (s->counted && minute != s->sum.at)
        flush_series(c, s);
    if (!s->counted)
        s->sum = (struct curve_point){.at = minute};
    add_point(&s->sum, &p);
    s->counted++;
    s->ring[s->next] = p;
    s->next = (s->next + 1) % CURVES_SECONDS;
    s->n += s->n < CURVES_SECONDS;
    struct total *t = total_of(c, s->project);
    add_point(&t->sum, &p);
    add_cards(t, &s->cards);
}

/* --- the containers that run --- */

static struct series *series_new(struct curves *c, struct exec_id id)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct err err = {0};
    struct db_row row;
    bool found = false;
    if (!db_query_one(c->core->db, &a, "SELECT project, placement FROM jobs WHERE id = ?",
                      db_args(db_int(id.job)), &row, &found, &err) ||
        !found)
        return NULL;
    struct series *s = base_zalloc(sizeof *s);
    s->id = id;
    s->project = row.v[0].i;
    struct placed p = placed_rank(&a, row.v[1].type == DB_TEXT ? row.v[1].s : STR_NULL, id.rank);
    if (p.kind.n && p.kind.n < sizeof s->cards.kind) {
        memcpy(s->cards.kind, p.kind.p, p.kind.n);
        s->cards.count = p.cards;
    }
    return s;
}

static struct series *series_of(struct curves *c, struct exec_id id)
{
    char key[EXEC_ID_MAX];
    exec_id_format(id, key);
    struct series *s = map_get(c->series, str_of(key));
    if (s || !(s = series_new(c, id)))
        return s;
    pthread_mutex_lock(&c->lock);
    map_set(c->series, str_of(key), s);
    pthread_mutex_unlock(&c->lock);
    return s;
}

/* Ended ones stay readable for ten minutes. */
static void drop_old(struct curves *c, int64_t now, bool all)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct str key;
    void *value;
    size_t n = 0;
    const char **old = arena_array(&a, const char *, map_count(c->series) + 1);
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; map_next(c->series, &i, &key, &value);) {
        struct series *s = value;
        if (all || now - s->last.at_us > CURVES_SECONDS * INT64_C(1000000))
            old[n++] = arena_strz(&a, key);
    }
    for (size_t i = 0; i < n; i++) {
        struct series *s = map_remove(c->series, str_of(old[i]));
        flush_series(c, s);
        free(s);
    }
    pthread_mutex_unlock(&c->lock);
}

static void flush_totals(struct curves *c)
{
    struct str key;
    void *value;
    for (size_t i = 0; map_next(c->totals, &i, &key, &value);) {
        struct total *t = value;
        struct err err = {0};
        t->sum.at = c->minute;
        struct curve_point p = mean(&t->sum, c->ticks ? c->ticks : 1);
        for (size_t k = 0; k < t->n_cards; k++)
            t->cards[k].count /= (double)(c->ticks ? c->ticks : 1);
        if (!curves_file_add_project(c->core, t->project, &p, t->cards, t->n_cards, &err))
            log_warn("curves: %s", err.message);
        free(t);
    }
    map_free(c->totals);
    c->totals = map_new();
    c->ticks = 0;
}

static void look_at(struct curves *c, struct exec *x, const struct exec_status *status)
{
    struct exec_stats stats;
    struct err gone = {0}; /* it may just have ended */
    char key[EXEC_ID_MAX];
    if (status->state == EXEC_EXITED) {
        pthread_mutex_lock(&c->lock);
        struct series *s = map_get(c->series, str_of(exec_id_format(status->id, key)));
        if (s)
            flush_series(c, s);
        pthread_mutex_unlock(&c->lock);
        return;
    }
    struct series *s = status->state == EXEC_RUNNING ? series_of(c, status->id) : NULL;
    if (!s || !x->ops->stats(x, status->id, &stats, &gone))
        return;
    pthread_mutex_lock(&c->lock);
    take(c, s, &stats);
    pthread_mutex_unlock(&c->lock);
}

static bool tick(struct curves *c, struct exec *x, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct exec_status *list;
    size_t n;
    int64_t now = clock_now(), minute = now - now % MINUTE;
    if (minute != c->minute) {
        flush_totals(c);
        drop_old(c, now, false);
        c->minute = minute;
    }
    if (!x->ops->list(x, &a, &list, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        look_at(c, x, &list[i]);
    c->ticks++;
    return true;
}

/* --- the controller --- */

static bool look(struct core *core, struct err *err)
{
    struct exec *x = jobs_exec(core->jobs);
    return !x || tick(jobs_curves(core->jobs), x, err);
}

const struct controller controller_curves = {
    .name = "curves",
    .title = {"Looks at what containers use", "记录容器的资源用量"},
    .thread = "curves",
    .first_s = 1,
    .every_s = 1,
    .tick = look,
};

struct curves *curves_new(struct core *core, struct jobs *jobs)
{
    struct err err = {0};
    struct curves *c = base_zalloc(sizeof *c);
    auto_arena struct arena a;
    arena_init(&a);
    if (!fs_mkdirs(arena_printf(&a, "%s/curves", core->data), 0700, &err))
        log_warn("curves: %s", err.message);
    pthread_mutex_init(&c->lock, NULL);
    c->core = core;
    c->jobs = jobs;
    c->series = map_new();
    c->totals = map_new();
    return c;
}

void curves_free(struct curves *c)
{
    if (!c)
        return;
    flush_totals(c);
    drop_old(c, clock_now(), true);
    map_free(c->series);
    map_free(c->totals);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* --- reading --- */

static void read_seconds(const struct series *s, struct arena *a, struct curve_point **ret, size_t *ret_n)
{
    *ret = arena_array(a, struct curve_point, s->n + 1);
    *ret_n = s->n;
    for (size_t i = 0; i < s->n; i++)
        (*ret)[i] = s->ring[(s->next + CURVES_SECONDS - s->n + i) % CURVES_SECONDS];
}

/* After those of the file, the one that is not over yet. */
static bool read_minutes(struct core *core, const struct series *s, struct exec_id id, struct arena *a,
                         struct curve_point **ret, size_t *ret_n, struct err *err)
{
    if (!curves_file_read(core, id, a, ret, ret_n, err))
        return false;
    if (s && s->counted)
        (*ret)[(*ret_n)++] = mean(&s->sum, s->counted);
    return true;
}

int64_t curves_cpu(struct core *core, struct exec_id id, size_t seconds)
{
    struct curves *c = jobs_curves(core->jobs);
    char key[EXEC_ID_MAX];
    int64_t sum = 0;
    pthread_mutex_lock(&c->lock);
    const struct series *s = map_get(c->series, str_of(exec_id_format(id, key)));
    size_t n = !s ? 0 : s->n < seconds ? s->n : seconds;
    for (size_t i = 1; i <= n; i++)
        sum += s->ring[(s->next + CURVES_SECONDS - i) % CURVES_SECONDS].cpu;
    pthread_mutex_unlock(&c->lock);
    return n ? sum / (int64_t)n : 0;
}

bool curves_read(struct core *core, struct exec_id id, bool minutes, struct arena *a,
                 struct curve_point **ret, size_t *ret_n, struct err *err)
{
    struct curves *c = jobs_curves(core->jobs);
    char key[EXEC_ID_MAX];
    bool ok = true;
    *ret_n = 0;
    *ret = NULL;
    pthread_mutex_lock(&c->lock);
    struct series *s = map_get(c->series, str_of(exec_id_format(id, key)));
    if (minutes)
        ok = read_minutes(core, s, id, a, ret, ret_n, err);
    else if (s)
        read_seconds(s, a, ret, ret_n);
    pthread_mutex_unlock(&c->lock);
    return ok;
}
