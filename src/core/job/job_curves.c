/* The action `curves`: what one rank of a job used. */
#include "base/clock.h"
#include "core/job/curves.h"
#include "core/job/jobs_own.h"
#include "core/job/placed.h"

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

/* -1 is not known. */
static void write_known(struct json_out *out, const char *key, int64_t v)
{
    json_key(out, key);
    if (v < 0)
        json_null(out);
    else
        json_int(out, v);
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
    json_key(out, "cpu");
    write_real(out, p.cpus);
    write_limit(out, "memory", p.memory);
    write_limit(out, "disk", stats.disk_limit);
    json_key(out, "accelerators");
    write_real(out, p.cards);
    json_object_end(out);
}

static void write_point(struct json_out *out, const struct curve_point *p)
{
    char at[CLOCK_TEXT_MAX];
    json_object(out);
    json_kz(out, "at", clock_format(p->at, at));
    int64_t millis = p->cpu / 1000;
    json_key(out, "cpu");
    json_real(out, (double)millis / 1000);
    json_kint(out, "memory", p->memory);
    json_kint(out, "net_rx", p->rx);
    json_kint(out, "net_tx", p->tx);
    write_known(out, "disk", p->disk);
    json_key(out, "accelerator");
    if (p->cards_busy < 0)
        json_null(out);
    else
        json_real(out, (double)p->cards_busy / 1000);
    write_known(out, "accelerator_memory", p->cards_memory);
    json_object_end(out);
}

bool job_show_curves(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                     int *status, struct err *err)
{
    (void)status;
    int64_t attempt = input[1].i ? input[1].i : object_int(o, "attempt"), span = input[2].i;
    struct exec_id id = {o->id, (int32_t)attempt, (int32_t)input[0].i};
    bool minutes = span > CURVES_SECONDS;
    struct curve_point *points;
    size_t n;
    if (input[0].i >= object_int(o, "nodes"))
        return err_set(err, ERR_INVALID, "rank", "rank: the job has ranks 0 to %lld",
                       (long long)object_int(o, "nodes") - 1);
    if (!curves_read(op->core, id, minutes, op->arena, &points, &n, err))
        return false;
    json_object(out);
    json_kint(out, "step_s", minutes ? 60 : 1);
    write_limits(op, o, id, out);
    json_key(out, "items");
    json_array(out);
    for (size_t i = 0; i < n; i++)
        if (points[i].at > points[n - 1].at - span * INT64_C(1000000))
            write_point(out, &points[i]);
    json_array_end(out);
    json_object_end(out);
    return true;
}
