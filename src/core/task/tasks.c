/* The runner: threads that take waiting tasks and run them. */
#include "base/clock.h"
#include "base/log.h"
#include "base/messages.h"
#include "base/thread.h"
#include "core/account/accounts.h"
#include "core/task/tasks_own.h"

#include <stdarg.h>
#include <stdio.h>

#define KEEP_EVERY_NS UINT64_C(1000000000)
#define MAX_PROBLEMS  1000000

/* --- what a running task calls --- */

bool task_progress(struct task *t, int64_t done, int64_t total, struct err *err)
{
    struct task_run *r = t->own;
    r->done = done;
    r->total = total;
    if (atomic_load(&r->cancelled))
        return err_message(err, ERR_CONFLICT, NULL, MESSAGE_TASK_CANCELLED);
    if (atomic_load(&r->stopping))
        return err_message(err, ERR_UNAVAILABLE, NULL, MESSAGE_TASK_STOPPING);
    uint64_t now = clock_mono();
    if (r->kept_at && now - r->kept_at < KEEP_EVERY_NS)
        return true;
    r->kept_at = now;
    return task_keep_progress(r, err);
}

static void add_line(struct task *t, struct str file, const char *position, const char *reason,
                     const char *reason_zh)
{
    struct task_run *r = t->own;
    auto_buf struct buf line = {0};
    struct json_out o;
    json_begin(&o, &line);
    json_object(&o);
    json_kstr(&o, "file", file);
    json_kz(&o, "position", position);
    json_kz(&o, "reason", reason);
    if (reason_zh)
        json_kz(&o, "reason_zh", reason_zh);
    json_object_end(&o);
    buf_char(&line, '\n');
    if (!r->report)
        r->report = blob_writer_new(t->core->store, &r->report_err);
    if (r->report)
        blob_writer_add(r->report, buf_view(&line), &r->report_err);
}

/* Whether one more line is written; the first that is not says so. */
static bool has_line(struct task *t)
{
    static const char *const cut[] = {MESSAGE_REPORT_CUT};
    struct task_run *r = t->own;
    if (++r->problems == MAX_PROBLEMS + 1)
        add_line(t, STR(""), NULL, cut[1], cut[2]);
    return r->problems <= MAX_PROBLEMS && !r->report_err.code;
}

void task_problem(struct task *t, struct str file, const char *position, const char *fmt, ...)
{
    if (!has_line(t))
        return;
    char reason[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof reason, fmt, args);
    va_end(args);
    add_line(t, file, position, reason, NULL);
}

void task_note(struct task *t, struct str file, const char *position, const char *id, const char *en,
               const char *zh, ...)
{
    (void)id;
    if (!has_line(t))
        return;
    char reason[512], reason_zh[512];
    va_list args, again;
    va_start(args, zh);
    va_copy(again, args);
    vsnprintf(reason, sizeof reason, en, args);
    vsnprintf(reason_zh, sizeof reason_zh, zh, again);
    va_end(again);
    va_end(args);
    add_line(t, file, position, reason, reason_zh);
}

void task_result(struct task *t, struct str json)
{
    t->own->result = arena_str(t->arena, json);
}

void task_output(struct task *t, const struct digest *d, struct str name)
{
    t->own->has_output = true;
    t->own->output = *d;
    t->own->output_name = arena_str(t->arena, name);
}

/* --- making one --- */

const struct task_type *task_type_named(struct str name)
{
    for (size_t i = 0; i < task_type_count; i++)
        if (str_is(name, task_types[i]->name))
            return task_types[i];
    return NULL;
}

bool task_create(struct op *op, const struct task_new *n, int64_t *ret_id, struct err *err)
{
    if (!task_type_named(str_of(n->type)))
        return err_set(err, ERR_INTERNAL, NULL, "there is no type of task \"%s\"", n->type);
    struct object o = engine_object(op->arena, &kind_task);
    o.project = n->project;
    o.created_by = op->caller->user;
    *object_value(&o, "name") = db_textz(n->name);
    *object_value(&o, "type") = db_textz(n->type);
    *object_value(&o, "state") = db_textz("waiting");
    *object_value(&o, "subject_kind") = db_textz(n->subject_kind);
    *object_value(&o, "subject") = db_int(n->subject);
    *object_value(&o, "params") = db_text(n->params);
    *object_value(&o, "done") = *object_value(&o, "total") = *object_value(&o, "problems") = db_int(0);
    *object_value(&o, "cancel") = db_int(0);
    if (!engine_insert_row(op, &o, err))
        return false;
    *ret_id = o.id;
    return true;
}

struct start {
    const struct task_new *task;
    int64_t *id;
};

static bool start_write(struct op *op, void *ctx, struct err *err)
{
    struct start *s = ctx;
    return task_create(op, s->task, s->id, err);
}

bool task_start(struct core *core, const struct caller *c, const struct task_new *n, struct arena *a,
                int64_t *ret_id, struct err *err)
{
    struct start s = {n, ret_id};
    return engine_write(core, c, a, start_write, &s, err);
}

/* --- running --- */

static void list_add(struct tasks *ts, struct task_run *r)
{
    pthread_mutex_lock(&ts->lock);
    r->next = ts->running;
    ts->running = r;
    if (ts->stop)
        atomic_store(&r->stopping, true);
    pthread_mutex_unlock(&ts->lock);
}

static void list_remove(struct tasks *ts, struct task_run *r)
{
    pthread_mutex_lock(&ts->lock);
    struct task_run **at = &ts->running;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    pthread_mutex_unlock(&ts->lock);
}

