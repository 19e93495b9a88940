#include "core/data/publish_review.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/messages.h"
#include "core/data/publish.h"
#include "core/data/version.h"
#include "core/data/work_giver.h"

#define REVIEWERS_MOST 100

const struct field publish_ask_fields[] = {
    {.name = "team",
     .type = FIELD_REF,
     .flags = FIELD_CREATE,
     .ref = "team",
     .title = {"Review team", "审核团队"},
     .help = {"A team, or reviewers by name.", "选择团队，或指定审核人员。"}},
    {.name = "reviewers",
     .type = FIELD_REFS,
     .flags = FIELD_CREATE,
     .ref = "user",
     .max = REVIEWERS_MOST,
     .fallback = "[]",
     .title = {"Reviewers", "审核人员"}},
    {0},
};

const struct field publish_decide_fields[] = {
    {.name = "accept",
     .type = FIELD_BOOL,
     .flags = FIELD_REQUIRED | FIELD_CREATE,
     .title = {"Accept", "通过"},
     .help = {"true publishes the version, false makes it a draft again.",
              "true 发布版本，false 退回草稿。"}},
    {.name = "reason", .type = FIELD_TEXT, .flags = FIELD_CREATE, .max = 1000, .title = {"Reason", "原因"}},
    {0},
};

struct review {
    const struct object *version;
    const struct db_value *input;
    const char *from, *to; /* states */
    struct object now;
    bool accept;
    struct str reason;
};

static bool load(struct op *op, struct review *r, struct err *err)
{
    bool found;
    if (!engine_load_row(op, &kind_dataset_version, r->version->id, &r->now, &found, err))
        return false;
    if (!found)
        return err_message(err, ERR_NOT_FOUND, NULL, MESSAGE_VERSION_DELETED);
    return str_is(object_text(&r->now, "state"), r->from) ||
           err_message(err, ERR_CONFLICT, "state", MESSAGE_VERSION_STATE,
                       STR_ARG(object_text(&r->now, "state")));
}

static bool move(struct op *op, struct review *r, struct err *err)
{
    *object_value(&r->now, "state") = db_textz(r->to);
    return engine_update_row(op, &r->now, err);
}

/* --- asking --- */

static bool add_reviewer(struct op *op, int64_t version, int64_t user, struct err *err)
{
    return conn_exec(op->conn,
                     "INSERT INTO version_reviewers (version, member) VALUES (?, ?)"
                     " ON CONFLICT (version, member) DO NOTHING",
                     db_args(db_int(version), db_int(user)), NULL, err);
}

static bool add_team(struct op *op, const struct object *version, int64_t team, struct err *err)
{
    struct db_rows rows;
    for (size_t i = 0; work_givers[i]; i++) {
        if (!work_givers[i]->reviewers(op, version->project, team, &rows, err))
            return false;
        for (size_t j = 0; j < rows.n; j++)
            if (!add_reviewer(op, version->id, rows.row[j].v[0].i, err))
                return false;
    }
    return true;
}

/* The team's members and those named; nobody twice. */
static bool write_reviewers(struct op *op, const struct review *r, struct err *err)
{
    struct db_row row;
    bool found;
    yyjson_val *list = json_parse(op->arena, r->input[1].s, err), *v;
    size_t i, n;
    int64_t version = r->now.id, team = r->input[0].i;
    if (!list || !publish_review_drop(op, version, err))
        return false;
    if (team && !add_team(op, &r->now, team, err))
        return false;
    yyjson_arr_foreach(list, i, n, v)
    {
        if (!add_reviewer(op, version, yyjson_get_sint(v), err))
            return false;
    }
    if (!conn_query_one(op->conn, op->arena,
                        "SELECT COUNT(*) FROM version_reviewers WHERE version = ? AND member <> ?",
                        db_args(db_int(version), db_int(op->caller->user)), &row, &found, err))
        return false;
    return row.v[0].i > 0 || err_message(err, ERR_INVALID, "reviewers", MESSAGE_REVIEWERS_NONE);
}

static bool ask_write(struct op *op, void *ctx, struct err *err)
{
    struct review *r = ctx;
    return load(op, r, err) && version_is_idle(op, r->now.id, err) && move(op, r, err) &&
           write_reviewers(op, r, err) &&
           conn_exec(op->conn,
                     "INSERT INTO version_reviews (version, project, asked_by, asked_at) VALUES (?, ?, ?, ?)",
                     db_args(db_int(r->now.id), db_int(r->now.project), db_int(op->caller->user),
                             db_int(clock_now())),
                     NULL, err);
}

