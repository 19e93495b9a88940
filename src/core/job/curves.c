#include "core/job/curves.h"

#include "base/clock.h"
#include "base/map.h"
#include "core/controllers.h"
#include "core/job/job.h"
#include "core/job/placed.h"
#include "core/series/series.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

#define MINUTE INT64_C(60000000)
#define KINDS  16 /* of accelerators in one project at a time */
#define RECENT 16 /* seconds of CPU that are remembered */

const char *const curve_names[CURVE_COUNT] = {
    [CURVE_CPU] = "cpu",
    [CURVE_MEMORY] = "memory",
    [CURVE_RX] = "net_rx",
    [CURVE_TX] = "net_tx",
    [CURVE_DISK] = "disk",
    [CURVE_CARDS] = "accelerator",
    [CURVE_CARD_MEMORY] = "accelerator_memory",
};
const char *const curve_project_names[2] = {"cpu", "memory"};

struct cards {
    char kind[52];
    double count;
};

struct container {
    struct exec_id id;
    int64_t project;
    struct cards cards;
    struct exec_stats last; /* at_us 0: none yet */
    struct series_feed *feed;
    double cpu[RECENT];
    size_t n, next;
    bool seen; /* it runs now */
};

struct project {
    int64_t id, minute; /* in which something ran last */
    struct series_feed *feed;
    double cpu, memory;
    struct {
        struct cards cards;
        struct series_feed *feed;
    } kind[KINDS];
    size_t n_kinds;
};

struct curves {
    struct core *core;
    pthread_mutex_t lock; /* containers */
    struct map *containers, *projects;
    struct node_curves *nodes;
};

const char *curves_part(struct exec_id id, char ret[CURVE_PART_MAX])
{
    snprintf(ret, CURVE_PART_MAX, "%d-%d", (int)id.attempt, (int)id.rank);
    return ret;
}

/* --- projects --- */

static struct project *project_of(struct curves *c, int64_t id)
{
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)id);
    struct project *p = map_get(c->projects, str_of(key));
    if (!p) {
        p = base_zalloc(sizeof *p);
        p->id = id;
        p->feed =
            series_feed_open(c->core, "project", id, "", curve_project_names, countof(curve_project_names));
        map_set(c->projects, str_of(key), p);
    }
    return p;
}

static void add_cards(struct curves *c, struct project *p, const struct cards *cards)
{
    static const char *const name = "count";
    char part[sizeof cards->kind + sizeof CURVE_CARD_PART];
    size_t i = 0;
    while (i < p->n_kinds && strcmp(p->kind[i].cards.kind, cards->kind) != 0)
        i++;
    if (i == KINDS || cards->count <= 0)
        return;
    if (i == p->n_kinds) {
        snprintf(part, sizeof part, CURVE_CARD_PART "%s", cards->kind);
        p->kind[i].cards = *cards;
        p->kind[i].cards.count = 0;
        p->kind[i].feed = series_feed_open(c->core, "project", p->id, part, &name, 1);
        p->n_kinds++;
    }
    p->kind[i].cards.count += cards->count;
}

static void project_free(struct project *p)
{
    for (size_t i = 0; i < p->n_kinds; i++)
        series_feed_close(p->kind[i].feed);
    series_feed_close(p->feed);
    free(p);
}

/* To the end of a minute in which something ran nothing is a zero, so that its mean is right. */
static void feed_project(struct project *p, int64_t now)
{
    series_feed_add(p->feed, now, (const double[]){p->cpu, p->memory});
    p->cpu = p->memory = 0;
    for (size_t i = 0; i < p->n_kinds; i++) {
        series_feed_add(p->kind[i].feed, now, &p->kind[i].cards.count);
        p->kind[i].cards.count = 0;
    }
}

