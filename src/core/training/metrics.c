/* The series of an instance (core/series/series.h: kind "training_instance", part ""): read from the log of
 * rank 0 as far as it goes. The points and how far the log was read are written together, so that a killed
 * server loses none and counts none twice. */
#include "base/clock.h"
#include "core/controllers.h"
#include "core/training/metric.h"
#include "core/training/summary.h"
#include "core/training/training.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

#define PIECE           (256 << 10)
#define AT_ONCE         256     /* pieces per call */
#define WRITE_MOST      50000   /* points that are written together, or a piece's */
#define ANSWER_MOST     1000000 /* points of one answer */
#define PARAMETER_LINES 1000    /* of one reading */

/* One reader of an instance's log at a time. */
static pthread_mutex_t locks[16] = {[0 ... 15] = PTHREAD_MUTEX_INITIALIZER};

struct reading {
    struct core *core;
    struct summary_run run;
    struct arena *arena;
    struct metric_gathering got;
    struct parameters *params; /* that came; NULL: none */
    int64_t attempt, position; /* of what was read */
    bool known, moved, more;
    bool listed; /* got knows what there was */
    int param_lines;
    struct series_batch *batch;
    size_t n_batch;
};

/* --- the tables --- */

static bool load_marks(struct reading *r, struct err *err)
{
    struct db_row row;
    if (!db_query_one(r->core->db, r->arena,
                      "SELECT attempt, position, step FROM training_marks WHERE instance = ?",
                      db_args(db_int(r->run.id)), &row, &r->known, err))
        return false;
    if (!r->known)
        return true;
    r->attempt = row.v[0].i;
    r->position = row.v[1].i;
    r->got.has_step = row.v[2].type == DB_TEXT && str_to_real(row.v[2].s, &r->got.step);
    return true;
}

static struct series_query query_of(int64_t instance)
{
    return (struct series_query){.kind = "training_instance", .owner = instance, .part = STR("")};
}

