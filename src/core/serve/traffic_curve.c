#include "core/serve/traffic_curve.h"

#include "base/clock.h"
#include "base/json.h"
#include "core/series/series.h"

#define KIND      "service_version"
#define SECOND_US INT64_C(1000000)
#define MINUTE_US (60 * SECOND_US)
#define VERSIONS  32 /* of a service, the newest, that are drawn */

/* The classes come first, in their order. */
enum { P50 = SERVE_CLASSES, P95, P99, NAMES };
static const char *const names[NAMES] = {"ok",   "client", "error",  "failed", "timeout",
                                         "left", "p50_ms", "p95_ms", "p99_ms"};

struct traffic_curve {
    struct series_feed *feed;
    struct traffic_total last;
    bool lately; /* the second before had requests: its end is to be seen */
};

struct traffic_curve *traffic_curve_open(struct core *core, int64_t version)
{
    struct traffic_curve *c = base_zalloc(sizeof *c);
    c->feed = series_feed_open(core, KIND, version, "", names, NAMES);
    return c;
}

void traffic_curve_close(struct traffic_curve *c)
{
    if (c)
        series_feed_close(c->feed);
    free(c);
}

void traffic_curve_roll(struct traffic_curve *c, const struct traffic_total *t, int64_t now)
{
    double values[NAMES];
    bool any = false;
    struct judge_side d;
    for (int i = 0; i < SERVE_CLASSES; i++) {
        values[i] = (double)(t->class[i] - c->last.class[i]);
        any |= values[i] > 0;
    }
    if (!any && !c->lately)
        return;
    judge_minus(&t->side, &c->last.side, &d);
    static const double parts[] = {0.5, 0.95, 0.99};
    for (int i = 0; i < 3; i++) {
        uint64_t us = judge_quantile(&d, parts[i]);
        values[P50 + i] = us ? (double)us / 1000 : __builtin_nan("");
    }
    series_feed_add(c->feed, now, values);
    c->last = *t;
    c->lately = any;
}

/* --- drawing --- */

/* What a step has of each name; NULL: nothing. */
struct step {
    const struct series_bucket *of[NAMES];
};

static double sum(const struct step *s, int name)
{
    return s->of[name] ? s->of[name]->sum : 0;
}

static void write_step(int64_t at, const struct step *s, struct json_out *o)
{
    char text[CLOCK_TEXT_MAX];
    double requests = 0;
    for (int i = 0; i < SERVE_CLASSES; i++)
        requests += sum(s, i);
    if (requests <= 0)
        return;
    json_object(o);
    json_kz(o, "at", clock_format(at, text));
    json_kint(o, "requests", (int64_t)requests);
    json_key(o, "classes");
    json_object(o);
    for (int i = 0; i < SERVE_CLASSES; i++)
        json_kint(o, serve_class_names[i], (int64_t)sum(s, i));
    json_object_end(o);
    for (int i = P50; i < NAMES; i++) {
        json_key(o, names[i]);
        if (s->of[i] && s->of[i]->n)
            json_real(o, series_mean(s->of[i]));
        else
            json_null(o);
    }
    json_object_end(o);
}

static int name_of(struct str s)
{
    int i = 0;
    while (i < NAMES && !str_is(s, names[i]))
        i++;
    return i;
}

/* The series have the same times, but not each has a point at every one: they are walked side by side. */
static void write_points(const struct series_buckets *b, size_t n, struct json_out *o)
{
    size_t at[NAMES] = {0};
    const struct series_buckets *by[NAMES] = {0};
    for (size_t i = 0; i < n; i++)
        if (name_of(b[i].name) < NAMES)
            by[name_of(b[i].name)] = &b[i];
    for (;;) {
        struct step s = {0};
        int64_t first = INT64_MAX;
        for (int i = 0; i < NAMES; i++)
            if (by[i] && at[i] < by[i]->n && by[i]->bucket[at[i]].at < first)
                first = by[i]->bucket[at[i]].at;
        if (first == INT64_MAX)
            return;
        for (int i = 0; i < NAMES; i++)
            if (by[i] && at[i] < by[i]->n && by[i]->bucket[at[i]].at == first)
                s.of[i] = &by[i]->bucket[at[i]++];
        write_step(first, &s, o);
    }
}

static bool write_version(struct core *core, int64_t version, const struct series_query *range, int64_t width,
                          struct arena *a, struct json_out *o, struct err *err)
{
    struct series_query q = *range;
    struct series_buckets *b;
    size_t n;
    q.owner = version;
    if (!series_draw(core, &q, width, a, &b, &n, err))
        return false;
    json_object(o);
    json_kint(o, "version", version);
    json_key(o, "points");
    json_array(o);
    write_points(b, n, o);
    json_array_end(o);
    json_object_end(o);
    return true;
}

/* Whole seconds as long as all of the range is kept by the second, else whole minutes. */
static int64_t width_of(int64_t from, int64_t to, int64_t points)
{
    int64_t unit = clock_now() - from < 2 * 60 * MINUTE_US ? SECOND_US : MINUTE_US;
    return ((to - from) / points / unit + 1) * unit;
}

bool serve_traffic_write(struct core *core, int64_t service, int64_t from, int64_t to, int64_t points,
                         struct arena *a, struct buf *out, struct err *err)
{
    struct series_query range = {.kind = KIND, .from = from, .to = to};
    struct db_rows rows;
    struct json_out o;
    if (!db_query(core->db, a, "SELECT id FROM service_versions WHERE service = ? ORDER BY id DESC LIMIT ?",
                  db_args(db_int(service), db_int(VERSIONS)), &rows, err))
        return false;
    json_begin(&o, out);
    json_object(&o);
    json_key(&o, "versions");
    json_array(&o);
    bool ok = true;
    for (size_t i = 0; ok && i < rows.n; i++)
        ok = write_version(core, rows.row[i].v[0].i, &range, width_of(from, to, points), a, &o, err);
    json_array_end(&o);
    json_object_end(&o);
    return ok;
}
