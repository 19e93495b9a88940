#include "core/account/role.h"

#include "base/clock.h"
#include "base/json.h"
#include "core/account/accounts.h"
#include "core/account/grants.h"
#include "core/fields.h"

#define ROLE_ADMINISTRATOR "administrator"

/* --- the built-in ones --- */
/* Patterns that mean nothing yet are left out. NULL ends a list. */
static const struct built_in {
    const char *name, *description;
    /* Everything about all kinds of projects but project and member; ALL_BUT_OTHERS: but for deleting what
     * others made, where the kind tells that apart. */
    enum { NO_KINDS, ALL_BUT_OTHERS, ALL_KINDS } kinds;
    const char *patterns[12];
} built_in[] = {
    {ROLE_ADMINISTRATOR,
     "Everything on the platform; given by the user's administrator flag",
     NO_KINDS,
     {"*"}},
    {"owner",
     "Everything in a project, its members and the project itself",
     ALL_KINDS,
     {"project.read", "project.update", "project.delete", "member.*", "annotation.*", "review.*"}},
    {"member",
     "Work with everything in a project",
     ALL_BUT_OTHERS,
     {"project.read", "member.read", "annotation.*", "review.*"}},
    {"viewer", "Look at everything in a project", NO_KINDS, {"*.read"}},
    {"annotator",
     "Label what one was given",
     NO_KINDS,
     {"project.read", "label_task.read", "annotation.update"}},
    {"reviewer",
     "Check what annotators made",
     NO_KINDS,
     {"project.read", "label_task.read", "annotation.update", "review.update"}},
};

static void add_pattern(struct json_out *out, struct str pattern)
{
    struct permission_set set = {{0}};
    if (permission_match(pattern, &set))
        json_string(out, pattern);
}

static void add_each(struct json_out *out, const struct kind *k)
{
    for (size_t i = 0; i < permission_count(); i++) {
        const struct permission *p = permission_at(i);
        if (p->kind == k && strcmp(p->verb, KIND_DELETE_ANY) != 0)
            json_z(out, p->name);
    }
}

static void write_patterns(struct arena *a, const struct built_in *b, struct buf *text)
{
    struct json_out out;
    json_begin(&out, text);
    json_array(&out);
    for (size_t i = 0; i < countof(b->patterns) && b->patterns[i]; i++)
        add_pattern(&out, str_of(b->patterns[i]));
    struct permission_set of_projects = permission_of_projects();
    for (size_t i = 0; b->kinds && i < kind_count; i++) {
        const char *read = arena_printf(a, "%s.read", kinds[i]->name);
        if (strcmp(kinds[i]->name, "project") == 0 || strcmp(kinds[i]->name, "member") == 0 ||
            !permission_has(&of_projects, permission_find(read)))
            continue;
        if (kinds[i]->delete_own && b->kinds == ALL_BUT_OTHERS)
            add_each(&out, kinds[i]);
        else
            add_pattern(&out, str_of(arena_printf(a, "%s.*", kinds[i]->name)));
    }
    json_array_end(&out);
}

static bool make_one(struct db_conn *c, const struct built_in *b, struct err *err)
{
    struct arena auto_arena a;
    arena_init(&a);
    struct buf auto_buf text = {0};
    write_patterns(&a, b, &text);
    int64_t now = clock_now();
    return conn_exec(
        c,
        "INSERT INTO roles(name, description, permissions, built_in, revision, created_at, updated_at) "
        "VALUES(?, ?, ?, 1, 1, ?, ?) ON CONFLICT(name) DO UPDATE SET permissions = "
        "excluded.permissions, description = excluded.description, built_in = 1 "
        "WHERE roles.permissions <> excluded.permissions OR roles.description <> "
        "excluded.description",
        db_args(db_textz(b->name), db_textz(b->description), db_text(buf_view(&text)), db_int(now),
                db_int(now)),
        NULL, err);
}

static bool make_all(struct db_conn *c, unused_ok void *ctx, struct err *err)
{
    for (size_t i = 0; i < countof(built_in); i++)
        if (!make_one(c, &built_in[i], err))
            return false;
    return true;
}

bool role_make_built_in(struct core *core, struct err *err)
{
    return db_write(core->db, make_all, NULL, err);
}

