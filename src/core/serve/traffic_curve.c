#include "core/serve/traffic_curve.h"

#include "base/clock.h"
#include "base/json.h"
#include "core/series/series.h"

#define KIND      "service_version"
#define SECOND_US INT64_C(1000000)
#define MINUTE_US (60 * SECOND_US)
#define SECONDS   60 /* of a minute */
#define VERSIONS  32 /* of a service, the newest, that are drawn */

/* The classes come first, in their order. */
enum { REQUESTS = SERVE_CLASSES, P50, P95, P99, NAMES };
static const char *const names[NAMES] = {"ok",   "client",   "error",  "failed", "timeout",
                                         "left", "requests", "p50_ms", "p95_ms", "p99_ms"};

/* Of minutes only the mean is kept, not of how many seconds: so a minute with requests has a point of each of
 * its seconds, zeros too, and its mean times sixty is what there was. A minute without has none. */
struct traffic_curve {
    struct series_feed *feed;
    struct traffic_total last;
    int64_t second; /* the last one that is told or passed, since 1970 */
    int64_t until;  /* the last one of the minute that had requests */
};

struct traffic_curve *traffic_curve_open(struct core *core, int64_t version)
{
    struct traffic_curve *c = base_zalloc(sizeof *c);
    c->feed = series_feed_open(core, KIND, version, "", names, NAMES);
    c->second = clock_now() / SECOND_US - 1;
    return c;
}

void traffic_curve_close(struct traffic_curve *c)
{
    if (c)
        series_feed_close(c->feed);
    free(c);
}

/* Seconds that had no requests, up to that one. */
static void add_zeros(struct traffic_curve *c, int64_t from, int64_t to)
{
    static const double none[NAMES] = {
        [P50] = __builtin_nan(""), [P95] = __builtin_nan(""), [P99] = __builtin_nan("")};
    for (int64_t s = from > c->second ? from : c->second + 1; s <= to; s++) {
        series_feed_add(c->feed, s * SECOND_US, none);
        c->second = s;
    }
}

static void add_second(struct traffic_curve *c, const struct traffic_total *t, double values[NAMES])
{
    static const double parts[] = {0.5, 0.95, 0.99};
    struct judge_side d;
    judge_minus(&t->side, &c->last.side, &d);
    for (int i = 0; i < 3; i++) {
        uint64_t us = judge_quantile(&d, parts[i]);
        values[P50 + i] = us ? (double)us / 1000 : __builtin_nan("");
    }
    series_feed_add(c->feed, c->second * SECOND_US, values);
    c->last = *t;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void traffic_curve_roll(struct traffic_curve *c, const struct traffic_total *t, int64_t now)
{
    double values[NAMES] = {0};
    int64_t second = now / SECOND_US;
    if (second < c->second - SECONDS) /* the clock was put back */
        c->second = second - 1;
    if (second <= c->second) /* this one is told: what came since counts with the next */
        return;
    for (int i = 0; i < SERVE_CLASSES; i++) {
        values[i] = (double)(t->class[i] - c->last.class[i]);
        values[REQUESTS] += values[i];
    }
    bool any = values[REQUESTS] > 0;
    add_zeros(c, c->second + 1, least(c->until, any ? second - 1 : second));
    if (any) {
        int64_t minute = second - second % SECONDS;
        add_zeros(c, minute, second - 1);
        c->until = minute + SECONDS - 1;
    }
    c->second = second;
    if (any)
        add_second(c, t, values);
}

void traffic_curve_end(struct traffic_curve *c, const struct traffic_total *t, int64_t now)
{
    int64_t next = (c->second + 1) * SECOND_US;
    traffic_curve_roll(c, t, now > next ? now : next);
}

/* --- drawing --- */

/* What a step has of each name; NULL: nothing. */
struct step {
    const struct series_bucket *of[NAMES];
    int64_t width;
};

/* Where minutes are drawn each counts once, as the mean of its seconds. */
static int64_t sum(const struct step *s, int name)
{
    double seconds = s->width % MINUTE_US == 0 ? SECONDS : 1;
    return s->of[name] ? (int64_t)(s->of[name]->sum * seconds + 0.5) : 0;
}

static void write_known(struct json_out *o, const char *key, const struct series_bucket *b,
                        enum series_side side)
{
    json_key(o, key);
    if (b && b->n)
        json_real(o, series_value(b, side));
    else
        json_null(o);
}

static void write_times(const struct step *s, enum series_side side, struct json_out *o)
{
    for (int i = P50; i < NAMES; i++)
        write_known(o, names[i], s->of[i], side);
}

static void write_step(int64_t at, const struct step *s, struct json_out *o)
{
    char text[CLOCK_TEXT_MAX];
    int64_t requests = 0;
    for (int i = 0; i < SERVE_CLASSES; i++)
        requests += sum(s, i);
    if (requests <= 0)
        return;
    json_object(o);
    json_kz(o, "at", clock_format(at, text));
    json_kint(o, "requests", requests);
    json_key(o, "per_second");
    json_real(o, (double)requests * SECOND_US / (double)s->width);
    json_key(o, "classes");
    json_object(o);
    for (int i = 0; i < SERVE_CLASSES; i++)
        json_kint(o, serve_class_names[i], sum(s, i));
    json_object_end(o);
    write_times(s, SERIES_MEAN, o);
    for (enum series_side side = SERIES_LOW; side <= SERIES_HIGH; side++) {
        json_key(o, series_side_names[side]);
        json_object(o);
        write_known(o, "per_second", s->of[REQUESTS], side);
        write_times(s, side, o);
        json_object_end(o);
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
static void write_points(const struct series_buckets *b, size_t n, int64_t width, struct json_out *o)
{
    size_t at[NAMES] = {0};
    const struct series_buckets *by[NAMES] = {0};
    for (size_t i = 0; i < n; i++)
        if (name_of(b[i].name) < NAMES)
            by[name_of(b[i].name)] = &b[i];
    for (;;) {
        struct step s = {.width = width};
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
    write_points(b, n, width, o);
    json_array_end(o);
    json_object_end(o);
    return true;
}

/* Whole seconds as long as the range is kept by the second, else whole minutes. Who asked for all of those
 * hours has waited a little since. */
static int64_t width_of(const struct core *core, int64_t from, int64_t to, int64_t points)
{
    int64_t kept = (int64_t)(core->series_limits.second_hours * 60) * MINUTE_US + MINUTE_US;
    int64_t unit = clock_now() - from < kept ? SECOND_US : MINUTE_US;
    return ((to - from) / points / unit + 1) * unit;
}

bool serve_traffic_write(struct core *core, int64_t service, int64_t from, int64_t to, int64_t points,
                         struct arena *a, struct buf *out, struct err *err)
{
    struct series_query range = {.kind = KIND, .from = from, .to = to};
    int64_t width = width_of(core, from, to, points);
    struct db_rows rows;
    struct json_out o;
    if (!db_query(core->db, a, "SELECT id FROM service_versions WHERE service = ? ORDER BY id DESC LIMIT ?",
                  db_args(db_int(service), db_int(VERSIONS)), &rows, err))
        return false;
    json_begin(&o, out);
    json_object(&o);
    json_kint(&o, "step_s", width / SECOND_US);
    json_key(&o, "versions");
    json_array(&o);
    bool ok = true;
    for (size_t i = 0; ok && i < rows.n; i++)
        ok = write_version(core, rows.row[i].v[0].i, &range, width, a, &o, err);
    json_array_end(&o);
    json_object_end(&o);
    return ok;
}