void tasks_cancel(struct tasks *ts, int64_t id)
{
    if (!ts)
        return;
    pthread_mutex_lock(&ts->lock);
    for (struct task_run *r = ts->running; r; r = r->next)
        if (r->task.id == id)
            atomic_store(&r->cancelled, true);
    pthread_mutex_unlock(&ts->lock);
}

/* Whether somebody cancelled it, also before it was on the list: since it was taken, or before a restart. */
static bool is_cancelled(struct task *t)
{
    struct db_row row;
    struct err ignored; /* then the database fails the task too */
    bool found;
    return db_query_one(t->core->db, t->arena, "SELECT cancel FROM tasks WHERE id = ?",
                        db_args(db_int(t->id)), &row, &found, &ignored) &&
           found && row.v[0].i;
}

static bool run_type(struct task_run *r, const struct object *o, struct err *err)
{
    struct task *t = &r->task;
    r->type = task_type_named(object_text(o, "type"));
    if (!r->type)
        return err_set(err, ERR_INTERNAL, NULL, "this program does not know the type of the task");
    struct str params = object_text(o, "params");
    t->params = json_parse(t->arena, params.p ? params : STR("{}"), err);
    if (!t->params)
        return false;
    if (o->created_by == 0)
        t->caller = caller_system;
    else if (!accounts_caller_of(t->core->accounts, o->created_by, &t->caller, err))
        return false;
    bool late = r->type->undo_always && atomic_load(&r->cancelled);
    bool ok = late ? err_message(err, ERR_CONFLICT, NULL, MESSAGE_TASK_CANCELLED) : r->type->run(t, err);
    if (ok && r->report_err.code) {
        *err = r->report_err;
        ok = false;
    }
    if (!ok && is_cancelled(t))
        atomic_store(&r->cancelled, true);
    if (!ok && r->type->undo && (atomic_load(&r->cancelled) || !atomic_load(&r->stopping)))
        r->type->undo(t);
    if (o->created_by != 0)
        accounts_caller_release(t->core->accounts, &t->caller);
    return ok;
}

static void run_one(struct tasks *ts, const struct object *o)
{
    struct task_run r = {0};
    struct err err = {0};
    arena_init(&r.arena);
    r.task = (struct task){.core = ts->core,
                           .arena = &r.arena,
                           .id = o->id,
                           .project = o->project,
                           .subject = object_int(o, "subject"),
                           .own = &r};
    list_add(ts, &r);
    if (is_cancelled(&r.task))
        atomic_store(&r.cancelled, true);
    bool ok = run_type(&r, o, &err);
    const char *state = ok                          ? "done"
                        : atomic_load(&r.cancelled) ? "cancelled"
                        : atomic_load(&r.stopping)  ? "waiting"
                                                    : "failed";
    struct err end_err = {0};
    if (!task_end(&r, state, ok || strcmp(state, "waiting") == 0 ? NULL : &err, &end_err))
        log_error("task %lld ended as %s but this could not be kept: %s", (long long)r.task.id, state,
                  end_err.message);
    list_remove(ts, &r);
    arena_release(&r.arena);
}

static void wake(struct tasks *ts)
{
    pthread_mutex_lock(&ts->lock);
    ts->again = true;
    pthread_cond_signal(&ts->work);
    pthread_mutex_unlock(&ts->lock);
}

/* One task, if there is one. More may wait: another thread looks while this one works, and this one
 * afterwards. */
static void take_and_run(struct tasks *ts)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct object o = {0};
    struct err err = {0};
    bool found;
    core_await(ts->core);
    if (!task_take(ts->core, &a, &o, &found, &err)) {
        log_error("cannot look for tasks: %s", err.message);
    } else if (found) {
        wake(ts);
        run_one(ts, &o);
        wake(ts);
    }
}

static void *task_thread(void *arg)
{
    struct tasks *ts = arg;
    db_background();
    pthread_mutex_lock(&ts->lock);
    while (!ts->stop) {
        if (!ts->again) {
            pthread_cond_wait(&ts->work, &ts->lock);
            continue;
        }
        ts->again = false;
        pthread_mutex_unlock(&ts->lock);
        take_and_run(ts);
        pthread_mutex_lock(&ts->lock);
    }
    pthread_mutex_unlock(&ts->lock);
    return NULL;
}

void tasks_wake(struct core *core)
{
    if (core->tasks)
        wake(core->tasks);
}

struct tasks *tasks_start(struct core *core, unsigned threads, struct err *err)
{
    if (!task_requeue(core, err))
        return NULL;
    struct tasks *ts = base_zalloc(sizeof *ts);
    ts->core = core;
    ts->threads = threads;
    ts->again = true;
    pthread_mutex_init(&ts->lock, NULL);
    pthread_cond_init(&ts->work, NULL);
    ts->thread = base_zalloc(threads * sizeof *ts->thread);
    for (unsigned i = 0; i < threads; i++)
        ts->thread[i] = thread_start("tasks", task_thread, ts);
    return ts;
}

void tasks_stop(struct tasks *ts)
{
    if (!ts)
        return;
    pthread_mutex_lock(&ts->lock);
    ts->stop = true;
    for (struct task_run *r = ts->running; r; r = r->next)
        atomic_store(&r->stopping, true);
    pthread_cond_broadcast(&ts->work);
    pthread_mutex_unlock(&ts->lock);
    for (unsigned i = 0; i < ts->threads; i++)
        pthread_join(ts->thread[i], NULL);
    pthread_mutex_destroy(&ts->lock);
    pthread_cond_destroy(&ts->work);
    free(ts->thread);
    free(ts);
}