static void feed_projects(struct curves *c, int64_t now)
{
    auto_arena struct arena a;
    struct str key;
    void *value;
    size_t n = 0;
    arena_init(&a);
    struct str *over = arena_array(&a, struct str, map_count(c->projects) + 1);
    for (size_t i = 0; map_next(c->projects, &i, &key, &value);) {
        struct project *p = value;
        if (p->minute == series_bucket_at(now, MINUTE))
            feed_project(p, now);
        else
            over[n++] = arena_str(&a, key);
    }
    for (size_t i = 0; i < n; i++)
        project_free(map_remove(c->projects, over[i]));
}

/* --- a second of a container --- */

static double per_second(int64_t now, int64_t before, int64_t us)
{
    return now > before && us > 0 ? floor((double)(now - before) * 1e6 / (double)us) : 0;
}

static double known(int64_t v, double unit)
{
    return v < 0 ? NAN : (double)v / unit;
}

/* Under the lock. */
static void take(struct curves *c, struct container *s, const struct exec_stats *now)
{
    const struct exec_stats last = s->last;
    int64_t us = now->at_us - last.at_us;
    s->last = *now;
    if (last.at_us == 0)
        return;
    /* No more digits than mean something. */
    double cpu = floor(per_second(now->cpu_ns, last.cpu_ns, us) / 1e6) / 1e3;
    const double values[CURVE_COUNT] = {
        [CURVE_CPU] = cpu,
        [CURVE_MEMORY] = (double)now->memory,
        [CURVE_RX] = per_second(now->net_rx, last.net_rx, us),
        [CURVE_TX] = per_second(now->net_tx, last.net_tx, us),
        [CURVE_DISK] = known(now->disk, 1),
        [CURVE_CARDS] = known(now->cards_busy, 1000),
        [CURVE_CARD_MEMORY] = known(now->cards_memory, 1),
    };
    series_feed_add(s->feed, now->at_us, values);
    s->cpu[s->next] = per_second(now->cpu_ns, last.cpu_ns, us) / 1e3;
    s->next = (s->next + 1) % RECENT;
    s->n += s->n < RECENT;
    struct project *p = project_of(c, s->project);
    p->minute = series_bucket_at(clock_now(), MINUTE);
    p->cpu += cpu;
    p->memory += (double)now->memory;
    add_cards(c, p, &s->cards);
}

/* --- the containers that run --- */

static struct container *container_new(struct curves *c, struct exec_id id)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct err err = {0};
    struct db_row row;
    char part[CURVE_PART_MAX];
    bool found = false;
    if (!db_query_one(c->core->db, &a, "SELECT project, placement FROM jobs WHERE id = ?",
                      db_args(db_int(id.job)), &row, &found, &err) ||
        !found)
        return NULL;
    struct container *s = base_zalloc(sizeof *s);
    s->id = id;
    s->project = row.v[0].i;
    struct placed p = placed_rank(&a, row.v[1].type == DB_TEXT ? row.v[1].s : STR_NULL, id.rank);
    if (p.kind.n && p.kind.n < sizeof s->cards.kind) {
        memcpy(s->cards.kind, p.kind.p, p.kind.n);
        s->cards.count = p.cards;
    }
    s->feed = series_feed_open(c->core, "job", id.job, curves_part(id, part), curve_names, CURVE_COUNT);
    return s;
}

static struct container *container_of_id(struct curves *c, struct exec_id id)
{
    char key[EXEC_ID_MAX];
    exec_id_format(id, key);
    struct container *s = map_get(c->containers, str_of(key));
    if (s || !(s = container_new(c, id)))
        return s;
    pthread_mutex_lock(&c->lock);
    map_set(c->containers, str_of(key), s);
    pthread_mutex_unlock(&c->lock);
    return s;
}

static void container_free(struct container *s)
{
    series_feed_close(s->feed);
    free(s);
}

/* Those that do not run any more. */
static void drop_ended(struct curves *c, bool all)
{
    auto_arena struct arena a;
    struct str key;
    void *value;
    size_t n = 0;
    arena_init(&a);
    struct str *old = arena_array(&a, struct str, map_count(c->containers) + 1);
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; map_next(c->containers, &i, &key, &value);) {
        struct container *s = value;
        if (all || !s->seen)
            old[n++] = arena_str(&a, key);
        s->seen = false;
    }
    for (size_t i = 0; i < n; i++)
        container_free(map_remove(c->containers, old[i]));
    pthread_mutex_unlock(&c->lock);
}

