/* How a task's row changes while it runs. */
#include "base/clock.h"
#include "core/task/tasks_own.h"

bool task_waiting(struct core *core, struct arena *a, struct task_choice **ret, size_t *ret_n,
                  struct err *err)
{
    struct db_rows rows;
    if (!db_query(core->db, a,
                  "SELECT MIN(w.id), w.project, w.type FROM tasks w WHERE w.state = 'waiting' AND NOT EXISTS"
                  " (SELECT 1 FROM tasks r WHERE r.state = 'running' AND r.subject_kind = w.subject_kind AND"
                  " r.subject = w.subject) GROUP BY w.type, w.project ORDER BY MIN(w.id)",
                  DB_NO_ARGS, &rows, err))
        return false;
    *ret = arena_array(a, struct task_choice, rows.n + 1);
    *ret_n = rows.n;
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        (*ret)[i] = (struct task_choice){v[0].i, v[1].i, task_type_named(v[2].s)};
    }
    return true;
}

struct take {
    int64_t id;
    struct object *ret;
    bool found;
};

static bool take_write(struct op *op, void *ctx, struct err *err)
{
    struct take *t = ctx;
    if (!engine_load_row(op, &kind_task, t->id, t->ret, &t->found, err))
        return false;
    t->found = t->found && str_is(object_text(t->ret, "state"), "waiting");
    if (!t->found)
        return true;
    *object_value(t->ret, "state") = db_textz("running");
    *object_value(t->ret, "started_at") = db_int(clock_now());
    *object_value(t->ret, "done") = db_int(0);
    *object_value(t->ret, "problems") = db_int(0);
    return engine_update_row(op, t->ret, err);
}

bool task_take(struct core *core, struct arena *a, int64_t id, struct object *ret, bool *found,
               struct err *err)
{
    struct take t = {id, ret, false};
    if (!engine_write(core, &caller_system, a, take_write, &t, err))
        return false;
    *found = t.found;
    return true;
}

static bool requeue_write(struct op *op, void *ctx, struct err *err)
{
    (void)ctx;
    struct db_rows rows;
    if (!conn_query(op->conn, op->arena, "SELECT id FROM tasks WHERE state = 'running'", DB_NO_ARGS, &rows,
                    err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct object task;
        bool found;
        if (!engine_load_row(op, &kind_task, rows.row[i].v[0].i, &task, &found, err))
            return false;
        *object_value(&task, "state") = db_textz("waiting");
        if (!engine_update_row(op, &task, err))
            return false;
    }
    return true;
}

bool task_requeue(struct core *core, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    return engine_write(core, &caller_system, &a, requeue_write, NULL, err);
}

bool task_keep_progress(struct task_run *r, struct err *err)
{
    return engine_write_status(r->task.core, &kind_task, r->task.id,
                               ENGINE_STATUSES(status_set("done", db_int(r->done)),
                                               status_set("total", db_int(r->total)),
                                               status_set("problems", db_int(r->problems))),
                               err);
}

struct ending {
    struct task_run *run;
    const char *state;
    const struct err *why; /* NULL: it did not fail */
    bool has_report;
    struct digest report;
    char hex[SHA256_HEX + 1];
};

static bool keep_output(struct op *op, const struct task_run *r, struct object *now, struct err *err)
{
    if (!r->has_output)
        return true;
    char *hex = arena_alloc(op->arena, SHA256_HEX + 1);
    digest_hex(&r->output, hex);
    *object_value(now, "output") = db_textz(hex);
    *object_value(now, "output_name") = db_text(r->output_name);
    return store_use(op->conn, now->project, &r->output, 1, err);
}

static bool end_write(struct op *op, void *ctx, struct err *err)
{
    struct ending *e = ctx;
    struct object now;
    bool found;
    if (!engine_load_row(op, &kind_task, e->run->task.id, &now, &found, err))
        return false;
    if (!found)
        return true; /* its project was deleted meanwhile */
    *object_value(&now, "state") = db_textz(e->state);
    *object_value(&now, "message") = e->why ? db_textz(e->why->message) : db_null();
    *object_value(&now, "message_zh") = e->why && e->why->id ? db_textz(e->why->zh) : db_null();
    *object_value(&now, "done") = db_int(e->run->done);
    *object_value(&now, "total") = db_int(e->run->total);
    *object_value(&now, "problems") = db_int(e->run->problems);
    *object_value(&now, "result") = e->run->result.p ? db_text(e->run->result) : db_null();
    if (strcmp(e->state, "waiting") != 0)
        *object_value(&now, "ended_at") = db_int(clock_now());
    if (e->has_report) {
        *object_value(&now, "report") = db_textz(e->hex);
        if (!store_use(op->conn, now.project, &e->report, 1, err))
            return false;
    }
    if (!keep_output(op, e->run, &now, err))
        return false;
    return engine_update_row(op, &now, err);
}

bool task_end(struct task_run *r, const char *state, const struct err *why, struct err *err)
{
    struct ending e = {.run = r, .state = state, .why = why};
    struct blob_writer *report = r->report;
    r->report = NULL;
    if (report && strcmp(state, "waiting") == 0) {
        blob_writer_abort(report);
    } else if (report) {
        if (!blob_writer_finish(report, &e.report, NULL, err))
            return false;
        e.has_report = true;
        digest_hex(&e.report, e.hex);
    }
    struct err full;
    while (!engine_write(r->task.core, &caller_system, r->task.arena, end_write, &e, err)) {
        if (err->code != ERR_QUOTA || !(r->has_output || e.has_report))
            return false;
        /* Whatever the project may store, the task ends: without what it made, then without its report. */
        full = *err;
        if (r->has_output) {
            e.state = "failed";
            e.why = &full;
        }
        e.has_report &= r->has_output;
        r->has_output = false;
        *err = (struct err){0};
    }
    return true;
}
