#include "core/access.h"
#include "core/audit.h"
#include "core/made_from.h"
#include "core/pending.h"
#include "core/refs.h"
#include "core/row.h"
#include "core/rule.h"
#include "core/search.h"
#include "core/spelled.h"
#include "core/validate.h"

#include <inttypes.h>

bool engine_get(struct core *core, const struct caller *c, const struct kind *k, int64_t parent, int64_t id,
                struct arena *a, struct object *ret, struct err *err)
{
    return access_load(core, c, NULL, k, parent, id, a, ret, err);
}

/* --- a write with its op --- */
struct write {
    struct op op;
    struct pending pending;
    engine_write_fn fn;
    void *ctx;
};

/* The first write of an action has the action's line of the audit in it: one is not kept without the other.
 */
static bool run_write(struct db_conn *conn, void *ctx, struct err *err)
{
    struct write *w = ctx;
    const struct audit_action *acting = w->op.caller->acting;
    w->op.conn = conn;
    pending_begin(&w->pending);
    return w->fn(&w->op, w->ctx, err) && (!acting || acting->written || audit_action(&w->op, acting, err));
}

static void begin_write(struct write *w, struct core *core, const struct caller *c, struct arena *a,
                        engine_write_fn fn, void *ctx)
{
    *w = (struct write){.op = {.core = core, .caller = c, .arena = a}, .fn = fn, .ctx = ctx};
    w->pending.arena = a;
    w->op.pending = &w->pending;
}

bool engine_write(struct core *core, const struct caller *c, struct arena *a, engine_write_fn fn, void *ctx,
                  struct err *err)
{
    struct write w;
    begin_write(&w, core, c, a, fn, ctx);
    if (!db_write(core->db, run_write, &w, err))
        return false;
    if (c->acting)
        c->acting->written = true;
    pending_tell(core, &w.pending);
    return true;
}

struct written {
    struct write write;
    struct pool_task task;
    bool ok;
    struct err err;
    engine_written_fn then;
};

static void tell_written(void *arg)
{
    struct written *l = arg;
    if (l->ok)
        pending_tell(l->write.op.core, &l->write.pending);
    l->then(l->write.ctx, l->ok, &l->err);
}

static void resume_written(void *ctx, bool ok, const struct err *err)
{
    struct written *l = container_of(ctx, struct written, write);
    l->ok = ok;
    l->err = *err;
    l->task = (struct pool_task){.fn = tell_written, .arg = l};
    pool_resume(l->write.op.core->pool, &l->task);
}

void engine_write_then(struct core *core, const struct caller *c, struct arena *a, engine_write_fn fn,
                       engine_written_fn then, void *ctx)
{
    struct written *l = arena_new(a, struct written);
    l->then = then;
    begin_write(&l->write, core, c, a, fn, ctx);
    db_write_then(core->db, run_write, resume_written, &l->write);
}

/* --- rows inside a write --- */
bool engine_taken(const struct kind *k, const char *field, struct db_value v, struct err *err)
{
    char shown[RULE_SHORT];
    if (v.type == DB_TEXT)
        rule_short(v.s, shown);
    else
        snprintf(shown, sizeof shown, "%" PRId64, v.i);
    err_set(err, ERR_EXISTS, field, "%s: %s is taken by another %s", field, shown, k->title.en);
    return err_chinese(err, "taken", "%s：%s 已被另一个%s使用", field, shown, k->title.zh);
}

static bool taken(struct op *op, const struct object *o, size_t i, struct err *err)
{
    const struct field *f = &o->kind->fields[i];
    const char *scope = row_scope_column(o->kind);
    auto_sql struct sql s;
    sql_init(&s);
    buf_printf(&s.text, "SELECT \"id\" FROM \"%s\" WHERE \"%s\"=", o->kind->table, f->name);
    sql_arg(&s, o->values[i]);
    if (scope) {
        buf_printf(&s.text, " AND \"%s\"=", scope);
        sql_arg(&s, db_int(o->kind->scope == SCOPE_PROJECT ? o->project
                           : o->kind->scope == SCOPE_OWN   ? o->created_by
                                                           : o->parent));
    }
    sql_add(&s, " AND \"id\"<>");
    sql_arg(&s, db_int(o->id));
    struct db_row row;
    bool found;
    if (!conn_query_one(op->conn, op->arena, s.text.p, sql_args(&s), &row, &found, err))
        return false;
    if (!found)
        return true;
    return engine_taken(o->kind, f->name, o->values[i], err);
}