bool publish_ask_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                     int *status, struct err *err)
{
    (void)status;
    struct review r = {.version = o, .input = input, .from = "draft", .to = "reviewing"};
    if (object_int(o, "samples") == 0)
        return err_set(err, ERR_CONFLICT, "samples",
                       "the version has no samples yet: import some before publishing it");
    return engine_write(op->core, op->caller, op->arena, ask_write, &r, err) &&
           engine_answer(op, &r.now, out, err);
}

/* --- deciding --- */

static bool end_review(struct op *op, const struct review *r, struct err *err)
{
    return conn_exec(op->conn,
                     "UPDATE version_reviews SET decided_by = ?, decided_at = ?, accepted = ?, reason = ?"
                     " WHERE version = ? AND decided_at IS NULL",
                     db_args(db_int(op->caller->user), db_int(clock_now()), db_int(r->accept),
                             r->reason.n ? db_text(r->reason) : db_null(), db_int(r->now.id)),
                     NULL, err);
}

/* One of those who were asked, and not who asked. */
static bool may_decide(struct op *op, const struct review *r, struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(op->conn, op->arena,
                        "SELECT 1 FROM version_reviewers w JOIN version_reviews v ON v.version = w.version"
                        " WHERE w.version = ? AND w.member = ? AND v.decided_at IS NULL AND v.asked_by <> ?",
                        db_args(db_int(r->now.id), db_int(op->caller->user), db_int(op->caller->user)), &row,
                        &found, err))
        return false;
    return found || err_message(err, ERR_FORBIDDEN, NULL, MESSAGE_REVIEWER_NOT);
}

static bool check_write(struct op *op, void *ctx, struct err *err)
{
    struct review *r = ctx;
    return load(op, r, err) && may_decide(op, r, err);
}

static bool reject_write(struct op *op, void *ctx, struct err *err)
{
    struct review *r = ctx;
    return check_write(op, r, err) && move(op, r, err) && end_review(op, r, err);
}

static bool accept_write(struct op *op, void *ctx, struct err *err)
{
    return end_review(op, ctx, err);
}

/* Publishing comes first: a failure there leaves the review open. */
bool publish_decide_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                        int *status, struct err *err)
{
    struct review r = {.version = o,
                       .from = "reviewing",
                       .to = "draft",
                       .accept = input[0].i != 0,
                       .reason = input[1].type == DB_TEXT ? input[1].s : STR_NULL};
    if (!r.accept) {
        if (!r.reason.n)
            return err_message(err, ERR_INVALID, "reason", MESSAGE_REQUIRED, "reason");
        return engine_write(op->core, op->caller, op->arena, reject_write, &r, err) &&
               engine_answer(op, &r.now, out, err);
    }
    return engine_write(op->core, op->caller, op->arena, check_write, &r, err) &&
           publish_start(op, &r.now, "reviewing", out, status, err) &&
           engine_write(op->core, op->caller, op->arena, accept_write, &r, err);
}

/* --- withdrawing --- */

static bool withdraw_write(struct op *op, void *ctx, struct err *err)
{
    struct review *r = ctx;
    return load(op, r, err) && move(op, r, err) && end_review(op, r, err);
}

bool publish_withdraw_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                          int *status, struct err *err)
{
    (void)input;
    (void)status;
    struct review r = {.version = o, .from = "reviewing", .to = "draft"};
    return engine_write(op->core, op->caller, op->arena, withdraw_write, &r, err) &&
           engine_answer(op, &r.now, out, err);
}

/* --- reading --- */

bool publish_review_drop(struct op *op, int64_t version, struct err *err)
{
    return conn_exec(op->conn, "DELETE FROM version_reviewers WHERE version = ?", db_args(db_int(version)),
                     NULL, err);
}

