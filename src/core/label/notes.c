/* Notes on samples of a task: what annotators ask, and what reviewers and owners answer. */
#include "core/label/label_own.h"

#define NOTES_MOST  1000 /* of one answer */
#define NOTES_EACH  500  /* on one sample of a task */
#define NOTE_FIELDS "n.id, n.sample, n.by_user, u.name, n.at, n.text, n.shape, n.x, n.y, n.done_by, n.done_at"

/* Owners and members ask about every sample; others about those that they have or had. */
static bool may_talk(struct op *op, const struct object *task, int64_t sample, const char *permission,
                     struct err *err)
{
    struct db_row row;
    bool found;
    if (caller_may(op->caller, permission, task->project))
        return true;
    if (!sample || !caller_may(op->caller, "annotation.update", task->project))
        return caller_need(op->caller, permission, task->project, err);
    if (!label_query_one(op, "SELECT 1 FROM label_assignments WHERE sample = ? AND task = ? AND worker = ?",
                         db_args(db_int(sample), db_int(task->id), db_int(op->caller->user)), &row, &found,
                         err))
        return false;
    return found || err_message(err, ERR_FORBIDDEN, NULL, MESSAGE_LABEL_NOT_GIVEN);
}

static void write_note(struct json_out *out, const struct db_value *v)
{
    char at[CLOCK_TEXT_MAX];
    json_object(out);
    json_kint(out, "id", v[0].i);
    json_kint(out, "sample", v[1].i);
    json_key(out, "by");
    json_object(out);
    json_kint(out, "id", v[2].i);
    json_kstr(out, "name", v[3].type == DB_TEXT ? v[3].s : STR_NULL);
    json_object_end(out);
    json_kz(out, "at", clock_format(v[4].i, at));
    json_kstr(out, "text", v[5].s);
    json_kstr(out, "shape", v[6].type == DB_TEXT ? v[6].s : STR_NULL);
    json_key(out, "x");
    v[7].type == DB_NULL ? json_null(out) : json_real(out, v[7].r);
    json_key(out, "y");
    v[8].type == DB_NULL ? json_null(out) : json_real(out, v[8].r);
    json_kbool(out, "done", v[9].type != DB_NULL);
    json_object_end(out);
}

bool label_notes_write(struct op *op, const struct object *task, int64_t sample, struct json_out *out,
                       struct err *err)
{
    struct db_rows rows;
    if (!may_talk(op, task, sample, "team.read", err) ||
        !label_query(op,
                     "SELECT " NOTE_FIELDS " FROM label_notes n LEFT JOIN users u ON u.id = n.by_user"
                     " WHERE n.task = ? AND (n.sample = ? OR CAST(? AS BIGINT) = 0) ORDER BY n.id LIMIT ?",
                     db_args(db_int(task->id), db_int(sample), db_int(sample), db_int(NOTES_MOST)), &rows,
                     err))
        return false;
    json_object(out);
    json_key(out, "items");
    json_array(out);
    for (size_t i = 0; i < rows.n; i++)
        write_note(out, rows.row[i].v);
    json_array_end(out);
    json_object_end(out);
    return true;
}

static bool answer(struct op *op, const struct object *task, int64_t note, struct json_out *out,
                   struct err *err)
{
    struct db_row row;
    bool found;
    if (!label_query_one(op,
                         "SELECT " NOTE_FIELDS " FROM label_notes n LEFT JOIN users u ON u.id = n.by_user"
                         " WHERE n.task = ? AND n.id = ?",
                         db_args(db_int(task->id), db_int(note)), &row, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, NULL, "the task has no note %lld", (long long)note);
    write_note(out, row.v);
    return true;
}

struct adding {
    const struct object *task;
    const struct label_note *note;
    int64_t id;
};

static bool add_write(struct op *op, void *ctx, struct err *err)
{
    struct adding *x = ctx;
    const struct label_note *n = x->note;
    struct label_item item;
    struct db_row row;
    bool found;
    if (!item_load(op, x->task->id, n->sample, &item, err) ||
        !conn_query_one(op->conn, op->arena, "SELECT COUNT(*) FROM label_notes WHERE task = ? AND sample = ?",
                        db_args(db_int(x->task->id), db_int(n->sample)), &row, &found, err))
        return false;
    if (row.v[0].i >= NOTES_EACH)
        return err_message(err, ERR_CONFLICT, NULL, MESSAGE_LABEL_NOTES, NOTES_EACH);
    return conn_insert(op->conn,
                       "INSERT INTO label_notes (task, version, sample, by_user, at, text, shape, x, y)"
                       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                       db_args(db_int(x->task->id), db_int(object_int(x->task, "version")), db_int(n->sample),
                               db_int(op->caller->user), db_int(clock_now()), db_text(n->text),
                               n->shape.p ? db_text(n->shape) : db_null(),
                               n->has_place ? db_real(n->x) : db_null(),
                               n->has_place ? db_real(n->y) : db_null()),
                       &x->id, err);
}

bool label_note_may(struct op *op, const struct object *task, int64_t sample, struct err *err)
{
    return may_talk(op, task, sample, "label_task.update", err);
}

bool label_note_add(struct op *op, const struct object *task, const struct label_note *n,
                    struct json_out *out, struct err *err)
{
    struct adding x = {.task = task, .note = n};
    return label_note_may(op, task, n->sample, err) &&
           engine_write(op->core, op->caller, op->arena, add_write, &x, err) &&
           answer(op, task, x.id, out, err);
}

struct ending {
    int64_t task, note;
};

static bool done_write(struct op *op, void *ctx, struct err *err)
{
    const struct ending *e = ctx;
    return conn_exec(op->conn,
                     "UPDATE label_notes SET done_by = ?, done_at = ? WHERE task = ? AND id = ?"
                     " AND done_by IS NULL",
                     db_args(db_int(op->caller->user), db_int(clock_now()), db_int(e->task), db_int(e->note)),
                     NULL, err);
}

bool label_note_done(struct op *op, const struct object *task, int64_t note, struct json_out *out,
                     struct err *err)
{
    struct db_row row;
    bool found;
    struct ending e = {task->id, note};
    if (!label_query_one(op, "SELECT sample FROM label_notes WHERE task = ? AND id = ?",
                         db_args(db_int(task->id), db_int(note)), &row, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, NULL, "the task has no note %lld", (long long)note);
    return may_talk(op, task, row.v[0].i, "label_task.update", err) &&
           engine_write(op->core, op->caller, op->arena, done_write, &e, err) &&
           answer(op, task, note, out, err);
}