/* Unique values are free; in one writer this is as good as the index, and names the field. */
static bool all_free(struct op *op, const struct object *o, struct err *err)
{
    const struct field *f = o->kind->fields;
    for (size_t i = 0; f[i].name; i++)
        if (f[i].flags & FIELD_UNIQUE && o->values[i].type != DB_NULL && !taken(op, o, i, err))
            return false;
    return true;
}

bool engine_insert_row(struct op *op, struct object *o, struct err *err)
{
    if (!all_free(op, o, err) || !row_insert(op->conn, o, err) ||
        !made_from_write(op->conn, o, op->arena, err))
        return false;
    pending_add(op->pending, o, "create");
    return audit_object(op, "create", o, audit_changes(op->arena, NULL, o), err);
}

bool engine_load_row(struct op *op, const struct kind *k, int64_t id, struct object *ret, bool *found,
                     struct err *err)
{
    const struct row_key key = {.id = id};
    return row_load(op->core->db, op->conn, op->arena, k, &key, ret, found, err);
}

/* What is found by text is another now. */
static bool note_search(struct op *op, const struct object *old, const struct object *o, struct err *err)
{
    size_t field[SEARCH_FIELDS_MAX], n = search_fields(o->kind, field);
    for (size_t i = 0; i < n; i++)
        if (!audit_same(&old->values[field[i]], &o->values[field[i]]))
            return search_changed(op->conn, o->kind->name, 0, o->id, err);
    return true;
}

static bool update_row(struct op *op, const struct object *old, struct object *o, struct err *err)
{
    if (!all_free(op, o, err) || !row_update(op->conn, o, err) || !note_search(op, old, o, err))
        return false;
    pending_add(op->pending, o, "update");
    return audit_object(op, "update", o, audit_changes(op->arena, old, o), err);
}

bool engine_update_row(struct op *op, struct object *o, struct err *err)
{
    struct object old;
    bool found;
    if (!engine_load_row(op, o->kind, o->id, &old, &found, err))
        return false;
    return found ? update_row(op, &old, o, err) : access_missing(o->kind, o->id, err);
}

bool engine_delete_row(struct op *op, struct object *o, struct err *err)
{
    if (!row_delete(op->conn, o, err) || !made_from_drop(op->conn, o, err))
        return false;
    pending_add(op->pending, o, "delete");
    return audit_object(op, "delete", o, audit_changes(op->arena, o, NULL), err);
}

/* --- create --- */
struct change {
    struct engine_change what;
    struct db_value *values; /* of body, by field */
    bool *given;
    struct object object;
    struct str refs;
};

static struct change change_of(struct arena *a, const struct engine_change *what)
{
    size_t n = kind_field_count(what->kind) + 1;
    return (struct change){
        .what = *what, .values = arena_array(a, struct db_value, n), .given = arena_array(a, bool, n)};
}

static bool check_refs(struct op *op, const struct change *x, const struct object *o, struct err *err)
{
    const struct field *f = x->what.kind->fields;
    for (size_t i = 0; f[i].name; i++) {
        if (f[i].type == FIELD_REF && x->given[i] && o->values[i].type == DB_INT &&
            !refs_check(op, o, &f[i], o->values[i].i, err))
            return false;
        size_t n = 0;
        int64_t *ids =
            f[i].type == FIELD_REFS && x->given[i] ? object_refs(op->arena, o, f[i].name, &n) : NULL;
        for (size_t k = 0; k < n; k++)
            if (!refs_check(op, o, &f[i], ids[k], err))
                return false;
    }
    return true;
}

