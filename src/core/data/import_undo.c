#include "core/data/import_undo.h"

#include "base/messages.h"
#include "core/data/sample_own.h"
#include "core/search.h"

#define STEP 20 /* samples that are removed together: about a millisecond */

/* --- noting --- */

struct beginning {
    const struct sample_set *set;
    struct import_undo *undo;
};

static bool begin_write(struct op *op, void *ctx, struct err *err)
{
    struct beginning *b = ctx;
    struct db_row row;
    bool found;
    if (!conn_exec(op->conn,
                   "INSERT INTO task_marks (task, position) VALUES"
                   " (?, COALESCE((SELECT next_position FROM version_totals WHERE version = ?), 1))"
                   " ON CONFLICT (task) DO NOTHING",
                   db_args(db_int(b->undo->task), db_int(b->set->version)), NULL, err) ||
        !conn_query_one(op->conn, op->arena,
                        "SELECT position, EXISTS (SELECT 1 FROM sample_waiting WHERE version = ?)"
                        " FROM task_marks WHERE task = ?",
                        db_args(db_int(b->set->version), db_int(b->undo->task)), &row, &found, err))
        return false;
    b->undo->from = row.v[0].i;
    b->undo->waiting = row.v[1].i != 0;
    return true;
}

bool import_undo_begin(struct task *t, const struct sample_set *set, struct import_undo *ret, struct err *err)
{
    struct beginning b = {set, ret};
    *ret = (struct import_undo){.task = t->id};
    return engine_write(t->core, &t->caller, t->arena, begin_write, &b, err);
}

/* A sample that was there and will get another blob or annotation. The note holds its blob. */
static bool note_change(struct op *op, const struct import_undo *u, const struct sample_set *set,
                        const struct sample_new *n, struct err *err)
{
    struct db_row row;
    struct sample_new taken;
    bool found;
    int64_t inserted = 0;
    if (!conn_query_one(op->conn, op->arena,
                        "SELECT " SAMPLE_COLUMNS " FROM samples s WHERE s.version = ? AND s.name = ?"
                        " AND s.position < ?",
                        db_args(db_int(set->version), db_text(n->name), db_int(u->from)), &row, &found, err))
        return false;
    if (!found)
        return true;
    struct sample old = sample_row(&row);
    sample_fate_of(&old, n, &taken);
    if (!sample_differs(&old, &taken))
        return true;
    if (!conn_exec(
            op->conn,
            "INSERT INTO import_changes (task, sample, revision, digest, size, width, height,"
            " duration, state, former, annotation, sharpness, phash, split, by_person)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (task, sample) DO NOTHING",
            db_args(db_int(u->task), db_int(old.id), db_int(old.revision), digest_arg(&old.blob),
                    db_int(old.size), db_int(old.width), db_int(old.height), db_real(old.duration),
                    db_int(old.state), db_int(old.former), db_text(old.annotation), row.v[14], row.v[15],
                    db_int(old.split), db_int(old.by_person)),
            &inserted, err))
        return false;
    return inserted == 0 || store_use(op->conn, set->project, &old.blob, 1, err);
}

/* What waits under this name now, or that nothing does. */
static bool note_waiting(struct op *op, const struct import_undo *u, const struct sample_set *set,
                         struct str name, struct err *err)
{
    return conn_exec(op->conn,
                     "INSERT INTO import_waits (task, name, annotation, split) VALUES"
                     " (?, ?, (SELECT annotation FROM sample_waiting WHERE version = ? AND name = ?),"
                     " COALESCE((SELECT split FROM sample_waiting WHERE version = ? AND name = ?), 0))"
                     " ON CONFLICT (task, name) DO NOTHING",
                     db_args(db_int(u->task), db_text(name), db_int(set->version), db_text(name),
                             db_int(set->version), db_text(name)),
                     NULL, err);
}

bool import_undo_note(struct op *op, const struct import_undo *u, const struct sample_set *set,
                      const struct sample_new *s, struct err *err)
{
    return (u->from <= 1 || note_change(op, u, set, s, err)) &&
           (!u->waiting || note_waiting(op, u, set, s->name, err));
}

