#include "core/account/accounts.h"
#include "core/account/role.h"
#include "core/fields.h"

static bool delete_members(struct op *op, struct object *o, struct err *err)
{
    return conn_exec(op->conn, "DELETE FROM group_members WHERE \"group\" = ?", db_args(db_int(o->id)), NULL,
                     err);
}

/* A user that enters a group gets the roles that it has in projects: the caller gives and takes no more than
 * they have. */
static bool may_move(struct op *op, struct object *o, struct err *err)
{
    struct db_rows rows;
    if (!conn_query(op->conn, op->arena, "SELECT role, project FROM members WHERE \"group\" = ?",
                    db_args(db_int(o->parent)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        if (!role_may_give(op, rows.row[i].v[0].i, rows.row[i].v[1].i, "group", err))
            return false;
    return true;
}

static void changed(struct core *core, unused_ok const struct object *o, unused_ok const char *verb)
{
    accounts_grants_changed(core);
}

static const struct field group_fields[] = {
    FIELD_NAME(FIELD_EDIT | FIELD_UNIQUE),
    FIELD_DESCRIPTION,
    {0},
};

const struct kind kind_group = {
    .name = "group",
    .plural = "groups",
    .table = "groups",
    .title = {"Group", "用户组"},
    .titles = {"Groups", "用户组"},
    .help = {"Users who are given roles together", "一起获得角色的用户"},
    .menu = "admin",
    .scope = SCOPE_PLATFORM,
    .verbs = VERB_ALL,
    .fields = group_fields,
    .before_delete = delete_members,
    .changed = changed,
};

static const struct field member_fields[] = {
    {.name = "user",
     .type = FIELD_REF,
     .flags = FIELD_REQUIRED | FIELD_CREATE | FIELD_FILTER | FIELD_LIST | FIELD_UNIQUE,
     .ref = "user",
     .title = {"User", "用户"}},
    {0},
};

const struct kind kind_group_member = {
    .name = "group_member",
    .plural = "members",
    .table = "group_members",
    .title = {"Member of a group", "组成员"},
    .titles = {"Members", "成员"},
    .scope = SCOPE_CHILD,
    .parent = "group",
    .verbs = VERB_LIST | VERB_READ | VERB_CREATE | VERB_DELETE,
    .fields = member_fields,
    .before_create = may_move,
    .before_delete = may_move,
    .changed = changed,
};