/* What the new object belongs to is still there. */
static bool place_exists(struct op *op, const struct object *o, struct err *err)
{
    const struct kind *k = o->kind;
    const struct kind *place = k->scope == SCOPE_PROJECT ? kind_by_name(STR("project"))
                               : k->scope == SCOPE_CHILD ? kind_by_name(str_of(k->parent))
                                                         : NULL;
    int64_t id = k->scope == SCOPE_PROJECT ? o->project : o->parent;
    struct object found_object;
    bool found = true;
    if (place && !engine_load_row(op, place, id, &found_object, &found, err))
        return false;
    return found || access_missing(place, id, err);
}

static bool create_in_write(struct op *op, void *ctx, struct err *err)
{
    struct change *x = ctx;
    struct object o = x->object;
    op->kind = x->what.kind;
    o.values = arena_copy(op->arena, x->values, (kind_field_count(x->what.kind) + 1) * sizeof *x->values);
    if (!place_exists(op, &o, err) || !check_refs(op, x, &o, err))
        return false;
    if (x->what.kind->before_create && !x->what.kind->before_create(op, &o, err))
        return false;
    if (!engine_insert_row(op, &o, err))
        return false;
    if (x->what.kind->after_create && !x->what.kind->after_create(op, &o, err))
        return false;
    x->object = o;
    return true;
}

/* The place where the new object will be, before permission to create it there is asked. */
static bool find_place(struct core *core, const struct caller *c, struct arena *a, struct change *x,
                       struct err *err)
{
    const struct kind *k = x->what.kind;
    struct object *o = &x->object;
    *o = engine_object(a, k);
    o->created_by = c->user;
    o->parent = x->what.parent;
    if (k->scope == SCOPE_CHILD) {
        struct object parent;
        if (!access_load(core, c, NULL, kind_by_name(str_of(k->parent)), 0, x->what.parent, a, &parent, err))
            return false;
        o->project = parent.project;
    } else if (k->scope == SCOPE_PROJECT) {
        yyjson_val *v = yyjson_obj_get(x->what.body, "project");
        if (!v)
            return err_set(err, ERR_INVALID, "project", "project: is required");
        return validate_ref("project", v, &o->project, err);
    }
    return true;
}

/* Lets the kind work on the given values before the write, and on those it keeps for itself. old is NULL at
 * create. */