static void look_at(struct curves *c, struct exec *x, const struct exec_status *status)
{
    struct exec_stats stats;
    struct err gone = {0}; /* it may just have ended */
    struct container *s = status->state == EXEC_RUNNING ? container_of_id(c, status->id) : NULL;
    if (!s)
        return;
    s->seen = true;
    if (!x->ops->stats(x, status->id, &stats, &gone))
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
    if (!x->ops->list(x, &a, &list, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        look_at(c, x, &list[i]);
    drop_ended(c, false);
    feed_projects(c, clock_now());
    return node_curves_tick(c->nodes, x, err);
}

int64_t curves_cpu(struct core *core, struct exec_id id, size_t seconds)
{
    struct curves *c = jobs_curves(core->jobs);
    char key[EXEC_ID_MAX];
    double sum = 0;
    pthread_mutex_lock(&c->lock);
    const struct container *s = map_get(c->containers, str_of(exec_id_format(id, key)));
    size_t n = !s ? 0 : s->n < seconds ? s->n : seconds;
    for (size_t i = 1; i <= n; i++)
        sum += s->cpu[(s->next + RECENT - i) % RECENT];
    pthread_mutex_unlock(&c->lock);
    return n ? (int64_t)(sum / (double)n) : 0;
}

static int by_job(const void *a, const void *b)
{
    const struct exec_id *x = &((const struct curves_use *)a)->id, *y = &((const struct curves_use *)b)->id;
    return x->job != y->job ? (x->job > y->job) - (x->job < y->job)
                            : (x->rank > y->rank) - (x->rank < y->rank);
}

size_t curves_now(struct core *core, struct arena *a, struct curves_use **ret)
{
    struct curves *c = jobs_curves(core->jobs);
    struct str key;
    void *value;
    size_t n = 0;
    pthread_mutex_lock(&c->lock);
    struct curves_use *list = *ret = arena_array(a, struct curves_use, map_count(c->containers) + 1);
    for (size_t i = 0; map_next(c->containers, &i, &key, &value);) {
        const struct container *s = value;
        if (s->n)
            list[n++] = (struct curves_use){.id = s->id,
                                            .cpus = s->cpu[(s->next + RECENT - 1) % RECENT] / 1e6,
                                            .memory = s->last.memory,
                                            .disk = s->last.disk,
                                            .disk_limit = s->last.disk_limit,
                                            .cards_busy = s->last.cards_busy};
    }
    pthread_mutex_unlock(&c->lock);
    if (n)
        qsort(list, n, sizeof *list, by_job);
    return n;
}

bool curves_node(struct core *core, int64_t node, struct node_load *ret)
{
    return node_load(jobs_curves(core->jobs)->nodes, node, ret);
}

/* --- the controller --- */

static bool look(struct core *core, struct err *err)
{
    struct exec *x = jobs_exec(core->jobs);
    return !x || tick(jobs_curves(core->jobs), x, err);
}

const struct controller controller_curves = {
    .name = "curves",
    .title = {"Looks at what containers and nodes use", "记录容器和节点的资源用量"},
    .thread = "curves",
    .first_s = 1,
    .every_s = 1,
    .tick = look,
};

struct curves *curves_new(struct core *core)
{
    struct curves *c = base_zalloc(sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    c->core = core;
    c->containers = map_new();
    c->projects = map_new();
    c->nodes = node_curves_new(core);
    return c;
}

void curves_free(struct curves *c)
{
    struct str key;
    void *value;
    if (!c)
        return;
    drop_ended(c, true);
    node_curves_free(c->nodes);
    for (size_t i = 0; map_next(c->projects, &i, &key, &value);)
        project_free(value);
    map_free(c->containers);
    map_free(c->projects);
    pthread_mutex_destroy(&c->lock);
    free(c);
}
