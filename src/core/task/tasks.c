/* The controller that starts waiting tasks, and what runs them. */
#include "base/clock.h"
#include "base/log.h"
#include "base/messages.h"
#include "base/pool.h"
#include "core/account/accounts.h"
#include "core/controllers.h"
#include "core/task/tasks_own.h"

#include <stdarg.h>
#include <stdio.h>

#define KEEP_EVERY_NS UINT64_C(1000000000)
#define MAX_PROBLEMS  1000000
#define HOUR_US       INT64_C(3600000000)

/* --- how long it may take --- */

static double hours_of(const struct core *core, const struct task_type *type)
{
    for (size_t i = 0; type && i < core->task_hours.n; i++)
        if (strcmp(core->task_hours.items[i].name, type->name) == 0)
            return core->task_hours.items[i].hours;
    return type && type->hours ? type->hours : TASK_HOURS;
}

static bool too_long(const struct task_run *r, struct err *err)
{
    return err_message(err, ERR_CONFLICT, NULL, MESSAGE_TASK_TOO_LONG, hours_of(r->task.core, r->type));
}

/* --- what a running task calls --- */

bool task_progress(struct task *t, int64_t done, int64_t total, struct err *err)
{
    struct task_run *r = t->own;
    r->done = done;
    r->total = total;
    if (atomic_load(&r->cancelled))
        return err_message(err, ERR_CONFLICT, NULL, MESSAGE_TASK_CANCELLED);
    if (atomic_load(&r->late))
        return too_long(r, err);
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

void task_note_err(struct task *t, struct str file, const char *position, const struct err *why)
{
    if (has_line(t))
        add_line(t, file, position, why->message, why->id ? why->zh : NULL);
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

struct words task_name(struct arena *a, const char *id, const char *en, const char *zh, ...)
{
    (void)id;
    struct words name;
    va_list args, again;
    va_start(args, zh);
    va_copy(again, args);
    name.en = arena_vprintf(a, en, args);
    name.zh = arena_vprintf(a, zh, again);
    va_end(again);
    va_end(args);
    return name;
}

bool task_create(struct op *op, const struct task_new *n, int64_t *ret_id, struct err *err)
{
    if (!task_type_named(str_of(n->type)))
        return err_set(err, ERR_INTERNAL, NULL, "there is no type of task \"%s\"", n->type);
    struct object o = engine_object(op->arena, &kind_task);
    o.project = n->project;
    o.created_by = op->caller->user;
    *object_value(&o, "name") = db_textz(n->name.en);
    *object_value(&o, "name_zh") = db_textz(n->name.zh);
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

/* Whether it was cancelled, also before it was on the list: since it was taken, or before a restart. */
static bool is_cancelled(struct task *t)
{
    struct db_row row;
    struct err ignored; /* then the database fails the task too */
    bool found;
    return db_query_one(t->core->db, t->arena, "SELECT cancel FROM tasks WHERE id = ?",
                        db_args(db_int(t->id)), &row, &found, &ignored) &&
           found && row.v[0].i;
}

/* It ends for good unless only the server stops. */
static bool will_not_go_on(struct task_run *r)
{
    return atomic_load(&r->late) || !atomic_load(&r->stopping);
}

static bool run_type(struct task_run *r, const struct object *o, struct err *err)
{
    struct task *t = &r->task;
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
    if (!ok && r->type->undo && (atomic_load(&r->cancelled) || will_not_go_on(r)))
        r->type->undo(t);
    if (o->created_by != 0)
        accounts_caller_release(t->core->accounts, &t->caller);
    return ok;
}

static const char *state_after(struct task_run *r, bool ok)
{
    return ok ? "done" : atomic_load(&r->cancelled) ? "cancelled" : will_not_go_on(r) ? "failed" : "waiting";
}

static void run_one(void *arg)
{
    struct task_run *r = arg;
    struct core *core = r->task.core;
    struct err err = {0}, end_err = {0};
    db_background();
    if (is_cancelled(&r->task))
        atomic_store(&r->cancelled, true);
    bool ok = run_type(r, &r->object, &err);
    const char *state = state_after(r, ok);
    if (strcmp(state, "failed") == 0 && atomic_load(&r->late)) {
        too_long(r, &err);
        task_note(&r->task, STR(""), NULL, MESSAGE_TASK_TOO_LONG, hours_of(core, r->type));
    }
    if (!task_end(r, state, ok || strcmp(state, "waiting") == 0 ? NULL : &err, &end_err))
        log_error("task %lld ended as %s but this could not be kept: %s", (long long)r->task.id, state,
                  end_err.message);
    list_remove(core->tasks, r);
    arena_release(&r->arena);
    free(r);
    controller_wake(core, &controller_tasks);
}

/* --- choosing --- */

bool task_fits(unsigned limit, unsigned running, unsigned of_project)
{
    return running < limit && (!of_project || (of_project < (limit + 1) / 2 && running + 1 < limit));
}

/* How many run: of all, of the same type, and of those the same project's. */
struct count {
    unsigned all, all_of_project, type, type_of_project;
};

static struct count count_running(struct tasks *ts, const struct task_choice *c)
{
    struct count n = {0};
    pthread_mutex_lock(&ts->lock);
    for (const struct task_run *r = ts->running; r; r = r->next) {
        bool same_project = r->task.project == c->project, same_type = r->type == c->type;
        n.all++;
        n.all_of_project += same_project;
        n.type += same_type;
        n.type_of_project += same_type && same_project;
    }
    pthread_mutex_unlock(&ts->lock);
    return n;
}

/* Of those that may start the one whose project has the fewest running, then the oldest; NULL: none. */
static const struct task_choice *choose(struct tasks *ts, const struct task_choice *list, size_t n)
{
    const struct task_choice *best = NULL;
    unsigned fewest = 0;
    for (size_t i = 0; i < n; i++) {
        struct count now = count_running(ts, &list[i]);
        unsigned at_once = list[i].type && list[i].type->at_once ? list[i].type->at_once : TASK_AT_ONCE;
        if (task_fits(TASKS_MAX, now.all, now.all_of_project) &&
            task_fits(at_once, now.type, now.type_of_project) && (!best || now.all_of_project < fewest)) {
            best = &list[i];
            fewest = now.all_of_project;
        }
    }
    return best;
}

static void begin(struct tasks *ts, const struct task_choice *c, struct task_run *r)
{
    r->type = c->type;
    r->begun = clock_now();
    r->task = (struct task){.core = ts->core,
                            .arena = &r->arena,
                            .id = r->object.id,
                            .project = r->object.project,
                            .subject = object_int(&r->object, "subject"),
                            .own = r};
    pthread_mutex_lock(&ts->lock);
    r->next = ts->running;
    ts->running = r;
    atomic_store(&r->stopping, controller_ending(ts->core));
    pthread_mutex_unlock(&ts->lock);
    pool_submit(ts->threads, run_one, r); /* there are as many places as threads */
}

/* Starts one; *more: it did. */
static bool start_one(struct tasks *ts, bool *more, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct task_choice *list;
    size_t n;
    *more = false;
    if (!task_waiting(ts->core, &a, &list, &n, err))
        return false;
    const struct task_choice *c = choose(ts, list, n);
    if (!c)
        return true;
    struct task_run *r = base_zalloc(sizeof *r);
    bool found = false;
    arena_init(&r->arena);
    bool ok = task_take(ts->core, &r->arena, c->id, &r->object, &found, err);
    *more = ok;
    if (ok && found) {
        begin(ts, c, r);
        return true;
    }
    arena_release(&r->arena);
    free(r);
    return ok;
}

/* --- the controller --- */

static void end_late(struct tasks *ts)
{
    int64_t now = clock_now();
    pthread_mutex_lock(&ts->lock);
    for (struct task_run *r = ts->running; r; r = r->next)
        if ((double)(now - r->begun) > hours_of(ts->core, r->type) * HOUR_US &&
            !atomic_exchange(&r->late, true)) {
            atomic_store(&r->stopping, true);
            log_info("task %lld takes too long: it is ended, late", (long long)r->task.id);
        }
    pthread_mutex_unlock(&ts->lock);
}

static bool look(struct core *core, struct err *err)
{
    bool more = true;
    end_late(core->tasks);
    while (more && !controller_ending(core))
        if (!start_one(core->tasks, &more, err))
            return false;
    return true;
}

static bool start(struct core *core, const struct core_options *o, struct err *err)
{
    (void)o;
    if (!task_requeue(core, err))
        return false;
    struct tasks *ts = base_zalloc(sizeof *ts);
    ts->core = core;
    ts->threads = pool_new("task", TASKS_MAX, TASKS_MAX);
    pthread_mutex_init(&ts->lock, NULL);
    core->tasks = ts;
    return true;
}

/* The running ones go back to waiting. */
static void end(struct core *core)
{
    pthread_mutex_lock(&core->tasks->lock);
    for (struct task_run *r = core->tasks->running; r; r = r->next)
        atomic_store(&r->stopping, true);
    pthread_mutex_unlock(&core->tasks->lock);
}

static void stop(struct core *core)
{
    pool_free(core->tasks->threads);
}

static void free_tasks(struct core *core)
{
    pthread_mutex_destroy(&core->tasks->lock);
    free(core->tasks);
}

const struct controller controller_tasks = {
    .name = "tasks",
    .title = {"Starts background tasks, ends those that take too long", "启动后台任务，结束超时的任务"},
    .thread = "tasks",
    .every_s = 2,
    .woken_by = {{"task", "create"}},
    .start = start,
    .tick = look,
    .end = end,
    .stop = stop,
    .free = free_tasks,
};
