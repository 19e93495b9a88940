#include "core/data/version.h"

#include "base/messages.h"
#include "core/data/classes.h"
#include "core/data/relabel.h"
#include "core/data/sample_own.h"
#include "core/refs.h"

bool version_is_idle(struct op *op, int64_t version, struct err *err)
{
    struct db_row row;
    bool found;
    const char *sql = "SELECT name FROM tasks WHERE subject_kind = 'dataset_version' AND subject = ?"
                      " AND state IN ('waiting', 'running') LIMIT 1";
    struct db_args args = db_args(db_int(version));
    bool ok = op->conn ? conn_query_one(op->conn, op->arena, sql, args, &row, &found, err)
                       : db_query_one(op->core->db, op->arena, sql, args, &row, &found, err);
    if (!ok)
        return false;
    return !found ||
           err_set(err, ERR_CONFLICT, NULL,
                   "the task \"" STR_FMT "\" works on the version: wait or cancel it", STR_ARG(row.v[0].s));
}

struct start {
    const struct object *version;
    const char *type;
    struct words name;
    struct str params;
    int64_t task;
};

static bool start_write(struct op *op, void *ctx, struct err *err)
{
    struct start *s = ctx;
    struct object now;
    bool found;
    if (!engine_load_row(op, s->version->kind, s->version->id, &now, &found, err))
        return false;
    if (!found)
        return err_message(err, ERR_NOT_FOUND, NULL, MESSAGE_VERSION_DELETED);
    return task_create(op,
                       &(struct task_new){.type = s->type,
                                          .project = now.project,
                                          .subject_kind = "dataset_version",
                                          .subject = now.id,
                                          .name = s->name,
                                          .params = s->params},
                       &s->task, err);
}

bool version_start_task(struct op *op, const struct object *version, const char *type, struct words name,
                        struct str params, struct json_out *out, struct err *err)
{
    struct start s = {version, type, name, params, 0};
    return engine_write(op->core, op->caller, op->arena, start_write, &s, err) &&
           engine_answer_id(op, &kind_task, s.task, out, err);
}

/* --- a version that its task did not finish --- */

static bool undo_write(struct op *op, void *ctx, struct err *err)
{
    const struct task *t = ctx;
    struct object o;
    struct str refs;
    bool found;
    if (!engine_load_row(op, &kind_dataset_version, t->subject, &o, &found, err))
        return false;
    if (!found)
        return true;
    if (!refs_find(op, &o, &refs, err))
        return false;
    if (refs.p || str_is(object_text(&o, "state"), "published"))
        return err_set(err, ERR_CONFLICT, NULL, "it is in use");
    return engine_delete_row(op, &o, err) && kind_dataset_version.after_delete(op, &o, err);
}

void version_undo(struct task *t)
{
    struct err err = {0};
    auto_arena struct arena a;
    arena_init(&a);
    if (!engine_write(t->core, &caller_system, &a, undo_write, t, &err)) {
        err_because(&err, err.code, NULL, &err, MESSAGE_VERSION_STAYS);
        task_note_err(t, STR("version"), NULL, &err);
    }
}

/* --- copying samples to a new version --- */

#define COPY_STEP 40 /* samples: about a millisecond */
struct copy {
    struct task *task;
    struct sample_set from, to;
    bool left;
    int64_t rows; /* of the last write */
};

static bool load_set(struct op *op, int64_t version, struct sample_set *ret, struct err *err)
{
    struct object o;
    bool found;
    if (!engine_load_row(op, &kind_dataset_version, version, &o, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, NULL, "version %lld was deleted meanwhile", (long long)version);
    return sample_set_of(op, &o, ret, err);
}

/* Goes on after the last position that is there: also after a crash. */
static bool copy_write(struct op *op, void *ctx, struct err *err)
{
    struct copy *c = ctx;
    struct db_row row;
    bool found;
    if (!load_set(op, yyjson_get_sint(yyjson_obj_get(c->task->params, "from")), &c->from, err) ||
        !load_set(op, c->task->subject, &c->to, err) ||
        !conn_query_one(op->conn, op->arena,
                        "SELECT COALESCE(MAX(position), 0) FROM samples WHERE version = ?",
                        db_args(db_int(c->task->subject)), &row, &found, err))
        return false;
    int64_t last = row.v[0].i, rows;
    if (!last && !classes_copy(op, c->from.version, c->to.version, err))
        return false;
    c->rows = 0;
    do {
        if (!sample_copy_step(op, &c->from, &c->to, last, COPY_STEP, &last, &rows, err))
            return false;
        c->rows += rows;
    } while (last && conn_goes_on(op->conn));
    c->left = last != 0;
    return true;
}

static bool count_all(struct core *core, int64_t version, int64_t *ret, struct err *err)
{
    struct sample_counts n;
    if (!sample_counts(core->db, version, &n, err))
        return false;
    *ret = n.samples + n.states[SAMPLE_CLEANED];
    return true;
}

static bool run_copy(struct task *t, struct err *err)
{
    struct copy c = {.task = t};
    int64_t total, done;
    if (!count_all(t->core, yyjson_get_sint(yyjson_obj_get(t->params, "from")), &total, err) ||
        !count_all(t->core, t->subject, &done, err))
        return false;
    do {
        auto_arena struct arena a;
        arena_init(&a);
        if (!engine_write(t->core, &t->caller, &a, copy_write, &c, err))
            return false;
        done += c.rows;
        if (!task_progress(t, done, done > total ? done : total, err))
            return false;
    } while (c.left);
    return relabel_version(t, t->subject, err); /* a published one keeps the names that labels had */
}

const struct task_type task_copy_version = {.name = "copy-version",
                                            .title = {"Copy samples", "复制样本"},
                                            .run = run_copy,
                                            .undo = version_undo,
                                            .undo_always = true};
