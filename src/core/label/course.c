/* The course of a task: opening, pausing, closing it; who gets what is left. */
#include "core/controllers.h"
#include "core/label/label_own.h"
#include "core/pending.h"

struct course {
    const struct object *task;
    const char *from, *to; /* states */
    bool accept_rest;
    struct object now;
};

static bool move(struct op *op, struct course *c, struct err *err)
{
    if (!label_task_now(op, c->task, c->from, &c->now, err))
        return false;
    *object_value(&c->now, "state") = db_textz(c->to);
    return engine_update_row(op, &c->now, err);
}

static bool start_task(struct op *op, const struct object *task, const struct task_type *type,
                       struct words name, struct err *err)
{
    int64_t id;
    return task_create(op,
                       &(struct task_new){.type = type->name,
                                          .project = task->project,
                                          .subject_kind = kind_label_task.name,
                                          .subject = task->id,
                                          .name = name,
                                          .params = STR("{}")},
                       &id, err);
}

static bool reload(struct op *op, struct course *c, struct err *err)
{
    bool found;
    return engine_load_row(op, &kind_label_task, c->task->id, &c->now, &found, err);
}

/* --- opening: the first samples now, the others by a background task --- */

static bool open_write(struct op *op, void *ctx, struct err *err)
{
    struct course *c = ctx;
    struct object version;
    struct sample_set set;
    struct fill f = {0};
    if (!move(op, c, err) || !label_set_of(op, &c->now, &version, &set, err) ||
        (object_int(&c->now, "seats") == 1 && !sample_set_open(&set, err)) ||
        !fill_step(op, &c->now, &f, err))
        return false;
    if (f.left &&
        !start_task(op, &c->now, &task_label_fill,
                    task_name(op->arena, MESSAGE_NAME_LABEL_FILL, STR_ARG(object_text(&c->now, "name"))),
                    err))
        return false;
    return reload(op, c, err);
}

static bool course_run(struct op *op, struct object *o, struct course *c, engine_write_fn fn,
                       struct json_out *out, struct err *err)
{
    c->task = o;
    return engine_write(op->core, op->caller, op->arena, fn, c, err) && engine_answer(op, &c->now, out, err);
}

bool run_open(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
              int *status, struct err *err)
{
    (void)input;
    (void)status;
    struct course c = {.from = "draft", .to = "open"};
    return course_run(op, o, &c, open_write, out, err);
}

/* What came since the samples were listed is listed too. */
bool run_resume(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                int *status, struct err *err)
{
    (void)input;
    (void)status;
    struct course c = {.from = "paused", .to = "open"};
    return course_run(op, o, &c, open_write, out, err);
}

static bool pause_write(struct op *op, void *ctx, struct err *err)
{
    return move(op, ctx, err);
}

/* Nothing more is given out; what people hold they may finish. */
bool run_pause(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
               int *status, struct err *err)
{
    (void)input;
    (void)status;
    struct course c = {.from = "open", .to = "paused"};
    return course_run(op, o, &c, pause_write, out, err);
}

/* --- closing --- */

static bool close_write(struct op *op, void *ctx, struct err *err)
{
    struct course *c = ctx;
    if (!move(op, c, err) ||
        !conn_exec(
            op->conn, "UPDATE label_assignments SET state = ?, ended = ? WHERE task = ? AND leased = 1",
            db_args(db_int(ASSIGNMENT_RETURNED), db_int(clock_now()), db_int(c->task->id)), NULL, err) ||
        !conn_exec(op->conn,
                   "UPDATE label_assignments SET leased = 0, holds = 0, live = 0 WHERE task = ?"
                   " AND (leased = 1 OR holds = 1 OR live = 1)",
                   db_args(db_int(c->task->id)), NULL, err))
        return false;
    return !c->accept_rest ||
           start_task(op, &c->now, &task_label_close,
                      task_name(op->arena, MESSAGE_NAME_LABEL_CLOSE, STR_ARG(object_text(&c->now, "name"))),
                      err);
}

bool run_close(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
               int *status, struct err *err)
{
    (void)status;
    struct course c = {.from = "open paused", .to = "done", .accept_rest = input[0].i != 0};
    return course_run(op, o, &c, close_write, out, err);
}

bool run_cancel(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                int *status, struct err *err)
{
    (void)input;
    (void)status;
    struct course c = {.from = "draft open paused", .to = "cancelled"};
    return course_run(op, o, &c, close_write, out, err);
}

/* --- accepting the rest, by a background task --- */

#define ACCEPT_STEP 20 /* samples: about a millisecond */

struct accepting {
    struct task *task;
    int64_t from;            /* the sample that the write begins behind: it may be run twice */
    int64_t after, accepted; /* after: the sample that the walk is at */
    bool left;
};

