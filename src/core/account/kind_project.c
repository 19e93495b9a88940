#include "base/json.h"
#include "core/account/accounts.h"
#include "core/account/grants.h"
#include "core/account/role.h"
#include "core/engine.h"
#include "core/fields.h"
#include "core/quota.h"

/* --- quota --- */
static const char *const quota_spelled[] = {"cpu", "cpus", NULL};
#define QUOTA_MAX 9007199254740992.0 /* 2^53: whole numbers survive JSON */

static bool quota_number(const struct field *f, const char *key, yyjson_val *v, bool whole, struct err *err)
{
    double x = yyjson_get_num(v);
    if (yyjson_is_null(v))
        return true; /* no limit */
    if (!yyjson_is_num(v) || x < 0 || x > QUOTA_MAX || (whole && !yyjson_is_int(v)))
        return err_set(err, ERR_INVALID, f->name, "%s: %s must be a%s number of 0 to 2^53", f->name, key,
                       whole ? " whole" : "");
    return true;
}

static bool quota_accelerators(const struct field *f, yyjson_val *v, struct err *err)
{
    if (!yyjson_is_obj(v) || yyjson_obj_size(v) > 50)
        return err_set(err, ERR_INVALID, f->name,
                       "%s: accelerators must be an object of at most 50 kinds, each with a number", f->name);
    size_t i, n;
    yyjson_val *key, *value;
    yyjson_obj_foreach(v, i, n, key, value)
    {
        size_t characters = utf8_count(json_str(key));
        if (characters < 1 || characters > 50)
            return err_set(err, ERR_INVALID, f->name, "%s: a kind of accelerator has 1 to 50 characters",
                           f->name);
        if (!quota_number(f, yyjson_get_str(key), value, false, err))
            return false;
    }
    return true;
}

static bool quota_check(struct arena *a, const struct field *f, const struct db_value *value, struct err *err)
{
    if (value->type == DB_NULL)
        return true;
    yyjson_val *quota = json_parse(a, value->s, err);
    if (!quota)
        return false;
    if (!yyjson_is_obj(quota))
        return err_set(err, ERR_INVALID, f->name, "%s: must be an object", f->name);
    size_t i, n;
    yyjson_val *key, *v;
    yyjson_obj_foreach(quota, i, n, key, v)
    {
        struct str name = json_str(key);
        bool ok;
        if (str_is(name, "cpu"))
            ok = quota_number(f, "cpus", v, false, err);
        else if (str_is(name, "memory") || str_is(name, "storage"))
            ok = quota_number(f, yyjson_get_str(key), v, true, err);
        else if (str_is(name, "accelerators"))
            ok = quota_accelerators(f, v, err);
        else
            ok = err_set(err, ERR_INVALID, f->name,
                         "%s: \"" STR_FMT "\" is no resource; known are cpus, memory, storage, accelerators",
                         f->name, (int)(name.n > 60 ? 60 : name.n), name.p);
        if (!ok)
            return false;
    }
    return true;
}

/* --- project --- */
/* What one project gets is taken from others: callers with the right on all projects give it. */
static bool admins_only(struct op *op, bool same, const char *field, struct err *err)
{
    return same || caller_may(op->caller, "project.update", 0) ||
           err_set(err, ERR_FORBIDDEN, "project.update",
                   "%s: only administrators, who hold project.update on the whole platform, change it",
                   field);
}

static bool weight_given(struct op *op, const struct object *old, const struct object *o, struct err *err)
{
    int64_t was = old ? object_int(old, "weight") : 1;
    return admins_only(op, object_int(o, "weight") == (was ? was : 1), "weight", err);
}

static yyjson_val *quota_of(struct arena *a, const struct object *o, struct err *err)
{
    struct str text = object_text(o, "quota");
    return json_parse(a, text.n ? text : STR("{}"), err);
}

static bool quota_given(struct op *op, const struct object *old, const struct object *o, struct err *err)
{
    yyjson_val *was = quota_of(op->arena, old, err), *is = quota_of(op->arena, o, err);
    return was && is && admins_only(op, yyjson_equals(was, is), "quota", err);
}

static bool before_create(struct op *op, struct object *o, struct err *err)
{
    return weight_given(op, NULL, o, err);
}

static bool before_update(struct op *op, const struct object *old, struct object *o, struct err *err)
{
    return weight_given(op, old, o, err) && quota_given(op, old, o, err) &&
           quota_write(op->conn, o->id, object_text(o, "quota"), err);
}

/* The user that makes a project owns it. */
static bool after_create(struct op *op, struct object *o, struct err *err)
{
    int64_t owner;
    if (!quota_write(op->conn, o->id, object_text(o, "quota"), err))
        return false;
    if (op->caller->user == 0)
        return true;
    if (!role_built_in_id(op->conn, op->arena, "owner", &owner, err))
        return false;
    struct object m = engine_object(op->arena, &kind_member);
    m.parent = m.project = o->id;
    m.created_by = op->caller->user;
    *object_value(&m, "user") = db_int(op->caller->user);
    *object_value(&m, "role") = db_int(owner);
    return engine_insert_row(op, &m, err);
}

static bool before_delete(struct op *op, struct object *o, struct err *err)
{
    return quota_write(op->conn, o->id, STR_NULL, err) &&
           conn_exec(op->conn, "DELETE FROM members WHERE project = ?", db_args(db_int(o->id)), NULL, err);
}

