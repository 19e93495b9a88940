/* What people see of a task: their own work, what the workbench needs, and for owners all assignments. */
#include "core/data/label_example.h"
#include "core/label/label_own.h"
#include "core/sql.h"

/* --- the caller's own work --- */

static bool count_own(struct op *op, const struct object *o, enum label_stage stage,
                      enum assignment_state state, int64_t *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!label_query_one(op,
                         "SELECT COUNT(*) FROM label_assignments WHERE task = ? AND worker = ? AND stage = ?"
                         " AND state = ? AND live = 1",
                         db_args(db_int(o->id), db_int(op->caller->user), db_int(stage), db_int(state)), &row,
                         &found, err))
        return false;
    *ret = row.v[0].i;
    return true;
}

static bool write_stage(struct op *op, const struct object *o, enum label_stage stage, int64_t left,
                        struct json_out *out, struct err *err)
{
    const char *team = stage == STAGE_REVIEW ? "review_team" : "labelling_team";
    int64_t leased, rejected, today = clock_now() / (24 * HOUR_US) * 24;
    bool mine, found;
    struct db_row row;
    if (!team_has(op, object_int(o, team), op->caller->user, &mine, err) ||
        !count_own(op, o, stage, ASSIGNMENT_LEASED, &leased, err) ||
        !count_own(op, o, stage, ASSIGNMENT_REJECTED, &rejected, err) ||
        !label_query_one(op,
                         "SELECT CAST(COALESCE(SUM(submitted), 0) AS BIGINT),"
                         " CAST(COALESCE(SUM(active), 0) AS BIGINT) FROM label_hours"
                         " WHERE task = ? AND worker = ? AND stage = ? AND hour >= ?",
                         db_args(db_int(o->id), db_int(op->caller->user), db_int(stage), db_int(today)), &row,
                         &found, err))
        return false;
    json_key(out, stage_names[stage]);
    json_object(out);
    json_kbool(out, "mine", mine);
    json_kint(out, "leased", leased);
    json_kint(out, "rejected", stage == STAGE_LABEL ? rejected : 0);
    json_kint(out, "submitted_today", row.v[0].i);
    json_kint(out, "active_seconds_today", row.v[1].i);
    json_kint(out, "left", left);
    json_object_end(out);
    return true;
}

bool run_work(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
              int *status, struct err *err)
{
    (void)input;
    (void)status;
    char at[CLOCK_TEXT_MAX];
    int64_t deadline = object_int(o, "deadline");
    json_object(out);
    json_kstr(out, "state", object_text(o, "state"));
    json_kz(out, "deadline", deadline ? clock_format(deadline, at) : NULL);
    if (!write_stage(op, o, STAGE_LABEL, object_int(o, "samples") - object_int(o, "labelled"), out, err) ||
        !write_stage(op, o, STAGE_REVIEW, object_int(o, "reviewing"), out, err))
        return false;
    json_object_end(out);
    return true;
}

/* --- the workbench --- */

bool run_bench(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
               int *status, struct err *err)
{
    (void)input;
    (void)status;
    struct db_row row;
    bool found;
    if (!label_query_one(op,
                         "SELECT d.id, d.name, d.data_type, d.annotation_type, l.labels, v.name, v.state,"
                         " COALESCE(l.id, 0)"
                         " FROM dataset_versions v JOIN datasets d ON d.id = v.dataset"
                         " LEFT JOIN label_sets l ON l.id = d.label_set WHERE v.id = ?",
                         db_args(db_int(object_int(o, "version"))), &row, &found, err))
        return false;
    if (!found)
        return err_message(err, ERR_NOT_FOUND, "version", MESSAGE_VERSION_DELETED);
    const struct db_value *v = row.v;
    json_object(out);
    json_key(out, "task");
    json_object(out);
    json_kint(out, "id", o->id);
    json_kstr(out, "name", object_text(o, "name"));
    json_object_end(out);
    json_kstr(out, "state", object_text(o, "state"));
    json_kint(out, "dataset", v[0].i);
    json_kstr(out, "dataset_name", v[1].s);
    json_kint(out, "version", object_int(o, "version"));
    json_kstr(out, "version_name", v[5].s);
    json_kstr(out, "version_state", v[6].s);
    json_kstr(out, "data_type", v[2].s);
    json_kstr(out, "annotation_type", v[3].s);
    json_key(out, "labels");
    json_raw(out, v[4].type == DB_TEXT && v[4].s.n ? v[4].s : STR("[]"));
    json_key(out, "examples");
    if (!label_examples_write(op->core->db, op->arena, v[7].i, out, err))
        return false;
    json_kstr(out, "instructions", object_text(o, "instructions"));
    json_kint(out, "seats", object_int(o, "seats"));
    json_kint(out, "batch_size", object_int(o, "batch_size"));
    json_kint(out, "lease", object_int(o, "lease"));
    json_kbool(out, "require_attributes", object_int(o, "require_attributes") != 0);
    json_object_end(out);
    return true;
}

