/* Curves of what nodes use. */
#include "base/clock.h"
#include "core/compute/node.h"
#include "core/fields.h"
#include "core/series/series.h"
#include "core/show.h"

#include <math.h>
#include <pthread.h>

#define SECOND    INT64_C(1000000)
#define MINUTE    (60 * SECOND)
#define AGAIN_S   30  /* seconds until the list of nodes is read again */
#define BY_ITSELF 600 /* seconds up to which points come by the second */

enum { CPU, MEMORY, DISK, NAMES };
static const char *const names[NAMES] = {"cpu", "memory", "disk"};

struct node {
    int64_t id;
    char *name;
    struct series_feed *feed;
    struct exec_stats last; /* at_us 0: none yet */
    struct node_load load;
    bool known; /* load is */
};

struct node_curves {
    struct core *core;
    pthread_mutex_t lock; /* node, for those who ask; only the ticks write */
    struct node *node;
    size_t n;
    unsigned ticks; /* since the list was read */
};

struct node_curves *node_curves_new(struct core *core)
{
    struct node_curves *c = base_zalloc(sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    c->core = core;
    return c;
}

static void drop(struct node_curves *c)
{
    for (size_t i = 0; i < c->n; i++) {
        series_feed_close(c->node[i].feed);
        free(c->node[i].name);
    }
    free(c->node);
    c->node = NULL;
    c->n = 0;
}

void node_curves_free(struct node_curves *c)
{
    if (!c)
        return;
    drop(c);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* --- each second --- */

static struct node *node_of(const struct node_curves *c, int64_t id)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->node[i].id == id)
            return &c->node[i];
    return NULL;
}

bool node_load(struct node_curves *c, int64_t node, struct node_load *ret)
{
    pthread_mutex_lock(&c->lock);
    const struct node *n = node_of(c, node);
    bool known = n && n->known;
    if (known)
        *ret = n->load;
    pthread_mutex_unlock(&c->lock);
    return known;
}

static bool read_list(struct node_curves *c, struct err *err)
{
    auto_arena struct arena a;
    struct db_rows rows;
    arena_init(&a);
    if (!db_query(c->core->db, &a, "SELECT id, name FROM nodes WHERE state <> 'lost' ORDER BY id", DB_NO_ARGS,
                  &rows, err))
        return false;
    struct node *list = base_zalloc((rows.n + 1) * sizeof *list);
    for (size_t i = 0; i < rows.n; i++) {
        int64_t id = rows.row[i].v[0].i;
        const struct node *old = node_of(c, id);
        list[i] = old ? *old : (struct node){.id = id};
        list[i].name = base_strdup(arena_strz(&a, rows.row[i].v[1].s));
        list[i].feed = series_feed_open(c->core, "node", id, "", names, NAMES);
    }
    pthread_mutex_lock(&c->lock);
    drop(c);
    c->node = list;
    c->n = rows.n;
    pthread_mutex_unlock(&c->lock);
    return true;
}

/* Under the lock. */
static void take(struct node *n, const struct exec_stats *now)
{
    const struct exec_stats last = n->last;
    n->last = *now;
    int64_t us = now->at_us - last.at_us;
    if (last.at_us == 0 || us <= 0)
        return;
    double cpu = now->cpu_ns > last.cpu_ns ? (double)(now->cpu_ns - last.cpu_ns) / 1e3 / (double)us : 0;
    n->load = (struct node_load){floor(cpu * 1e3) / 1e3, now->memory, now->disk, now->disk_free};
    n->known = true;
    series_feed_add(n->feed, now->at_us,
                    (const double[NAMES]){n->load.cpus, (double)now->memory, (double)now->disk});
}