bool import_undo_note_wait(struct op *op, struct import_undo *u, const struct sample_set *set,
                           struct str name, struct err *err)
{
    u->waiting = true;
    return note_waiting(op, u, set, name, err);
}

/* --- forgetting, and taking back: a step at a time until nothing is left --- */

struct step {
    struct task *task;
    const struct sample_set *set;
    int64_t from;
    bool left;        /* there may be more */
    int64_t kept;     /* changed by a user since */
    int64_t kept_now; /* in this step */
    bool asked;       /* forgetting: it was not cancelled before the first step */
};

static bool forget_change(struct op *op, const struct step *s, const struct db_row *row, struct err *err)
{
    struct digest d;
    memcpy(d.b, row->v[1].s.p, sizeof d.b);
    return store_use(op->conn, s->task->project, &d, -1, err) &&
           conn_exec(op->conn, "DELETE FROM import_changes WHERE task = ? AND sample = ?",
                     db_args(db_int(s->task->id), row->v[0]), NULL, err);
}

/* Asked in the write that makes the import final: a cancel is either before it, or too late. */
static bool not_cancelled(struct op *op, const struct task *t, struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(op->conn, op->arena, "SELECT cancel FROM tasks WHERE id = ?", db_args(db_int(t->id)),
                        &row, &found, err))
        return false;
    return !found || !row.v[0].i || err_set(err, ERR_CONFLICT, NULL, "cancelled");
}

static bool forget_write(struct op *op, void *ctx, struct err *err)
{
    struct step *s = ctx;
    struct db_rows rows;
    int64_t waits;
    bool on = true;
    struct db_args task = db_args(db_int(s->task->id));
    if (!s->asked && !not_cancelled(op, s->task, err))
        return false;
    if (!conn_query(op->conn, op->arena,
                    "SELECT sample, digest FROM import_changes WHERE task = ? ORDER BY sample LIMIT 400",
                    task, &rows, err))
        return false;
    for (size_t i = 0; on && i < rows.n; i++, on = conn_goes_on(op->conn))
        if (!forget_change(op, s, &rows.row[i], err))
            return false;
    do {
        if (!conn_exec(op->conn,
                       "DELETE FROM import_waits WHERE task = ? AND name IN"
                       " (SELECT name FROM import_waits WHERE task = ? ORDER BY name LIMIT 100)",
                       db_args(db_int(s->task->id), db_int(s->task->id)), &waits, err))
            return false;
    } while (waits && conn_goes_on(op->conn));
    s->left = rows.n > 0 || waits > 0;
    return s->left || conn_exec(op->conn, "DELETE FROM task_marks WHERE task = ?", task, NULL, err);
}

static bool remove_write(struct op *op, void *ctx, struct err *err)
{
    struct step *s = ctx;
    struct db_rows rows;
    int64_t ids[STEP];
    do {
        if (!conn_query(
                op->conn, op->arena,
                "SELECT id FROM samples WHERE version = ? AND position >= ? ORDER BY position LIMIT ?",
                db_args(db_int(s->set->version), db_int(s->from), db_int(STEP)), &rows, err))
            return false;
        for (size_t i = 0; i < rows.n; i++)
            ids[i] = rows.row[i].v[0].i;
        if (rows.n && !sample_remove(op, s->set, ids, rows.n, err))
            return false;
    } while (rows.n && conn_goes_on(op->conn));
    s->left = rows.n > 0;
    return s->left || (conn_exec(op->conn, "UPDATE version_totals SET next_position = ? WHERE version = ?",
                                 db_args(db_int(s->from), db_int(s->set->version)), NULL, err) &&
                       search_rewind(op->conn, SEARCH_SAMPLES, s->set->version, s->from - 1, err));
}

