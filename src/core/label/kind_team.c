/* Teams: who labels, and who reviews. */
#include "base/messages.h"
#include "core/account/permission.h"
#include "core/fields.h"
#include "core/label/label.h"

static const struct choice roles[] = {
    {"labelling", {"Labelling", "标注"}},
    {"review", {"Review", "审核"}},
    {NULL, {NULL, NULL}},
};

/* What the members of a team must be allowed in the project. */
static const char *needs(const struct object *team)
{
    return str_is(object_text(team, "role"), "review") ? "review.update" : "annotation.update";
}

/* By their own membership or a group's; administrators may everywhere. */
static bool may_work(struct op *op, int64_t project, int64_t user, const char *permission, bool *ret,
                     struct err *err)
{
    struct db_rows rows;
    struct permission_set may = {{0}};
    if (!conn_query(op->conn, op->arena,
                    "SELECT r.permissions FROM members m JOIN roles r ON r.id = m.role"
                    " WHERE m.project = ? AND (m.\"user\" = ? OR m.\"group\" IN"
                    " (SELECT gm.\"group\" FROM group_members gm WHERE gm.\"user\" = ?))"
                    " UNION ALL SELECT '[\"*\"]' FROM users WHERE id = ? AND administrator = 1",
                    db_args(db_int(project), db_int(user), db_int(user), db_int(user)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        permission_parse(op->arena, rows.row[i].v[0].s, &may);
    *ret = permission_has(&may, permission_find(permission));
    return true;
}

static bool members_may(struct op *op, const struct object *o, struct err *err)
{
    size_t n;
    int64_t *ids = object_refs(op->arena, o, "members", &n);
    for (size_t i = 0; i < n; i++) {
        bool ok;
        if (!may_work(op, o->project, ids[i], needs(o), &ok, err))
            return false;
        if (!ok)
            return err_message(err, ERR_INVALID, "members", MESSAGE_TEAM_MEMBER, (long long)ids[i], needs(o));
    }
    return true;
}

static bool write_members(struct op *op, const struct object *o, struct err *err)
{
    size_t n;
    int64_t *ids = object_refs(op->arena, o, "members", &n);
    if (!conn_exec(op->conn, "DELETE FROM team_members WHERE team = ?", db_args(db_int(o->id)), NULL, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!conn_exec(op->conn, "INSERT INTO team_members (team, member) VALUES (?, ?)",
                       db_args(db_int(o->id), db_int(ids[i])), NULL, err))
            return false;
    return true;
}

static bool before_create(struct op *op, struct object *o, struct err *err)
{
    return members_may(op, o, err);
}

static bool after_create(struct op *op, struct object *o, struct err *err)
{
    return write_members(op, o, err);
}

static bool before_update(struct op *op, const struct object *old, struct object *new_, struct err *err)
{
    (void)old;
    return members_may(op, new_, err);
}

static bool after_update(struct op *op, const struct object *old, struct object *new_, struct err *err)
{
    (void)old;
    return write_members(op, new_, err);
}

static bool after_delete(struct op *op, struct object *o, struct err *err)
{
    return conn_exec(op->conn, "DELETE FROM team_members WHERE team = ?", db_args(db_int(o->id)), NULL, err);
}

bool team_has(struct op *op, int64_t team, int64_t user, bool *ret, struct err *err)
{
    struct db_row row;
    const char *sql = "SELECT 1 FROM team_members WHERE team = ? AND member = ?";
    struct db_args args = db_args(db_int(team), db_int(user));
    return op->conn ? conn_query_one(op->conn, op->arena, sql, args, &row, ret, err)
                    : db_query_one(op->core->db, op->arena, sql, args, &row, ret, err);
}

static const struct field fields[] = {
    FIELD_NAME(FIELD_EDIT | FIELD_UNIQUE),
    FIELD_DESCRIPTION,
    {.name = "role",
     .type = FIELD_CHOICE,
     .flags = FIELD_CREATE | FIELD_FILTER | FIELD_LIST,
     .choices = roles,
     .fallback = "\"labelling\"",
     .title = {"Role", "职责"}},
    {.name = "members",
     .type = FIELD_REFS,
     .flags = FIELD_EDIT | FIELD_REQUIRED | FIELD_LIST,
     .ref = "user",
     .min = 1,
     .max = 500,
     .title = {"Members", "成员"},
     .help = {"People of the project who may label, or review.", "项目中有标注或审核权限的人员。"}},
    {0},
};

const struct kind kind_team = {
    .name = "team",
    .plural = "teams",
    .table = "teams",
    .title = {"Team", "团队"},
    .titles = {"Teams", "团队"},
    .help = {"People who label or review together", "一起标注或审核的人员"},
    .menu = "data",
    .scope = SCOPE_PROJECT,
    .verbs = VERB_ALL,
    .fields = fields,
    .before_create = before_create,
    .after_create = after_create,
    .before_update = before_update,
    .after_update = after_update,
    .after_delete = after_delete,
    .extra_sql = "CREATE TABLE team_members (team BIGINT NOT NULL, member BIGINT NOT NULL,"
                 " PRIMARY KEY (team, member));\n"
                 "CREATE INDEX team_members_member ON team_members (member);\n",
};