static bool accept_one(struct op *op, const struct sample_set *set, const struct label_item *old,
                       struct err *err)
{
    struct label_item now = *old;
    struct sample s;
    struct db_row row;
    bool found;
    now.state = ITEM_ACCEPTED;
    now.in_review = false;
    if (!conn_query_one(op->conn, op->arena, "SELECT 1 FROM samples WHERE id = ? AND version = ?",
                        db_args(db_int(old->sample), db_int(set->version)), &row, &found, err))
        return false;
    struct sample_edit edit = {.id = old->sample, .state = SAMPLE_ACCEPTED, .person = true};
    return (!found || sample_change(op, set, &edit, &s, err)) && item_save(op, old, &now, err);
}

static bool accept_step(struct op *op, const struct object *task, const struct sample_set *set,
                        struct accepting *w, struct err *err)
{
    struct db_rows rows;
    if (!conn_query(op->conn, op->arena,
                    "SELECT sample FROM label_items WHERE task = ? AND sample > ? AND state IN (?, ?)"
                    " ORDER BY sample LIMIT ?",
                    db_args(db_int(task->id), db_int(w->after), db_int(ITEM_LABELLED), db_int(ITEM_REVIEWING),
                            db_int(ACCEPT_STEP)),
                    &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct label_item item;
        if (!item_load(op, task->id, rows.row[i].v[0].i, &item, err) || !accept_one(op, set, &item, err))
            return false;
        w->after = item.sample;
    }
    w->accepted += (int64_t)rows.n;
    w->left = rows.n == ACCEPT_STEP;
    return true;
}

static bool accept_write(struct op *op, void *ctx, struct err *err)
{
    struct accepting *w = ctx;
    struct object task, version;
    struct sample_set set;
    bool found;
    w->accepted = 0;
    w->after = w->from;
    w->left = false;
    if (!engine_load_row(op, &kind_label_task, w->task->subject, &task, &found, err))
        return false;
    if (found && !label_set_of(op, &task, &version, &set, err))
        return false;
    do {
        if (found && !accept_step(op, &task, &set, w, err))
            return false;
    } while (w->left && conn_goes_on(op->conn));
    if (found)
        pending_add(op->pending, &version, "samples");
    return true;
}

static bool run_accept(struct task *t, struct err *err)
{
    struct accepting w = {.task = t};
    int64_t done = 0;
    do {
        auto_arena struct arena a;
        arena_init(&a);
        if (!engine_write(t->core, &t->caller, &a, accept_write, &w, err))
            return false;
        done += w.accepted;
        w.from = w.after;
        if (!task_progress(t, done, done, err))
            return false;
    } while (w.left);
    return true;
}

const struct task_type task_label_close = {
    .name = "close-label-task",
    .title = {"Accept the rest of a labelling task", "通过标注任务的其余样本"},
    .run = run_accept};

/* --- raising the ratio for one person --- */

struct raising {
    const struct object *task;
    int64_t user, ratio;
    bool remove;
    struct object now;
};

static bool raise_write(struct op *op, void *ctx, struct err *err)
{
    struct raising *r = ctx;
    auto_buf struct buf text = {0};
    struct json_out out;
    size_t i, n;
    yyjson_val *k, *v;
    bool in_team;
    if (!label_task_now(op, r->task, "draft open paused", &r->now, err) ||
        !team_has(op, object_int(&r->now, "labelling_team"), r->user, &in_team, err))
        return false;
    if (!in_team)
        return err_message(err, ERR_INVALID, "user", MESSAGE_LABEL_NO_MEMBER, (long long)r->user);
    yyjson_val *old = json_parse(op->arena, object_text(&r->now, "raised"), err);
    const char *key = arena_printf(op->arena, "%lld", (long long)r->user);
    if (!old)
        return false;
    json_begin(&out, &text);
    json_object(&out);
    yyjson_obj_foreach(old, i, n, k, v)
    {
        if (strcmp(yyjson_get_str(k), key) == 0)
            continue;
        json_key(&out, yyjson_get_str(k));
        json_value(&out, v);
    }
    if (!r->remove)
        json_kint(&out, key, r->ratio);
    json_object_end(&out);
    *object_value(&r->now, "raised") = db_text(arena_str(op->arena, buf_view(&text)));
    return engine_update_row(op, &r->now, err);
}

bool run_raise(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
               int *status, struct err *err)
{
    (void)status;
    struct raising r = {
        .task = o, .user = input[0].i, .ratio = input[1].i, .remove = input[1].type == DB_NULL};
    return engine_write(op->core, op->caller, op->arena, raise_write, &r, err) &&
           engine_answer(op, &r.now, out, err);
}

/* --- handing over --- */

struct handing {
    const struct object *task;
    int64_t from, to;
    int64_t handed, returned;
    struct object now;
};

/* Where the other one has a seat of the sample already it goes back instead; what was rejected then needs
 * somebody new. */
static bool hand_one(struct op *op, struct handing *h, struct assignment *a, struct err *err)
{
    struct db_row row;
    struct label_item old, item;
    bool has;
    if (!conn_query_one(op->conn, op->arena,
                        "SELECT 1 FROM label_assignments WHERE sample = ? AND worker = ? AND live = 1"
                        " AND stage = 0",
                        db_args(db_int(a->sample), db_int(h->to)), &row, &has, err))
        return false;
    if (!has) {
        a->worker = h->to;
        a->until = clock_now() + object_int(&h->now, "lease") * 1000000;
        h->handed++;
        return assignment_save(op, a, err);
    }
    h->returned++;
    if (!a->rounds)
        return lease_return(op, a, err);
    if (!item_load(op, a->task, a->sample, &old, err))
        return false;
    item = old;
    item.given--;
    item.state = ITEM_WAITING;
    a->state = ASSIGNMENT_RETURNED;
    a->leased = a->holds = a->live = false;
    return assignment_save(op, a, err) && item_save(op, &old, &item, err);
}

static bool hand_write(struct op *op, void *ctx, struct err *err)
{
    struct handing *h = ctx;
    struct db_rows rows;
    bool in_team;
    h->handed = h->returned = 0;
    if (!label_task_now(op, h->task, "open paused", &h->now, err) ||
        !team_has(op, object_int(&h->now, "labelling_team"), h->to, &in_team, err))
        return false;
    if (!in_team || h->to == h->from)
        return err_message(err, ERR_INVALID, "to", MESSAGE_LABEL_NO_MEMBER, (long long)h->to);
    if (!conn_query(op->conn, op->arena,
                    "SELECT " ASSIGNMENT_COLUMNS " FROM label_assignments a WHERE a.task = ? AND a.worker = ?"
                    " AND a.stage = 0 AND a.state IN (?, ?) AND a.holds = 1 LIMIT 2000",
                    db_args(db_int(h->task->id), db_int(h->from), db_int(ASSIGNMENT_LEASED),
                            db_int(ASSIGNMENT_REJECTED)),
                    &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct assignment a = assignment_row(&rows.row[i]);
        if (!hand_one(op, h, &a, err))
            return false;
    }
    return true;
}

bool run_hand(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
              int *status, struct err *err)
{
    (void)status;
    struct handing h = {.task = o, .from = input[0].i, .to = input[1].i};
    if (!engine_write(op->core, op->caller, op->arena, hand_write, &h, err))
        return false;
    json_object(out);
    json_kint(out, "handed", h.handed);
    json_kint(out, "returned", h.returned);
    json_object_end(out);
    return true;
}

/* --- what deleted tasks leave behind --- */

#define PURGE_STEP 300 /* rows of one part of a write */

static const char *const purged[] = {"label_items", "label_assignments", "label_decisions",
                                     "label_notes", "label_hours",       "label_cursors"};
/* What tells its rows apart. */
static const char *const purge_keys[] = {"sample", "id", "id", "id", "hour", "worker"};

struct purging {
    int64_t task;
    size_t table;
    bool left;
};

static bool purge_write(struct op *op, void *ctx, struct err *err)
{
    struct purging *p = ctx;
    const char *sql = arena_printf(op->arena,
                                   "DELETE FROM %s WHERE task = ? AND %s IN"
                                   " (SELECT %s FROM %s WHERE task = ? LIMIT %d)",
                                   purged[p->table], purge_keys[p->table], purge_keys[p->table],
                                   purged[p->table], PURGE_STEP);
    int64_t n;
    do {
        if (!conn_exec(op->conn, sql, db_args(db_int(p->task), db_int(p->task)), &n, err))
            return false;
    } while (n && conn_goes_on(op->conn));
    p->left = n > 0;
    return true;
}

static bool purge_task(struct core *core, const struct db_value *v, struct arena *a, struct err *err)
{
    (void)a;
    struct purging p = {.task = v[0].i};
    for (; p.table < countof(purged); p.table++)
        do {
            auto_arena struct arena step;
            arena_init(&step);
            if (controller_ending(core))
                return err_set(err, ERR_UNAVAILABLE, NULL, "the server stops");
            if (!engine_write(core, &caller_system, &step, purge_write, &p, err))
                return false;
        } while (p.left);
    return true;
}

static bool collect(struct core *core, struct err *err)
{
    return purge_rows(core, &(struct purge){"label_purges", "task", "", purge_task}, err);
}

const struct controller controller_collect_label_tasks = {
    .name = "collect-label-tasks",
    .title = {"Removes what deleted labelling tasks leave behind", "清除已删除标注任务的数据"},
    .thread = "collect",
    .gives_way = true,
    .first_s = 60,
    .every_s = 60,
    .woken_by = {{"label_task", "delete"}},
    .tick = collect,
};
