#include "core/label/lease.h"

#include "core/access.h"
#include "core/data/layer.h"
#include "core/label/label_own.h"

bool lease_find(struct core *core, const struct caller *c, const struct object *version, int64_t sample,
                int64_t assignment, struct arena *a, bool *ret, struct err *err)
{
    struct db_row row;
    *ret = false;
    if (!assignment || !caller_may(c, "annotation.update", version->project))
        return true;
    return db_query_one(core->db, a,
                        "SELECT 1 FROM label_assignments a JOIN label_tasks t ON t.id = a.task"
                        " WHERE a.id = ? AND a.worker = ? AND a.sample = ? AND a.version = ?"
                        " AND t.state IN ('open', 'paused')",
                        db_args(db_int(assignment), db_int(c->user), db_int(sample), db_int(version->id)),
                        &row, ret, err);
}

bool lease_layer(struct op *op, const struct object *version, int64_t task, int64_t seat, int64_t *ret,
                 struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(op->conn, op->arena, "SELECT layer FROM label_layers WHERE task = ? AND seat = ?",
                        db_args(db_int(task), db_int(seat)), &row, &found, err))
        return false;
    if (found) {
        *ret = row.v[0].i;
        return true;
    }
    const char *name =
        seat > 0 ? arena_printf(op->arena, "task %lld seat %lld", (long long)task, (long long)seat)
                 : arena_printf(op->arena, "task %lld late user %lld", (long long)task, (long long)-seat);
    const struct layer_fields fields = {
        .name = str_of(name), .made_by_kind = "label_task", .made_by = task, .ready = true};
    return layer_create(op, version, &fields, ret, err) &&
           conn_exec(op->conn, "INSERT INTO label_layers (task, seat, layer) VALUES (?, ?, ?)",
                     db_args(db_int(task), db_int(seat), db_int(*ret)), NULL, err);
}

/* Work that arrives after the lease was lost is kept, beside what the next person makes. */
static bool use_late(struct op *op, const struct object *version, int64_t assignment, int64_t task,
                     int64_t *ret_layer, struct err *err)
{
    return lease_layer(op, version, task, -op->caller->user, ret_layer, err) &&
           conn_exec(op->conn, "UPDATE label_assignments SET layer = ? WHERE id = ?",
                     db_args(db_int(*ret_layer), db_int(assignment)), NULL, err);
}

bool lease_use(struct op *op, const struct object *version, int64_t sample, int64_t assignment,
               int64_t *ret_layer, struct err *err)
{
    struct db_row row;
    bool found;
    int64_t now = clock_now();
    if (!conn_query_one(op->conn, op->arena,
                        "SELECT leased, layer, until, lease_s, state, task FROM label_assignments"
                        " WHERE id = ? AND worker = ? AND sample = ?",
                        db_args(db_int(assignment), db_int(op->caller->user), db_int(sample)), &row, &found,
                        err))
        return false;
    if (found && !row.v[0].i && row.v[4].i == ASSIGNMENT_RETURNED)
        return use_late(op, version, assignment, row.v[5].i, ret_layer, err);
    if (!found || !row.v[0].i)
        return err_message(err, ERR_CONFLICT, "assignment", MESSAGE_LABEL_LEASE_LOST, (long long)assignment);
    *ret_layer = row.v[1].i;
    int64_t whole = row.v[3].i * 1000000;
    return row.v[2].i - now > whole / 2 ||
           conn_exec(op->conn, "UPDATE label_assignments SET until = ? WHERE id = ?",
                     db_args(db_int(now + whole), db_int(assignment)), NULL, err);
}

bool lease_sees(struct core *core, const struct caller *c, const struct object *version, int64_t sample,
                int64_t layer, struct arena *a, struct err *err)
{
    struct db_row row;
    struct err why = {0};
    bool found;
    if (!layer || access_read(core, c, NULL, version, a, &why))
        return true;
    if (!db_query_one(core->db, a,
                      "SELECT 1 FROM label_assignments WHERE sample = ? AND worker = ? AND version = ?"
                      " AND (layer = ? OR (stage = 1 AND live = 1)) LIMIT 1",
                      db_args(db_int(sample), db_int(c->user), db_int(version->id), db_int(layer)), &row,
                      &found, err))
        return false;
    if (!found)
        *err = why;
    return found;
}