static bool prepare(struct core *core, const struct caller *c, struct arena *a, struct change *x,
                    const struct object *old, struct err *err)
{
    const struct kind *k = x->what.kind;
    size_t n = kind_field_count(k);
    if (!k->prepare)
        return true;
    struct op op = {.core = core, .caller = c, .arena = a, .kind = k};
    struct object o = old ? *old : x->object;
    o.values = arena_copy(a, old ? old->values : x->values, (n + 1) * sizeof *o.values);
    for (size_t i = 0; i < n; i++)
        if (x->given[i])
            o.values[i] = x->values[i];
    if (!k->prepare(&op, old, &o, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        bool own = k->fields[i].flags & FIELD_INTERNAL;
        if (own && old && !audit_same(&o.values[i], &old->values[i]))
            x->given[i] = true;
        if (x->given[i] || (own && !old))
            x->values[i] = o.values[i];
    }
    return true;
}

static const char *const place_keys[] = {"project", NULL};

/* All of a create that comes before the write. */
static bool may_create(struct core *core, const struct caller *c, struct arena *a, struct change *x,
                       struct err *err)
{
    const struct kind *k = x->what.kind;
    if (!access_signed_in(c, err))
        return false;
    if (!yyjson_is_obj(x->what.body))
        return err_set(err, ERR_MALFORMED, NULL, "the body must be a JSON object");
    if (!find_place(core, c, a, x, err) || !access_object(c, &x->object, "create", NULL, err))
        return false;
    return validate_body(a, k->fields, x->what.body, VALIDATE_CREATE,
                         k->scope == SCOPE_PROJECT ? place_keys : NULL, x->values, x->given, err) &&
           prepare(core, c, a, x, NULL, err);
}

/* --- update --- */
/* RFC 7396 also inside JSON fields: an object is merged into the stored one. */
static bool merge_json(struct op *op, const struct field *f, const struct db_value *old, yyjson_val *patch,
                       struct db_value *ret, struct err *err)
{
    if (!yyjson_is_obj(patch))
        return true;
    yyjson_val *was = json_parse(op->arena, old->type == DB_TEXT ? old->s : STR("{}"), err);
    patch = was ? spelled_stored(op->arena, f, patch, err) : NULL;
    if (!patch)
        return false;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    size_t n;
    char *text = doc ? yyjson_mut_val_write(yyjson_merge_patch(doc, was, patch), 0, &n) : NULL;
    yyjson_mut_doc_free(doc);
    if (!text)
        return err_set(err, ERR_INVALID, f->name, "%s: cannot be merged", f->name);
    struct str merged = arena_str(op->arena, (struct str){text, n});
    free(text);
    yyjson_val *v = json_parse(op->arena, merged, err);
    return v && validate_value(op->arena, f, v, ret, err);
}

static bool apply(struct op *op, const struct change *x, const struct object *old, struct object *o,
                  bool *ret_changed, struct err *err)
{
    const struct field *f = x->what.kind->fields;
    *ret_changed = false;
    for (size_t i = 0; f[i].name; i++) {
        if (!x->given[i])
            continue;
        o->values[i] = x->values[i];
        if (f[i].type == FIELD_JSON &&
            !merge_json(op, &f[i], &old->values[i], yyjson_obj_get(x->what.body, f[i].name), &o->values[i],
                        err))
            return false;
        if (f[i].flags & FIELD_VIRTUAL || !audit_same(&o->values[i], &old->values[i]))
            *ret_changed = true;
    }
    return true;
}

static bool same_revision(const struct change *x, const struct object *o, struct err *err)
{
    if (x->what.revision == 0 || x->what.revision == o->revision)
        return true;
    return err_set(err, ERR_STALE, NULL, "the %s has revision %" PRId64 " by now, not %" PRId64,
                   x->what.kind->title.en, o->revision, x->what.revision);
}

static bool update_in_write(struct op *op, void *ctx, struct err *err)
{
    struct change *x = ctx;
    const struct kind *k = op->kind = x->what.kind;
    struct object old;
    bool changed;
    if (!access_load(op->core, op->caller, op->conn, k, x->what.parent, x->what.id, op->arena, &old, err) ||
        !access_object(op->caller, &old, "update", NULL, err) || !same_revision(x, &old, err))
        return false;
    struct object o = old;
    o.values = arena_copy(op->arena, old.values, (kind_field_count(k) + 1) * sizeof *old.values);
    if (!apply(op, x, &old, &o, &changed, err) || !check_refs(op, x, &o, err))
        return false;
    if (changed) {
        if (k->before_update && !k->before_update(op, &old, &o, err))
            return false;
        if (!update_row(op, &old, &o, err))
            return false;
        if (k->after_update && !k->after_update(op, &old, &o, err))
            return false;
    }
    x->object = o;
    return true;
}

static bool may_update(struct core *core, const struct caller *c, struct arena *a, struct change *x,
                       struct err *err)
{
    const struct engine_change *w = &x->what;
    struct object now;
    /* Rights first: a caller that may not change it does not learn which fields it has. */
    if (!access_load(core, c, NULL, w->kind, w->parent, w->id, a, &now, err) ||
        !access_object(c, &now, "update", NULL, err))
        return false;
    if (!yyjson_is_obj(w->body))
        return err_set(err, ERR_MALFORMED, NULL, "the body must be a JSON object");
    return validate_body(a, w->kind->fields, w->body, VALIDATE_UPDATE, NULL, x->values, x->given, err) &&
           prepare(core, c, a, x, &now, err);
}

/* --- delete --- */
static bool delete_in_write(struct op *op, void *ctx, struct err *err)
{
    struct change *x = ctx;
    const struct kind *k = op->kind = x->what.kind;
    struct object o;
    if (!access_load(op->core, op->caller, op->conn, k, x->what.parent, x->what.id, op->arena, &o, err) ||
        !access_object(op->caller, &o, "delete", NULL, err) || !same_revision(x, &o, err))
        return false;
    if (k->before_delete && !k->before_delete(op, &o, err))
        return false;
    if (!refs_find(op, &o, &x->refs, err))
        return false;
    if (x->refs.p)
        return err_set(err, ERR_CONFLICT, NULL, "the %s is still in use", k->title.en);
    x->object = o;
    return engine_delete_row(op, &o, err) && (!k->after_delete || k->after_delete(op, &o, err));
}

/* --- all three --- */
static const struct {
    bool (*before)(struct core *core, const struct caller *c, struct arena *a, struct change *x,
                   struct err *err); /* the write; may be NULL */
    engine_write_fn write;
} verbs[] = {
    [ENGINE_CREATE] = {may_create, create_in_write},
    [ENGINE_UPDATE] = {may_update, update_in_write},
    [ENGINE_DELETE] = {NULL, delete_in_write},
};

static bool before_write(struct core *core, const struct caller *c, struct arena *a, struct change *x,
                         struct err *err)
{
    return !verbs[x->what.verb].before || verbs[x->what.verb].before(core, c, a, x, err);
}

static bool change_now(struct core *core, const struct caller *c, struct arena *a, struct change *x,
                       struct err *err)
{
    return before_write(core, c, a, x, err) && engine_write(core, c, a, verbs[x->what.verb].write, x, err);
}

bool engine_create(struct core *core, const struct caller *c, const struct kind *k, int64_t parent,
                   yyjson_val *body, struct arena *a, struct object *ret, struct err *err)
{
    struct change x = change_of(a, &(struct engine_change){ENGINE_CREATE, k, parent, 0, 0, body});
    if (!change_now(core, c, a, &x, err))
        return false;
    *ret = x.object;
    return true;
}

bool engine_update(struct core *core, const struct caller *c, const struct kind *k, int64_t parent,
                   int64_t id, int64_t revision, yyjson_val *patch, struct arena *a, struct object *ret,
                   struct err *err)
{
    struct change x = change_of(a, &(struct engine_change){ENGINE_UPDATE, k, parent, id, revision, patch});
    if (!change_now(core, c, a, &x, err))
        return false;
    *ret = x.object;
    return true;
}

bool engine_delete(struct core *core, const struct caller *c, const struct kind *k, int64_t parent,
                   int64_t id, int64_t revision, struct arena *a, struct str *ret_refs, struct err *err)
{
    struct change x = change_of(a, &(struct engine_change){ENGINE_DELETE, k, parent, id, revision, NULL});
    bool ok = change_now(core, c, a, &x, err);
    *ret_refs = ok ? STR_NULL : x.refs;
    return ok;
}

/* One that is called back. */
struct later {
    struct write write;
    struct change change;
    struct pool_task task;
    bool ok;
    struct err err;
    engine_then_fn then;
    void *ctx;
};

static void call_back(void *arg)
{
    struct later *l = arg;
    if (l->ok)
        pending_tell(l->write.op.core, &l->write.pending);
    l->then(l->ctx, l->ok ? &l->change.object : NULL, l->ok ? STR_NULL : l->change.refs, &l->err);
}

static void written(void *ctx, bool ok, const struct err *err)
{
    struct later *l = container_of(ctx, struct later, write);
    l->ok = ok;
    l->err = *err;
    l->task = (struct pool_task){.fn = call_back, .arg = l};
    pool_resume(l->write.op.core->pool, &l->task);
}

void engine_change_then(struct core *core, const struct caller *c, const struct engine_change *what,
                        struct arena *a, engine_then_fn then, void *ctx)
{
    struct later *l = arena_new(a, struct later);
    struct err err = {0};
    l->change = change_of(a, what);
    if (!before_write(core, c, a, &l->change, &err)) {
        then(ctx, NULL, STR_NULL, &err);
        return;
    }
    l->then = then;
    l->ctx = ctx;
    begin_write(&l->write, core, c, a, verbs[what->verb].write, &l->change);
    db_write_then(core->db, run_write, written, &l->write);
}