/* Those that the caller is a member of; a caller that may read every project sees all. */
static const char *visible(struct op *op, struct db_value *arg)
{
    const struct grants *g = grants_of(op->caller);
    if (g && g->only) {
        *arg = db_int(g->only);
        return "id = ?";
    }
    if (!g || permission_has(&g->platform, permission_find("project.read")))
        return NULL;
    *arg = db_int(op->caller->user);
    return "id IN (SELECT m.project FROM members m, (SELECT CAST(? AS BIGINT) AS id) me WHERE m.\"user\" = "
           "me.id "
           "OR m.\"group\" IN (SELECT gm.\"group\" FROM group_members gm WHERE gm.\"user\" = me.id))";
}

static void changed(struct core *core, unused_ok const struct object *o, unused_ok const char *verb)
{
    accounts_grants_changed(core);
}

#define QUOTA_NUMBER "{\"type\":[\"number\",\"null\"],\"minimum\":0}" /* null takes it away: no limit */

static const struct field project_fields[] = {
    FIELD_NAME(FIELD_EDIT | FIELD_UNIQUE),
    FIELD_DESCRIPTION,
    {.name = "quota",
     .type = FIELD_JSON,
     .spelled = quota_spelled,
     .flags = FIELD_EDIT,
     .max = 8192,
     .fallback = "{}",
     .check = quota_check,
     .schema = "{\"type\":\"object\",\"properties\":{\"cpus\":" QUOTA_NUMBER ",\"memory\":" QUOTA_NUMBER
               ",\"storage\":" QUOTA_NUMBER
               ",\"accelerators\":{\"type\":\"object\",\"additionalProperties\":" QUOTA_NUMBER "}}}",
     .section = SECTION_LIMITS,
     .title = {"Quota", "配额"},
     .help =
         {"cpus, memory and storage in bytes, accelerators by kind; absent: no limit, 0: none at all. Once "
          "the project is there, administrators change it",
          "cpus、memory 与 storage（字节）、accelerators（按类型）；缺省表示不限，0 "
          "表示禁止使用。项目创建后由管理员修改"}},
    {.name = "weight",
     .type = FIELD_INT,
     .flags = FIELD_ADVANCED | FIELD_EDIT,
     .min = 1,
     .max = 100,
     .fallback = "1",
     .section = SECTION_LIMITS,
     .title = {"Weight", "权重"},
     .help = {"Of its fair share when jobs of several projects wait: a project of weight 3 gets three times "
              "what one of weight 1 gets. Set by administrators",
              "多个项目的作业排队时的公平份额：权重 3 的项目获得权重 1 的三倍资源。由管理员设置"}},
    {.name = "job_access",
     .type = FIELD_BOOL,
     .flags = FIELD_ADVANCED | FIELD_EDIT,
     .fallback = "true",
     .title = {"Jobs reach the platform", "作业可访问平台"},
     .help =
         {"Jobs and notebooks find the platform's address and a token of their own in INGOT_URL and "
          "INGOT_TOKEN, with the rights of a member who started them",
          "作业与笔记本通过 INGOT_URL 与 INGOT_TOKEN 获得平台地址和专属令牌，权限不超过启动者的成员权限"}},
    {0},
};

const struct kind kind_project = {
    .name = "project",
    .plural = "projects",
    .table = "projects",
    .title = {"Project", "项目"},
    .titles = {"Projects", "项目"},
    .help = {"A team's space: its data, models and jobs are seen by its members only",
             "团队的空间：其中的数据、模型与任务仅成员可见"},
    .menu = "admin",
    .scope = SCOPE_PLATFORM,
    .verbs = VERB_ALL,
    .fields = project_fields,
    .actions = project_actions,
    .before_create = before_create,
    .after_create = after_create,
    .before_update = before_update,
    .before_delete = before_delete,
    .visible = visible,
    .changed = changed,
};

/* --- member --- */
static bool member_create(struct op *op, struct object *o, struct err *err)
{
    bool user = object_value(o, "user")->type != DB_NULL, group = object_value(o, "group")->type != DB_NULL;
    if (user == group)
        return err_set(err, ERR_INVALID, "user", "user: a member is either a user or a group");
    return role_may_give(op, object_int(o, "role"), o->parent, "role", err);
}

/* A role that one may not give one may not take either. */
static bool member_delete(struct op *op, struct object *o, struct err *err)
{
    return role_may_give(op, object_int(o, "role"), o->parent, "role", err);
}

static bool member_update(struct op *op, const struct object *old, struct object *new_, struct err *err)
{
    return object_int(old, "role") == object_int(new_, "role") ||
           (role_may_give(op, object_int(old, "role"), old->parent, "role", err) &&
            role_may_give(op, object_int(new_, "role"), new_->parent, "role", err));
}

static const struct field member_fields[] = {
    {.name = "user",
     .type = FIELD_REF,
     .flags = FIELD_CREATE | FIELD_FILTER | FIELD_LIST | FIELD_UNIQUE,
     .ref = "user",
     .title = {"User", "用户"},
     .help = {"Either a user or a group", "用户与用户组二选一"}},
    {.name = "group",
     .type = FIELD_REF,
     .flags = FIELD_CREATE | FIELD_FILTER | FIELD_LIST | FIELD_UNIQUE,
     .ref = "group",
     .title = {"Group", "用户组"}},
    {.name = "role",
     .type = FIELD_REF,
     .flags = FIELD_REQUIRED | FIELD_EDIT | FIELD_FILTER | FIELD_LIST,
     .ref = "role",
     .title = {"Role", "角色"}},
    {0},
};

const struct kind kind_member = {
    .name = "member",
    .plural = "members",
    .table = "members",
    .title = {"Member", "成员"},
    .titles = {"Members", "成员"},
    .scope = SCOPE_CHILD,
    .parent = "project",
    .verbs = VERB_ALL,
    .fields = member_fields,
    .before_create = member_create,
    .before_update = member_update,
    .before_delete = member_delete,
    .changed = changed,
};