static struct sample noted(const struct db_row *row)
{
    const struct db_value *v = row->v;
    struct sample s = {.id = v[0].i,
                       .size = v[3].i,
                       .width = v[4].i,
                       .height = v[5].i,
                       .duration = v[6].r,
                       .state = (enum sample_state)v[7].i,
                       .former = (enum sample_state)v[8].i,
                       .annotation = v[9].s,
                       .measured = v[10].type != DB_NULL,
                       .sharpness = v[10].r,
                       .phash = (uint64_t)v[11].i,
                       .revision = v[2].i,
                       .split = (enum codec_split)v[12].i,
                       .by_person = v[13].i != 0};
    memcpy(s.blob.b, v[1].s.p, sizeof s.blob.b);
    return s;
}

static bool revert_write(struct op *op, void *ctx, struct err *err)
{
    struct step *s = ctx;
    struct db_rows rows;
    bool on = true;
    s->kept_now = 0;
    if (!conn_query(op->conn, op->arena,
                    "SELECT sample, digest, revision, size, width, height, duration, state, former,"
                    " annotation, sharpness, phash, split, by_person FROM import_changes WHERE task = ?"
                    " ORDER BY sample LIMIT 100",
                    db_args(db_int(s->task->id)), &rows, err))
        return false;
    for (size_t i = 0; on && i < rows.n; i++, on = conn_goes_on(op->conn)) {
        struct sample was = noted(&rows.row[i]);
        bool done;
        if (!sample_revert(op, s->set, &was, &done, err) || !forget_change(op, s, &rows.row[i], err))
            return false;
        s->kept_now += !done;
    }
    s->left = rows.n > 0;
    return true;
}

static bool unwait_write(struct op *op, void *ctx, struct err *err)
{
    struct step *s = ctx;
    struct db_rows rows;
    bool on = true;
    if (!conn_query(op->conn, op->arena,
                    "SELECT name, annotation, split FROM import_waits WHERE task = ? ORDER BY name LIMIT 400",
                    db_args(db_int(s->task->id)), &rows, err))
        return false;
    for (size_t i = 0; on && i < rows.n; i++, on = conn_goes_on(op->conn)) {
        const struct db_value *v = rows.row[i].v;
        struct sample_waiting w = {v[0].s, v[1].s, (enum codec_split)v[2].i};
        bool had = v[1].type != DB_NULL;
        if (had ? !sample_wait(op, s->set, &w, 1, err)
                : !conn_exec(op->conn, "DELETE FROM sample_waiting WHERE version = ? AND name = ?",
                             db_args(db_int(s->set->version), db_text(w.name)), NULL, err))
            return false;
        if (!conn_exec(op->conn, "DELETE FROM import_waits WHERE task = ? AND name = ?",
                       db_args(db_int(s->task->id), db_text(w.name)), NULL, err))
            return false;
    }
    s->left = rows.n > 0;
    return true;
}

static bool until_done(struct step *s, bool (*write)(struct op *op, void *ctx, struct err *err),
                       struct err *err)
{
    do {
        auto_arena struct arena a = {0};
        s->kept_now = 0;
        if (!engine_write(s->task->core, &caller_system, &a, write, s, err))
            return false;
        s->kept += s->kept_now;
        s->asked = true;
    } while (s->left);
    return true;
}

bool import_undo_forget(struct task *t, struct err *err)
{
    struct step s = {.task = t};
    return until_done(&s, forget_write, err);
}

bool import_undo_run(struct task *t, const struct sample_set *set, struct err *err)
{
    struct step s = {.task = t, .set = set};
    struct db_row row;
    bool found;
    if (!db_query_one(t->core->db, t->arena, "SELECT position FROM task_marks WHERE task = ?",
                      db_args(db_int(t->id)), &row, &found, err))
        return false;
    if (!found)
        return true;
    s.from = row.v[0].i;
    s.asked = true;
    if (!until_done(&s, remove_write, err) || !until_done(&s, revert_write, err) ||
        !until_done(&s, unwait_write, err) || !until_done(&s, forget_write, err))
        return false;
    if (s.kept)
        task_note(t, STR("samples"), NULL, MESSAGE_SAMPLES_STAY, (long long)s.kept);
    return true;
}
