/* Curves as they are answered: the series of a container or a project side by side. */
#include "base/clock.h"
#include "core/job/curves.h"
#include "core/series/series.h"
#include "core/show.h"

#include <math.h>

#define SECOND INT64_C(1000000)
#define MINUTE (60 * SECOND)

int64_t curves_width(int64_t span, int64_t points, int64_t unit)
{
    int64_t units = points > 0 ? (span / unit + points - 1) / points : 1;
    return (units > 0 ? units : 1) * unit;
}

/* --- containers --- */

static size_t curve_named(struct str name)
{
    size_t i = 0;
    while (i < CURVE_COUNT && !str_is(name, curve_names[i]))
        i++;
    return i;
}

/* The point of that time. All curves of a container have the times of the one of its CPU. */
static struct curve_point *point_at(struct curve_point *p, size_t n, size_t *at, int64_t time)
{
    while (*at < n && p[*at].at < time)
        (*at)++;
    return *at < n && p[*at].at == time ? &p[*at] : NULL;
}

static struct curve_point *points_new(struct arena *a, size_t n)
{
    struct curve_point *p = arena_array(a, struct curve_point, n + 1);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < CURVE_COUNT; k++)
            p[i].v[k] = NAN;
    return p;
}

static bool read_points(struct core *core, const struct series_query *q, struct arena *a,
                        struct curve_point **ret, size_t *ret_n, struct err *err)
{
    struct series_points *s;
    size_t n, cpu = 0;
    if (!series_read(core, q, 0, a, &s, &n, err))
        return false;
    while (cpu < n && !str_is(s[cpu].name, curve_names[CURVE_CPU]))
        cpu++;
    *ret_n = cpu < n ? s[cpu].n : 0;
    *ret = points_new(a, *ret_n);
    for (size_t i = 0; i < *ret_n; i++)
        (*ret)[i].at = s[cpu].point[i].at;
    for (size_t i = 0; i < n; i++) {
        size_t curve = curve_named(s[i].name), at = 0;
        struct curve_point *p;
        for (size_t k = 0; curve < CURVE_COUNT && k < s[i].n; k++)
            if ((p = point_at(*ret, *ret_n, &at, s[i].point[k].at)))
                p->v[curve] = s[i].point[k].value;
    }
    return true;
}

static void set_mean(struct curve_point *p, size_t curve, const struct series_bucket *b)
{
    p->v[curve] = series_mean(b);
    p->low[curve] = b->low;
    p->high[curve] = b->high;
}

static bool read_means(struct core *core, const struct series_query *q, int64_t width, struct arena *a,
                       struct curve_point **ret, size_t *ret_n, struct err *err)
{
    struct series_buckets *s;
    size_t n, cpu = 0;
    if (!series_draw(core, q, width, a, &s, &n, err))
        return false;
    while (cpu < n && !str_is(s[cpu].name, curve_names[CURVE_CPU]))
        cpu++;
    *ret_n = cpu < n ? s[cpu].n : 0;
    *ret = points_new(a, *ret_n);
    for (size_t i = 0; i < *ret_n; i++)
        (*ret)[i].at = s[cpu].bucket[i].at;
    for (size_t i = 0; i < n; i++) {
        size_t curve = curve_named(s[i].name), at = 0;
        struct curve_point *p;
        for (size_t k = 0; curve < CURVE_COUNT && k < s[i].n; k++)
            if ((p = point_at(*ret, *ret_n, &at, s[i].bucket[k].at)))
                set_mean(p, curve, &s[i].bucket[k]);
    }
    return true;
}

bool curves_read(struct core *core, struct exec_id id, int64_t span, int64_t width, struct arena *a,
                 struct curve_point **ret, size_t *ret_n, struct err *err)
{
    char part[CURVE_PART_MAX];
    struct series_query q = {
        .kind = "job", .owner = id.job, .part = arena_str(a, str_of(curves_part(id, part)))};
    int64_t newest;
    if (!series_newest(core, &q, a, &newest, err))
        return false;
    q.from = newest - span + 1;
    q.to = newest;
    return width ? read_means(core, &q, width, a, ret, ret_n, err)
                 : read_points(core, &q, a, ret, ret_n, err);
}

