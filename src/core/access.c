#include "core/access.h"

#include "core/row.h"

#include <inttypes.h>
#include <stdio.h>

bool access_missing(const struct kind *k, int64_t id, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, NULL, "there is no %s %" PRId64, k->title.en, id);
}

static bool is_system(const struct caller *c)
{
    return c->grants && c->grants == caller_system.grants;
}

bool access_signed_in(const struct caller *c, struct err *err)
{
    if (is_system(c) || c->user)
        return true;
    return err_set(err, ERR_UNAUTHORIZED, NULL, "sign in first");
}

static bool is_public(const struct object *o)
{
    return o->kind->public_too && object_int(o, "public") != 0;
}

bool access_object(const struct caller *c, const struct object *o, const char *verb, const char *permission,
                   struct err *err)
{
    const struct kind *k = o->kind;
    if (is_system(c))
        return true;
    if (!access_signed_in(c, err))
        return false;
    if (k->scope == SCOPE_OWN && o->id && o->created_by != c->user)
        return access_missing(k, o->id, err);
    char wanted[128];
    if (!permission && k->delete_own && strcmp(verb, "delete") == 0 && o->created_by != c->user)
        verb = KIND_DELETE_ANY;
    snprintf(wanted, sizeof wanted, "%s.%s", k->permission_as ? k->permission_as : k->name, verb ? verb : "");
    const char *name = permission ? permission : wanted;
    if (is_public(o)) {
        if (!permission && strcmp(verb, "read") == 0)
            return caller_scoped(c, name, err);
        /* Its existence is no secret: outsiders are told what is missing. */
        if (!caller_in_project(c, o->project))
            return err_set(err, ERR_FORBIDDEN, NULL,
                           "you need the permission %s in the project it belongs to", name);
    }
    struct err why = {0};
    if (caller_need(c, name, o->project, &why))
        return true;
    if (why.code == ERR_NOT_FOUND && o->id)
        return access_missing(k, o->id, err);
    *err = why;
    return false;
}

/* The kind's own condition (visible), or NULL. */
static const char *own_condition(struct core *core, const struct caller *c, const struct kind *k,
                                 struct arena *a, struct db_value *arg)
{
    if (!k->visible || is_system(c))
        return NULL;
    struct op op = {.core = core, .caller = c, .arena = a, .kind = k};
    return k->visible(&op, arg);
}

/* What belongs to a public object may be read like it. */
static bool parent_is_public(struct core *core, struct db_conn *conn, const struct object *o, struct arena *a)
{
    const struct kind *k = o->kind->scope == SCOPE_CHILD ? kind_by_name(str_of(o->kind->parent)) : NULL;
    struct object parent;
    struct err ignored = {0};
    bool found;
    return k && k->public_too &&
           row_load(core->db, conn, a, k, &(struct row_key){.id = o->parent}, &parent, &found, &ignored) &&
           found && is_public(&parent);
}

bool access_read(struct core *core, const struct caller *c, struct db_conn *conn, const struct object *o,
                 struct arena *a, struct err *err)
{
    return access_object(c, o, "read", NULL, err) ||
           (o->kind->reads_too && o->kind->reads_too(core, c, conn, o, a)) ||
           (parent_is_public(core, conn, o, a) && caller_scoped(c, kind_permission(a, o->kind, "read"), err));
}

bool access_load(struct core *core, const struct caller *c, struct db_conn *conn, const struct kind *k,
                 int64_t parent, int64_t id, struct arena *a, struct object *ret, struct err *err)
{
    if (!access_signed_in(c, err))
        return false;
    struct row_key key = {.id = id};
    struct object o;
    bool found;
    key.extra = own_condition(core, c, k, a, &key.extra_arg);
    if (!row_load(core->db, conn, a, k, &key, &o, &found, err))
        return false;
    if (!found || (parent && o.parent != parent))
        return access_missing(k, id, err);
    if (!access_read(core, c, conn, &o, a, err))
        return false;
    *ret = o;
    return true;
}

static bool need_read(const struct caller *c, const struct kind *k, struct arena *a, int64_t project,
                      struct err *err)
{
    return is_system(c) || caller_need(c, kind_permission(a, k, "read"), project, err);
}

static void equals(struct sql *out, const char *column, int64_t id)
{
    sql_and(out);
    sql_name(out, column);
    sql_add(out, "=");
    sql_arg(out, db_int(id));
}

/* The condition for what every project may read; false when the kind has no such objects. */
static bool limit_to_public(const struct kind *k, struct sql *out)
{
    const struct kind *of = k->scope == SCOPE_CHILD ? kind_by_name(str_of(k->parent)) : k;
    if (!of->public_too)
        return false;
    if (of == k) {
        equals(out, "public", 1);
        return true;
    }
    sql_and(out);
    sql_name(out, k->parent);
    buf_printf(&out->text, " IN (SELECT \"id\" FROM \"%s\" WHERE \"public\"=", of->table);
    sql_arg(out, db_int(1));
    sql_add(out, ")");
    return true;
}

static bool limit_to_project(const struct caller *c, const struct kind *k, const struct list_query *q,
                             struct arena *a, struct sql *out, struct err *err)
{
    if (q->project) {
        if (!need_read(c, k, a, q->project, err))
            return false;
        equals(out, "project", q->project);
        return true;
    }
    if (is_system(c) || caller_may(c, kind_permission(a, k, "read"), 0))
        return true;
    if (!limit_to_public(k, out))
        return err_set(err, ERR_INVALID, "project", "project: is required");
    return caller_scoped(c, kind_permission(a, k, "read"), err);
}

static bool limit_to_parent(struct core *core, const struct caller *c, const struct kind *k,
                            const struct list_query *q, struct arena *a, struct sql *out, struct err *err)
{
    struct object parent;
    const struct kind *pk = kind_by_name(str_of(k->parent));
    if (!access_load(core, c, NULL, pk, 0, q->parent, a, &parent, err))
        return false;
    const char *read = kind_permission(a, k, "read");
    if (is_public(&parent) ? !caller_scoped(c, read, err) : !need_read(c, k, a, parent.project, err))
        return false;
    equals(out, k->parent, q->parent);
    return true;
}

bool access_list(struct core *core, const struct caller *c, const struct kind *k, const struct list_query *q,
                 struct arena *a, struct sql *out, struct err *err)
{
    if (!access_signed_in(c, err))
        return false;
    bool by_project = k->scope == SCOPE_PROJECT || (k->scope == SCOPE_CHILD && !q->parent);
    if (q->project && !by_project)
        return err_set(err, ERR_INVALID, "project", "project: a %s is not found by project", k->title.en);
    if (by_project && !limit_to_project(c, k, q, a, out, err))
        return false;
    if (k->scope == SCOPE_CHILD && q->parent && !limit_to_parent(core, c, k, q, a, out, err))
        return false;
    if (k->scope == SCOPE_PLATFORM && !need_read(c, k, a, 0, err))
        return false;
    if (k->scope == SCOPE_OWN && !is_system(c)) {
        if (!need_read(c, k, a, 0, err))
            return false;
        equals(out, "created_by", c->user);
    }
    struct db_value arg = db_null();
    const char *extra = own_condition(core, c, k, a, &arg);
    if (extra) {
        sql_and(out);
        buf_printf(&out->text, "(%s)", extra);
        if (strchr(extra, '?'))
            out->args[out->n++] = arg;
    }
    return true;
}
