/* The demo's project and the people in it. */
#include "core/account/accounts.h"
#include "core/account/password.h"
#include "core/account/role.h"
#include "core/account/user.h"
#include "core/demo/demo_own.h"
#include "core/quota.h"

#define NAMES_TRIED 20

static const struct person {
    const char *name, *shown, *role; /* a built-in role, and the category of the user */
} people[DEMO_PEOPLE] = {{"demo-anna", "Anna (demo)", "annotator"},
                         {"demo-ben", "Ben (demo)", "annotator"},
                         {"demo-rui", "Rui (demo)", "reviewer"}};

/* "demo", or "demo-2" where that is somebody else's. */
static bool free_name(struct op *op, const char *table, const char *wanted, const char **ret, struct err *err)
{
    const char *sql = arena_printf(op->arena, "SELECT id FROM %s WHERE name = ?", table);
    for (int i = 1; i <= NAMES_TRIED; i++) {
        struct db_row row;
        bool found;
        *ret = i == 1 ? wanted : arena_printf(op->arena, "%s-%d", wanted, i);
        if (!conn_query_one(op->conn, op->arena, sql, db_args(db_textz(*ret)), &row, &found, err))
            return false;
        if (!found)
            return true;
    }
    return err_message(err, ERR_CONFLICT, "name", MESSAGE_DEMO_NAME, wanted);
}

static bool add_member(struct op *op, int64_t project, int64_t user, const char *role, struct err *err)
{
    struct object m = engine_object(op->arena, &kind_member);
    int64_t id;
    if (!role_built_in_id(op->conn, op->arena, role, &id, err))
        return false;
    m.parent = m.project = project;
    m.created_by = op->caller->user;
    *object_value(&m, "user") = db_int(user);
    *object_value(&m, "role") = db_int(id);
    return engine_insert_row(op, &m, err);
}

static bool make_project(struct op *op, int64_t *ret, struct err *err)
{
    struct object o = engine_object(op->arena, &kind_project);
    const char *name;
    if (!free_name(op, "projects", "demo", &name, err))
        return false;
    o.created_by = op->caller->user;
    *object_value(&o, "name") = db_textz(name);
    *object_value(&o, "description") = db_textz("An example of everything; removed with one click.");
    *object_value(&o, "quota") = db_textz("{}");
    *object_value(&o, "weight") = *object_value(&o, "job_access") = db_int(1);
    if (!engine_insert_row(op, &o, err) || !quota_write(op->conn, o.id, STR("{}"), err))
        return false;
    *ret = o.id;
    return !op->caller->user || add_member(op, o.id, op->caller->user, "owner", err);
}

static bool make_person(struct op *op, const struct person *p, struct str hash, int64_t project, int64_t *ret,
                        struct err *err)
{
    struct object u = engine_object(op->arena, &kind_user);
    const char *name;
    if (!free_name(op, "users", p->name, &name, err))
        return false;
    u.created_by = op->caller->user;
    *object_value(&u, "name") = db_textz(name);
    *object_value(&u, "display_name") = db_textz(p->shown);
    *object_value(&u, "password") = db_text(hash);
    *object_value(&u, "category") = db_textz(p->role);
    *object_value(&u, "administrator") = *object_value(&u, "disabled") = db_int(0);
    if (!engine_insert_row(op, &u, err))
        return false;
    *ret = u.id;
    return add_member(op, project, u.id, p->role, err);
}

bool demo_make(struct op *op, struct str hash, int64_t *ret_project, int64_t ret[DEMO_PEOPLE],
               struct err *err)
{
    if (!make_project(op, ret_project, err))
        return false;
    for (size_t i = 0; i < DEMO_PEOPLE; i++)
        if (!make_person(op, &people[i], hash, *ret_project, &ret[i], err))
            return false;
    return true;
}

size_t demo_people(struct arena *a, const struct object *row, int64_t ret[DEMO_PEOPLE])
{
    struct err ignored = {0};
    struct str text = object_text(row, "people_ids");
    yyjson_val *list = text.n ? json_parse(a, text, &ignored) : NULL, *one;
    size_t i, n, found = 0;
    yyjson_arr_foreach(list, i, n, one)
    {
        if (found < DEMO_PEOPLE && yyjson_is_int(one))
            ret[found++] = yyjson_get_sint(one);
    }
    return found;
}

/* --- new passwords --- */

struct renewal {
    struct str hash[DEMO_PEOPLE];
    struct object user[DEMO_PEOPLE];
    size_t n; /* of those that are there still */
};

static bool renew_write(struct op *op, void *ctx, struct err *err)
{
    struct renewal *r = ctx;
    struct object row;
    int64_t ids[DEMO_PEOPLE];
    if (!demo_load_row(op, &row, err))
        return false;
    const size_t n = demo_people(op->arena, &row, ids);
    r->n = 0;
    for (size_t i = 0; i < n; i++) {
        bool found;
        if (!engine_load_row(op, &kind_user, ids[i], &r->user[r->n], &found, err))
            return false;
        if (found && !user_set_password(op, ids[i], r->hash[r->n], err))
            return false;
        r->n += found;
    }
    return r->n > 0 || err_message(err, ERR_CONFLICT, "state", MESSAGE_DEMO_ABSENT);
}

bool demo_passwords(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                    int *status, struct err *err)
{
    (void)o, (void)input, (void)status;
    struct renewal r = {.n = 0};
    char text[DEMO_PEOPLE][PASSWORD_TEXT];
    if (!caller_need(op->caller, "user.reset-password", 0, err))
        return false;
    for (size_t i = 0; i < DEMO_PEOPLE; i++) {
        password_generate(text[i]);
        if (!password_hash(op->arena, str_of(text[i]), &r.hash[i], err))
            return false;
    }
    if (!engine_write(op->core, op->caller, op->arena, renew_write, &r, err))
        return false;
    json_object(out);
    json_key(out, "items");
    json_array(out);
    for (size_t i = 0; i < r.n; i++) {
        json_object(out);
        json_kstr(out, "name", object_text(&r.user[i], "name"));
        json_kstr(out, "role", object_text(&r.user[i], "category"));
        json_kz(out, "password", text[i]);
        json_object_end(out);
    }
    json_array_end(out);
    json_object_end(out);
    return true;
}