bool publish_review_reads(struct core *core, const struct caller *c, struct db_conn *conn,
                          const struct object *o, struct arena *a)
{
    struct db_row row;
    struct err ignored = {0};
    bool found = false;
    const char *sql = "SELECT 1 FROM version_reviewers WHERE version = ? AND member = ?";
    struct db_args args = db_args(db_int(o->id), db_int(c->user));
    if (!str_is(object_text(o, "state"), "reviewing") || !caller_may(c, "review.update", o->project))
        return false;
    return (conn ? conn_query_one(conn, a, sql, args, &row, &found, &ignored)
                 : db_query_one(core->db, a, sql, args, &row, &found, &ignored)) &&
           found;
}

static void write_person(struct json_out *out, const char *key, const struct db_value *v)
{
    json_key(out, key);
    if (v[0].type == DB_NULL) {
        json_null(out);
        return;
    }
    json_object(out);
    json_kint(out, "id", v[0].i);
    json_kstr(out, "name", v[1].type == DB_TEXT ? v[1].s : STR_NULL);
    json_object_end(out);
}

static void write_time(struct json_out *out, const char *key, const struct db_value *v)
{
    char at[CLOCK_TEXT_MAX];
    json_kz(out, key, v->type == DB_NULL ? NULL : clock_format(v->i, at));
}

static bool write_asked(struct op *op, int64_t version, struct json_out *out, struct err *err)
{
    struct db_rows rows;
    if (!db_query(op->core->db, op->arena,
                  "SELECT w.member, u.name FROM version_reviewers w LEFT JOIN users u ON u.id = w.member"
                  " WHERE w.version = ? ORDER BY u.name",
                  db_args(db_int(version)), &rows, err))
        return false;
    json_key(out, "reviewers");
    json_array(out);
    for (size_t i = 0; i < rows.n; i++) {
        json_object(out);
        json_kint(out, "id", rows.row[i].v[0].i);
        json_kstr(out, "name", rows.row[i].v[1].type == DB_TEXT ? rows.row[i].v[1].s : STR_NULL);
        json_object_end(out);
    }
    json_array_end(out);
    return true;
}

bool publish_review_show(struct op *op, const struct object *o, struct json_out *out, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(
            op->core->db, op->arena,
            "SELECT r.asked_by, a.name, r.asked_at, r.decided_by, d.name, r.decided_at, r.accepted,"
            " r.reason FROM version_reviews r LEFT JOIN users a ON a.id = r.asked_by"
            " LEFT JOIN users d ON d.id = r.decided_by WHERE r.version = ? ORDER BY r.id DESC LIMIT 1",
            db_args(db_int(o->id)), &row, &found, err))
        return false;
    json_key(out, "review");
    if (!found) {
        json_null(out);
        return true;
    }
    const struct db_value *v = row.v;
    json_object(out);
    write_person(out, "asked_by", v);
    write_time(out, "asked_at", &v[2]);
    if (!write_asked(op, o->id, out, err))
        return false;
    write_person(out, "decided_by", v + 3);
    write_time(out, "decided_at", &v[5]);
    json_key(out, "accepted");
    v[6].type == DB_NULL ? json_null(out) : json_bool(out, v[6].i != 0);
    json_kstr(out, "reason", v[7].type == DB_TEXT ? v[7].s : STR_NULL);
    json_object_end(out);
    return true;
}

bool publish_reviews_write(struct op *op, int64_t project, struct json_out *out, struct err *err)
{
    struct db_rows rows;
    if (!db_query(
            op->core->db, op->arena,
            "SELECT d.id, d.name, v.id, v.name, r.asked_by, u.name, r.asked_at, v.samples"
            " FROM version_reviews r JOIN version_reviewers w ON w.version = r.version AND w.member = ?"
            " JOIN dataset_versions v ON v.id = r.version JOIN datasets d ON d.id = v.dataset"
            " LEFT JOIN users u ON u.id = r.asked_by"
            " WHERE r.project = ? AND r.decided_at IS NULL AND v.state = 'reviewing' ORDER BY r.id LIMIT 200",
            db_args(db_int(op->caller->user), db_int(project)), &rows, err))
        return false;
    json_object(out);
    json_key(out, "items");
    json_array(out);
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        json_object(out);
        write_person(out, "dataset", v);
        write_person(out, "version", v + 2);
        write_person(out, "asked_by", v + 4);
        write_time(out, "asked_at", &v[6]);
        json_kint(out, "samples", v[7].i);
        json_object_end(out);
    }
    json_array_end(out);
    json_object_end(out);
    return true;
}