/* --- all assignments, for owners --- */

static void write_row(struct json_out *out, const struct db_value *v)
{
    char at[CLOCK_TEXT_MAX];
    json_object(out);
    json_kint(out, "id", v[0].i);
    json_key(out, "sample");
    json_object(out);
    json_kint(out, "id", v[1].i);
    json_kstr(out, "name", v[2].type == DB_TEXT ? v[2].s : STR_NULL);
    json_object_end(out);
    json_kz(out, "stage", stage_names[v[3].i]);
    json_kint(out, "seat", v[4].i);
    json_kz(out, "state", assignment_states[v[5].i]);
    json_key(out, "user");
    json_object(out);
    json_kint(out, "id", v[6].i);
    json_kstr(out, "name", v[7].type == DB_TEXT ? v[7].s : STR_NULL);
    json_object_end(out);
    json_kz(out, "begun_at", clock_format(v[8].i, at));
    json_kz(out, "ended_at", v[9].i ? clock_format(v[9].i, at) : NULL);
    json_kint(out, "active_seconds", v[10].i);
    json_kint(out, "rejections", v[11].i);
    json_kstr(out, "reason", v[12].type == DB_TEXT ? v[12].s : STR_NULL);
    json_object_end(out);
}

/* input: state, user, after, limit. */
bool run_samples(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                 int *status, struct err *err)
{
    (void)status;
    auto_sql struct sql q;
    struct db_rows rows;
    int64_t limit = input[3].i ? input[3].i : 100;
    sql_init(&q);
    sql_add(&q,
            "SELECT a.id, a.sample, s.name, a.stage, a.seat, a.state, a.worker, u.name, a.begun, a.ended,"
            " a.active, a.rounds, a.reason FROM label_assignments a LEFT JOIN samples s ON s.id = a.sample"
            " LEFT JOIN users u ON u.id = a.worker WHERE a.task = ");
    sql_arg(&q, db_int(o->id));
    for (int i = 0; input[0].type == DB_TEXT && i < ASSIGNMENT_STATES; i++)
        if (str_is(input[0].s, assignment_states[i])) {
            sql_add(&q, " AND a.state = ");
            sql_arg(&q, db_int(i));
        }
    if (input[1].i) {
        sql_add(&q, " AND a.worker = ");
        sql_arg(&q, db_int(input[1].i));
    }
    sql_add(&q, " AND a.id > ");
    sql_arg(&q, db_int(input[2].i));
    sql_add(&q, " ORDER BY a.id LIMIT ");
    sql_arg(&q, db_int(limit));
    if (!db_query(op->core->db, op->arena, q.text.p, sql_args(&q), &rows, err))
        return false;
    json_object(out);
    json_key(out, "items");
    json_array(out);
    for (size_t i = 0; i < rows.n; i++)
        write_row(out, rows.row[i].v);
    json_array_end(out);
    json_key(out, "next");
    (int64_t) rows.n == limit ? json_int(out, rows.row[rows.n - 1].v[0].i) : json_null(out);
    json_object_end(out);
    return true;
}

/* --- metrics --- */

static double number(struct core *core, const char *sql)
{
    auto_arena struct arena a;
    struct db_row row;
    struct err ignored = {0};
    bool found;
    arena_init(&a);
    return db_query_one(core->db, &a, sql, DB_NO_ARGS, &row, &found, &ignored) ? (double)row.v[0].i : -1;
}

double label_open_leases(struct core *core)
{
    return number(core, "SELECT COUNT(*) FROM label_assignments WHERE leased = 1");
}

double label_submitted(struct core *core)
{
    return number(core,
                  "SELECT CAST(COALESCE(SUM(submitted), 0) AS BIGINT) FROM label_hours WHERE stage = 0");
}