bool node_curves_tick(struct node_curves *c, struct exec *x, struct err *err)
{
    struct exec_stats now;
    if (!x->ops->node_stats)
        return true;
    if (c->ticks++ % AGAIN_S == 0 || c->n == 0)
        if (!read_list(c, err))
            return false;
    for (size_t i = 0; i < c->n; i++) {
        struct err lost = {0}; /* the controller of jobs tells */
        bool seen = x->ops->node_stats(x, c->node[i].name, &now, &lost);
        pthread_mutex_lock(&c->lock);
        if (seen)
            take(&c->node[i], &now);
        else
            c->node[i].known = false;
        pthread_mutex_unlock(&c->lock);
    }
    return true;
}

/* --- as they are answered --- */

const struct field node_curves_fields[] = {
    FIELDS_OF_CURVES,
    {0},
};

static int64_t width_of(const struct core *core, int64_t span_s, int64_t points)
{
    bool seconds = span_s <= (points ? (int64_t)(core->series_limits.second_hours * 3600) : BY_ITSELF);
    int64_t unit = seconds ? SECOND : MINUTE;
    int64_t units = points ? (span_s * SECOND / unit + points - 1) / points : 1;
    return (units > 0 ? units : 1) * unit;
}

static void write_value(struct json_out *out, int name, double v)
{
    if (name == CPU)
        show_cpus(out, round(v * 1e3) / 1e3);
    else
        json_kint(out, names[name], (int64_t)v);
}

static void write_side(struct json_out *out, const struct series_bucket *const *b, enum series_side side)
{
    for (int i = 0; i < NAMES; i++)
        if (b[i])
            write_value(out, i, series_value(b[i], side));
}

static void write_item(struct json_out *out, const struct series_bucket *const *b)
{
    char at[CLOCK_TEXT_MAX];
    json_object(out);
    json_kz(out, "at", clock_format(b[CPU]->at, at));
    write_side(out, b, SERIES_MEAN);
    for (enum series_side side = SERIES_LOW; side <= SERIES_HIGH; side++) {
        json_key(out, series_side_names[side]);
        json_object(out);
        write_side(out, b, side);
        json_object_end(out);
    }
    json_object_end(out);
}

/* All three are fed together: what has no CPU is not there. */
static void write_items(struct json_out *out, const struct series_buckets *s, size_t n)
{
    const struct series_buckets *by[NAMES] = {0};
    size_t at[NAMES] = {0};
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < NAMES; k++)
            if (str_is(s[i].name, names[k]))
                by[k] = &s[i];
    json_array(out);
    for (size_t i = 0; by[CPU] && i < by[CPU]->n; i++) {
        const struct series_bucket *b[NAMES] = {&by[CPU]->bucket[i]};
        for (int k = MEMORY; k < NAMES; k++) {
            while (by[k] && at[k] < by[k]->n && by[k]->bucket[at[k]].at < b[CPU]->at)
                at[k]++;
            b[k] = by[k] && at[k] < by[k]->n && by[k]->bucket[at[k]].at == b[CPU]->at ? &by[k]->bucket[at[k]]
                                                                                      : NULL;
        }
        write_item(out, b);
    }
    json_array_end(out);
}

bool node_show_curves(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                      int *status, struct err *err)
{
    (void)status;
    int64_t width = width_of(op->core, input[0].i, input[1].i), newest;
    struct series_query q = {.kind = "node", .owner = o->id, .part = STR("")};
    struct series_buckets *s;
    size_t n;
    if (!series_newest(op->core, &q, op->arena, &newest, err))
        return false;
    q.from = newest - input[0].i * SECOND + 1;
    q.to = newest;
    if (!series_draw(op->core, &q, width, op->arena, &s, &n, err))
        return false;
    json_object(out);
    json_kint(out, "step_s", width / SECOND);
    json_key(out, "limits");
    json_object(out);
    show_cpus(out, object_value(o, "cpus")->r);
    json_kint(out, "memory", object_int(o, "memory"));
    json_kint(out, "disk", object_int(o, "disk"));
    json_object_end(out);
    json_key(out, "items");
    write_items(out, s, n);
    json_object_end(out);
    return true;
}