/* --- projects --- */

struct project_curves {
    struct series_buckets *series;
    size_t n;
    size_t *at; /* what was written of each */
    int64_t width;
};

static const struct series_bucket *bucket_at(struct project_curves *c, size_t i, int64_t at)
{
    const struct series_buckets *s = &c->series[i];
    while (c->at[i] < s->n && s->bucket[c->at[i]].at < at)
        c->at[i]++;
    return c->at[i] < s->n && s->bucket[c->at[i]].at == at ? &s->bucket[c->at[i]] : NULL;
}

static double value_at(struct project_curves *c, const char *name, int64_t at, enum series_side side)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->series[i].part.n == 0 && str_is(c->series[i].name, name)) {
            const struct series_bucket *b = bucket_at(c, i, at);
            return b ? series_value(b, side) : 0;
        }
    return 0;
}

static void write_cards(struct project_curves *c, int64_t at, enum series_side side, struct json_out *out)
{
    const size_t prefix = sizeof CURVE_CARD_PART - 1;
    for (size_t i = 0; i < c->n; i++) {
        struct str part = c->series[i].part;
        const struct series_bucket *b = str_starts(part, CURVE_CARD_PART) ? bucket_at(c, i, at) : NULL;
        if (!b)
            continue;
        json_key(out, part.p + prefix);
        json_real(out, round(series_value(b, side) * 1e6) / 1e6);
    }
}

/* c NULL: nothing was used. */
static void write_values(struct project_curves *c, int64_t at, enum series_side side, struct json_out *out)
{
    show_cpus(out, c ? floor(value_at(c, "cpu", at, side) * 1e3) / 1e3 : 0);
    json_kint(out, "memory", c ? (int64_t)value_at(c, "memory", at, side) : 0);
    json_key(out, "accelerators");
    json_object(out);
    if (c)
        write_cards(c, at, side, out);
    json_object_end(out);
}

static void write_item(struct project_curves *c, int64_t at, struct json_out *out)
{
    char text[CLOCK_TEXT_MAX];
    json_object(out);
    json_kz(out, "at", clock_format(at, text));
    write_values(c, at, SERIES_MEAN, out);
    for (enum series_side side = SERIES_LOW; side <= SERIES_HIGH; side++) {
        json_key(out, series_side_names[side]);
        json_object(out);
        write_values(c, at, side, out);
        json_object_end(out);
    }
    json_object_end(out);
}

static void write_items(struct project_curves *c, int64_t from, int64_t to, struct json_out *out)
{
    const struct series_buckets *cpu = NULL;
    int64_t last = from, gap = 2 * c->width;
    for (size_t i = 0; i < c->n; i++)
        if (c->series[i].part.n == 0 && str_is(c->series[i].name, "cpu"))
            cpu = &c->series[i];
    write_item(NULL, last, out);
    for (size_t i = 0; cpu && i < cpu->n; i++) {
        int64_t at = cpu->bucket[i].at;
        if (at <= last)
            continue;
        if (at - last > gap) {
            write_item(NULL, last + c->width, out);
            write_item(NULL, at - c->width, out);
        }
        write_item(c, at, out);
        last = at;
    }
    if (to - last > gap) {
        write_item(NULL, last + c->width, out);
        write_item(NULL, to, out);
    }
}

bool curves_write_project(struct core *core, int64_t project, int64_t width, struct json_out *out,
                          struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    int64_t now = clock_now();
    struct project_curves c = {.width = width};
    struct series_query q = {.kind = "project", .owner = project, .from = now - CURVES_DAY, .to = now};
    if (!series_draw(core, &q, width, &a, &c.series, &c.n, err))
        return false;
    c.at = arena_array(&a, size_t, c.n + 1);
    json_object(out);
    json_kint(out, "step_s", width / SECOND);
    json_key(out, "items");
    json_array(out);
    write_items(&c, q.from, now, out);
    json_array_end(out);
    json_object_end(out);
    return true;
}
