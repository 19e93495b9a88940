/* The action `curves`: what one rank of a job used. */
#include "base/clock.h"
#include "core/job/curves.h"
#include "core/job/jobs_own.h"
#include "core/job/placed.h"
#include "core/show.h"

#include <math.h>

#define SECOND INT64_C(1000000)

static void write_limit(struct json_out *out, const char *key, int64_t v)
{
    json_key(out, key);
    if (v > 0)
        json_int(out, v);
    else
        json_null(out);
}

static void write_real(struct json_out *out, double v)
{
    if (v > 0)
        json_real(out, v);
    else
        json_null(out);
}

/* NaN is not known. */
static void write_known(struct json_out *out, const char *key, double v)
{
    json_key(out, key);
    if (isnan(v))
        json_null(out);
    else
        json_int(out, (int64_t)v);
}

static void write_limits(struct op *op, const struct object *job, struct exec_id id, struct json_out *out)
{
    struct placed p = placed_rank(op->arena, object_text(job, "placement"), id.rank);
    struct exec *x = jobs_exec(op->core->jobs);
    struct exec_stats stats = {0};
    struct err ended = {0};
    if (x && !x->ops->stats(x, id, &stats, &ended))
        stats.disk_limit = 0;
    json_key(out, "limits");
    json_object(out);
    json_key(out, "cpus");
    write_real(out, p.cpus);
    json_key(out, "cpu");
    write_real(out, p.cpus);
    write_limit(out, "memory", p.memory);
    write_limit(out, "disk", stats.disk_limit);
    json_key(out, "accelerators");
    write_real(out, p.cards);
    json_object_end(out);
}

static void write_values(struct json_out *out, const double *v)
{
    show_cpus(out, floor(v[CURVE_CPU] * 1e3 + 1e-6) / 1e3);
    for (size_t i = CURVE_MEMORY; i <= CURVE_DISK; i++)
        write_known(out, curve_names[i], v[i]);
    json_key(out, curve_names[CURVE_CARDS]);
    if (isnan(v[CURVE_CARDS]))
        json_null(out);
    else
        json_real(out, round(v[CURVE_CARDS] * 1e3) / 1e3);
    write_known(out, curve_names[CURVE_CARD_MEMORY], v[CURVE_CARD_MEMORY]);
}

static void write_bound(struct json_out *out, const struct curve_point *p, const char *key, const double *v)
{
    double known[CURVE_COUNT];
    for (size_t i = 0; i < CURVE_COUNT; i++)
        known[i] = isnan(p->v[i]) ? NAN : v[i];
    json_key(out, key);
    json_object(out);
    write_values(out, known);
    json_object_end(out);
}

static void write_point(struct json_out *out, const struct curve_point *p, bool mean)
{
    char at[CLOCK_TEXT_MAX];
    json_object(out);
    json_kz(out, "at", clock_format(p->at, at));
    write_values(out, p->v);
    if (mean) {
        write_bound(out, p, "low", p->low);
        write_bound(out, p, "high", p->high);
    }
    json_object_end(out);
}

/* By the second, by the minute, or as few points as are asked for; 0: as they came. */
static int64_t width_of(const struct core *core, int64_t span_s, int64_t points)
{
    bool seconds = span_s <= (points ? (int64_t)(core->series_limits.second_hours * 3600) : CURVES_SECONDS);
    if (seconds && (points == 0 || span_s <= points))
        return 0;
    return curves_width(span_s * SECOND, points, seconds ? SECOND : 60 * SECOND);
}

bool job_show_curves(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                     int *status, struct err *err)
{
    (void)status;
    int64_t attempt = input[1].i ? input[1].i : object_int(o, "attempt"), span = input[2].i;
    struct exec_id id = {o->id, (int32_t)attempt, (int32_t)input[0].i};
    int64_t width = width_of(op->core, span, input[3].i);
    struct curve_point *points;
    size_t n;
    if (input[0].i >= object_int(o, "nodes"))
        return err_set(err, ERR_INVALID, "rank", "rank: the job has ranks 0 to %lld",
                       (long long)object_int(o, "nodes") - 1);
    if (!curves_read(op->core, id, span * SECOND, width, op->arena, &points, &n, err))
        return false;
    json_object(out);
    json_kint(out, "step_s", width ? width / SECOND : 1);
    write_limits(op, o, id, out);
    json_key(out, "items");
    json_array(out);
    for (size_t i = 0; i < n; i++)
        write_point(out, &points[i], width > 0);
    json_array_end(out);
    json_object_end(out);
    return true;
}
