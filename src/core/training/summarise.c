/* What reads metrics when nobody looks at them: those of runs that are going on, so that tables of runs are
 * true; and once, those of runs from before there were summaries, out of their series. */
#include "core/controllers.h"
#include "core/training/summary.h"
#include "core/training/training.h"

#define PAGE 50
#define THIN 1000 /* points of each name: thinning keeps the least, the greatest and the last */

static bool read_one(struct core *core, int64_t id, struct err *err)
{
    auto_arena struct arena a;
    struct object o;
    struct err gone = {0};
    arena_init(&a);
    if (!engine_get(core, &caller_system, &kind_training_instance, 0, id, &a, &o, &gone))
        return gone.code == ERR_NOT_FOUND || (*err = gone, false);
    return training_metrics_read(core, &o, &a, NULL, err);
}

static bool read_running(struct core *core, struct err *err)
{
    auto_arena struct arena a;
    struct db_rows rows;
    struct err first = {0};
    arena_init(&a);
    if (!db_query(core->db, &a,
                  "SELECT id FROM training_instances WHERE state IN ('running', 'stopping') ORDER BY id",
                  DB_NO_ARGS, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n && !controller_ending(core); i++) {
        struct err one = {0};
        if (!read_one(core, rows.row[i].v[0].i, &one))
            err_keep(&first, &one);
    }
    return !first.code || (*err = first, false);
}

const struct controller controller_read_metrics = {
    .name = "read-metrics",
    .title = {"Reads the metrics of runs that are going on", "读取运行中训练的指标"},
    .thread = "curves",
    .gives_way = true,
    .first_s = 5,
    .every_s = 5,
    .retry_s = 30,
    .tick = read_running,
};

/* --- runs from before --- */

struct old_run {
    struct summary_run run;
    struct series_points *series;
    size_t n;
};

static bool old_write(struct op *op, void *ctx, struct err *err)
{
    const struct old_run *o = ctx;
    struct db_row row;
    bool found;
    if (!conn_query_one(op->conn, op->arena, "SELECT id FROM training_instances WHERE id = ?",
                        db_args(db_int(o->run.id)), &row, &found, err))
        return false;
    for (size_t i = 0; found && i < o->n && i < SUMMARY_METRICS; i++) {
        if (o->series[i].n == 0)
            continue;
        struct summary s = summary_of(o->series[i].name, o->series[i].point, o->series[i].n);
        s.points = o->series[i].total;
        if (!summary_put(op->conn, &o->run, o->series[i].name, &s, true, err))
            return false;
    }
    return !found || summary_refresh(op, &o->run, err);
}

static bool summarise_locked(struct core *core, const struct db_row *row, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct old_run o = {.run = {row->v[0].i, row->v[1].i, row->v[2].i}};
    struct series_query q = {.kind = "training_instance", .owner = o.run.id, .part = STR("")};
    return metrics_move(core, o.run.id, err) && series_read(core, &q, THIN, &a, &o.series, &o.n, err) &&
           engine_write(core, &caller_system, &a, old_write, &o, err);
}

static bool summarise_all(struct core *core, struct err *err)
{
    for (size_t n = PAGE; n > 0 && !controller_ending(core);) {
        auto_arena struct arena a;
        struct db_rows rows;
        arena_init(&a);
        if (!db_query(core->db, &a,
                      "SELECT id, project, training FROM training_instances WHERE summarised IS NULL"
                      " AND state IN ('completed', 'failed', 'stopped') ORDER BY id LIMIT 50",
                      DB_NO_ARGS, &rows, err))
            return false;
        n = rows.n;
        for (size_t i = 0; i < rows.n && !controller_ending(core); i++) {
            pthread_mutex_t *lock = training_metrics_lock(rows.row[i].v[0].i);
            bool ok = summarise_locked(core, &rows.row[i], err);
            pthread_mutex_unlock(lock);
            if (!ok)
                return false;
        }
    }
    return true;
}

const struct controller controller_summarise_runs = {
    .name = "summarise-runs",
    .title = {"Summarises the metrics of runs of an older version", "汇总旧版本训练实例的指标"},
    .thread = "collect",
    .gives_way = true,
    .first_s = 2,
    .every_s = 86400,
    .retry_s = 60,
    .tick = summarise_all,
};