/* What there is, once there is something to add to it. */
static bool list_series(struct reading *r, struct err *err)
{
    struct series_query q = query_of(r->run.id);
    struct series_info *info;
    size_t n;
    if (r->listed)
        return true;
    if (!series_list(r->core, &q, r->arena, &info, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        metric_gathering_know(&r->got, info[i].name, info[i].points);
    r->listed = true;
    return true;
}

static bool keep_summary(struct op *op, const struct reading *r, struct err *err)
{
    bool any = r->params != NULL;
    for (size_t i = 0; i < r->got.n; i++) {
        const struct metric_series *s = r->got.series[i];
        if (s->n == 0 || i >= SUMMARY_METRICS)
            continue;
        struct summary of = summary_of(str_of(s->name), s->point, s->n);
        any = true;
        if (!summary_put(op->conn, &r->run, str_of(s->name), &of, false, err))
            return false;
    }
    for (size_t i = 0; i < METRIC_LEFT_COUNT; i++)
        any = any || r->got.left[i];
    return !any ||
           ((!r->params || summary_put_parameters(op->conn, &r->run, r->params, err)) &&
            summary_put_left(op->conn, &r->run, r->got.left, err) && summary_refresh(op, &r->run, err));
}

static bool keep_write(struct op *op, void *ctx, struct err *err)
{
    const struct reading *r = ctx;
    struct db_conn *c = op->conn;
    struct db_row row;
    bool found;
    char step[40];
    snprintf(step, sizeof step, "%.17g", r->got.step);
    /* An instance that was deleted meanwhile leaves nothing. */
    if (!conn_query_one(c, op->arena, "SELECT id FROM training_instances WHERE id = ?",
                        db_args(db_int(r->run.id)), &row, &found, err))
        return false;
    if (!found)
        return true;
    return series_put(c, r->batch, r->n_batch, err) && keep_summary(op, r, err) &&
           conn_exec(c,
                     "INSERT INTO training_marks (instance, attempt, position, step) VALUES (?, ?, ?, ?)"
                     " ON CONFLICT (instance) DO UPDATE SET attempt = excluded.attempt,"
                     " position = excluded.position, step = excluded.step",
                     db_args(db_int(r->run.id), db_int(r->attempt), db_int(r->position),
                             r->got.has_step ? db_textz(step) : db_null()),
                     NULL, err);
}

static void add_batches(struct reading *r, const struct metric_series *s)
{
    for (size_t from = 0; from < s->n; from += SERIES_CHUNK_POINTS)
        r->batch[r->n_batch++] =
            (struct series_batch){.kind = "training_instance",
                                  .owner = r->run.id,
                                  .name = str_of(s->name),
                                  .point = s->point + from,
                                  .n = s->n - from < SERIES_CHUNK_POINTS ? s->n - from : SERIES_CHUNK_POINTS};
}

/* Packed here, so that the writing thread only inserts. */
static bool keep(struct reading *r, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    if (!r->moved)
        return true;
    r->n_batch = 0;
    r->batch = arena_array(&a, struct series_batch, r->got.n + r->got.fresh / SERIES_CHUNK_POINTS + 1);
    for (size_t i = 0; i < r->got.n; i++)
        add_batches(r, r->got.series[i]);
    if (!series_pack(&a, r->batch, r->n_batch, err) ||
        !engine_write(r->core, &caller_system, &a, keep_write, r, err))
        return false;
    metric_gathering_clear(&r->got);
    r->params = NULL;
    r->moved = false;
    return true;
}

/* The table training_metrics is that of programs from before: metrics_move.c empties it. */
bool training_metrics_delete(struct db_conn *c, int64_t instance, struct err *err)
{
    return summary_delete(c, instance, err) &&
           conn_exec(c, "DELETE FROM training_marks WHERE instance = ?", db_args(db_int(instance)), NULL,
                     err) &&
           conn_exec(c, "DELETE FROM training_metrics WHERE instance = ?", db_args(db_int(instance)), NULL,
                     err);
}

/* --- the log --- */

/* The newest of each name counts; memory is bounded by how many of these lines one reading may have. */
static bool take_parameters(struct reading *r, struct str text)
{
    if (!str_starts(text, "{\"ingot.params\""))
        return false;
    if (r->param_lines++ >= PARAMETER_LINES)
        return true;
    if (!r->params)
        *(r->params = arena_new(r->arena, struct parameters)) = (struct parameters){.n = 0};
    int64_t before = r->params->left;
    summary_parameters(r->arena, text, r->params);
    r->got.left[METRIC_PARAMETERS] += r->params->left - before;
    return true;
}

static void take_line(struct reading *r, struct str line)
{
    struct metric_line values;
    int64_t at;
    if (line.n <= EXEC_LOG_HEAD || line.p[28] == 'i' || line.p[29] != ' ' ||
        !clock_parse((struct str){line.p, 27}, &at))
        return;
    auto_arena struct arena a;
    arena_init(&a);
    struct str text = {line.p + EXEC_LOG_HEAD, line.n - EXEC_LOG_HEAD};
    if (take_parameters(r, text))
        return;
    if (metric_parse(&a, text, &values))
        metric_gathering_add(&r->got, &values, at);
}

/* Whole lines; returns the bytes they take. */
static size_t take_lines(struct reading *r, const char *p, size_t n)
{
    size_t done = 0;
    for (const char *end; (end = memchr(p + done, '\n', n - done)); done = (size_t)(end - p) + 1)
        take_line(r, (struct str){p + done, (size_t)(end - p) - done});
    return done;
}

static bool read_attempt(struct reading *r, struct exec *x, struct exec_id id, int *left, struct err *err)
{
    auto_free char *space = base_alloc(PIECE);
    while ((*left)-- > 0) {
        int64_t at = r->position;
        size_t n;
        if (!x->ops->log_read(x, id, &at, space, PIECE, &n, err))
            return false;
        if (n && !list_series(r, err))
            return false;
        size_t done = take_lines(r, space, n);
        if (done == 0)
            return true;
        r->position = at - (int64_t)n + (int64_t)done;
        r->moved = true;
        if (r->got.fresh >= WRITE_MOST && !keep(r, err))
            return false;
    }
    r->more = true;
    return true;
}

/* Attempt by attempt: a retry goes on with the same series. */
static bool read_log(struct reading *r, const struct object *job, struct err *err)
{
    struct exec *x = jobs_exec(r->core->jobs);
    int64_t last = object_int(job, "attempt");
    int left = AT_ONCE;
    if (!x || last == 0)
        return true;
    if (r->attempt == 0)
        r->attempt = 1;
    for (;;) {
        struct err gone = {0};
        struct exec_id id = {job->id, (int32_t)r->attempt, 0};
        if (!read_attempt(r, x, id, &left, &gone) && gone.code != ERR_NOT_FOUND) {
            *err = gone;
            return false;
        }
        if (r->more || r->attempt >= last)
            return true;
        r->attempt++;
        r->position = 0;
        r->moved = true;
    }
}

static bool catch_up(struct reading *r, int64_t job_id, struct err *err)
{
    struct object job;
    struct err gone = {0};
    if (!job_id || !engine_get(r->core, &caller_system, &kind_job, 0, job_id, r->arena, &job, &gone))
        return !gone.code || gone.code == ERR_NOT_FOUND || (*err = gone, false);
    return read_log(r, &job, err) && keep(r, err);
}

pthread_mutex_t *training_metrics_lock(int64_t instance)
{
    pthread_mutex_t *lock = &locks[(uint64_t)instance % countof(locks)];
    pthread_mutex_lock(lock);
    return lock;
}

bool training_metrics_read(struct core *core, const struct object *instance, struct arena *a, bool *ret_more,
                           struct err *err)
{
    struct reading r = {.core = core, .run = {instance->id, instance->project, instance->parent}, .arena = a};
    pthread_mutex_t *lock = training_metrics_lock(instance->id);
    bool ok = metrics_move(core, instance->id, err) && load_marks(&r, err) &&
              catch_up(&r, object_int(instance, "job"), err);
    pthread_mutex_unlock(lock);
    metric_gathering_release(&r.got);
    if (ok && ret_more)
        *ret_more = r.more;
    return ok;
}

/* --- the answer --- */

static void write_means(struct json_out *o, const struct series_points *s)
{
    json_key(o, "means");
    json_array(o);
    for (size_t i = 0; i < s->n_mean; i++) {
        const struct series_stretch *m = &s->mean[i];
        const double v[] = {series_mean(&m->of), m->of.low, m->of.high};
        json_array(o);
        json_real(o, m->step);
        json_int(o, m->of.at);
        for (size_t k = 0; k < countof(v); k++)
            json_real(o, v[k]);
        json_array_end(o);
    }
    json_array_end(o);
}

static void write_points(struct json_out *o, const struct series_points *s)
{
    json_object(o);
    json_kstr(o, "name", s->name);
    json_key(o, "points");
    json_array(o);
    for (size_t i = 0; i < s->n; i++) {
        json_array(o);
        json_real(o, s->point[i].step);
        json_int(o, s->point[i].at);
        json_real(o, s->point[i].value);
        json_array_end(o);
    }
    json_array_end(o);
    if (s->n_mean)
        write_means(o, s);
    json_object_end(o);
}

/* Of each name as many points as are wanted, and as one answer can have. */
static bool points_of_each(struct core *core, const struct series_query *q, int64_t points, struct arena *a,
                           size_t *ret, struct err *err)
{
    struct series_info *info;
    size_t n;
    int64_t all = 0;
    if (!series_list(core, q, a, &info, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        all += info[i].points;
    int64_t most = all <= ANSWER_MOST ? 0 : ANSWER_MOST / (int64_t)(n ? n : 1);
    *ret = (size_t)(points && (!most || points < most) ? points : most);
    return true;
}

bool training_metrics_write(struct core *core, int64_t instance, const struct metrics_query *of,
                            struct arena *a, struct json_out *out, struct err *err)
{
    struct series_query q = query_of(instance);
    struct series_points *s;
    size_t n, most;
    q.name = of->name.n ? of->name : STR_NULL;
    q.by_step = of->from != -INFINITY || of->to != INFINITY;
    q.step_from = of->from;
    q.step_to = of->to;
    if (!points_of_each(core, &q, of->points, a, &most, err) || !series_read(core, &q, most, a, &s, &n, err))
        return false;
    json_object(out);
    json_key(out, "series");
    json_array(out);
    for (size_t i = 0; i < n; i++)
        write_points(out, &s[i]);
    json_array_end(out);
    json_object_end(out);
    return true;
}