bool role_built_in_id(struct db_conn *c, struct arena *a, const char *name, int64_t *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(c, a, "SELECT id FROM roles WHERE name = ? AND built_in = 1", db_args(db_textz(name)),
                        &row, &found, err))
        return false;
    *ret = found ? row.v[0].i : 0;
    return true;
}

/* --- giving roles --- */
bool role_may_give(struct op *op, int64_t role, int64_t project, const char *field, struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(op->conn, op->arena, "SELECT name, permissions, built_in FROM roles WHERE id = ?",
                        db_args(db_int(role)), &row, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_INVALID, field, "%s: there is no role %lld", field, (long long)role);
    if (project != 0 && row.v[2].i && str_is(row.v[0].s, ROLE_ADMINISTRATOR))
        return err_set(err, ERR_INVALID, field, "%s: administrator is no role of a project; choose owner",
                       field);
    if (project == 0 && row.v[2].i)
        return err_set(err, ERR_INVALID, field,
                       "%s: " STR_FMT " is built in and for projects; choose a role of your own", field,
                       STR_ARG(row.v[0].s));
    const struct grants *g = grants_of(op->caller);
    if (!g)
        return true;
    struct permission_set gives = {{0}}, holds = grants_in(g, project),
                          of_projects = permission_of_projects();
    permission_parse(op->arena, row.v[1].s, &gives);
    if (project != 0)
        permission_narrow(&gives, &of_projects);
    if (!permission_contains(&holds, &gives))
        return err_set(err, ERR_FORBIDDEN, NULL, "%s: the role " STR_FMT " may do more than you may", field,
                       STR_ARG(row.v[0].s));
    return true;
}

/* --- the kind --- */
/* A caller makes, changes or deletes no role that can do what the caller cannot. */
static bool may_write(struct op *op, const struct object *o, struct err *err)
{
    const struct grants *g = grants_of(op->caller);
    if (!g)
        return true;
    struct permission_set gives = {{0}}, holds = grants_in(g, 0);
    permission_parse(op->arena, object_text(o, "permissions"), &gives);
    if (!permission_contains(&holds, &gives))
        return err_set(err, ERR_FORBIDDEN, "permissions", "permissions: the role may do more than you may");
    return true;
}

static bool changeable(const struct object *o, struct err *err)
{
    if (object_int(o, "built_in"))
        return err_set(err, ERR_CONFLICT, NULL,
                       "the role " STR_FMT " is built in and cannot be changed or deleted",
                       STR_ARG(object_text(o, "name")));
    return true;
}

static bool before_create(struct op *op, struct object *o, struct err *err)
{
    return may_write(op, o, err);
}

static bool before_update(struct op *op, const struct object *old, struct object *new_, struct err *err)
{
    return changeable(old, err) && may_write(op, old, err) && may_write(op, new_, err);
}

static bool before_delete(struct op *op, struct object *o, struct err *err)
{
    return changeable(o, err) && may_write(op, o, err);
}

static void changed(struct core *core, unused_ok const struct object *o, unused_ok const char *verb)
{
    accounts_grants_changed(core);
}

static const struct field fields[] = {
    FIELD_NAME(FIELD_EDIT | FIELD_UNIQUE),
    FIELD_DESCRIPTION,
    {.name = "permissions",
     .type = FIELD_TEXTS,
     .flags = FIELD_EDIT | FIELD_LIST,
     .max = 300,
     .item_max = 100,
     .fallback = "[]",
     .check = permission_check,
     .title = {"Permissions", "权限"},
     .help = {"Names of the table of permissions, or patterns: dataset.*, *.read, *",
              "权限表中的名称，或通配：dataset.*、*.read、*"}},
    {.name = "built_in",
     .type = FIELD_BOOL,
     .flags = FIELD_FILTER | FIELD_LIST,
     .fallback = "false",
     .title = {"Built in", "内置"}},
    {0},
};

const struct kind kind_role = {
    .name = "role",
    .plural = "roles",
    .table = "roles",
    .title = {"Role", "角色"},
    .titles = {"Roles", "角色"},
    .help = {"What members of a project may do", "项目成员可以做什么"},
    .menu = "admin",
    .scope = SCOPE_PLATFORM,
    .verbs = VERB_ALL,
    .fields = fields,
    .before_create = before_create,
    .before_update = before_update,
    .before_delete = before_delete,
    .changed = changed,
};
