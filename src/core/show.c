#include "core/show.h"

#include "base/clock.h"
#include "core/names.h"
#include "core/spelled.h"

static void show_time(int64_t us, struct json_out *out)
{
    char text[CLOCK_TEXT_MAX];
    json_z(out, clock_format(us, text));
}

void show_value(const struct field *f, const struct db_value *v, struct json_out *out)
{
    if (v->type == DB_NULL) {
        json_null(out);
        return;
    }
    switch (f->type) {
    case FIELD_TEXT:
    case FIELD_CHOICE:
        json_string(out, v->s);
        return;
    case FIELD_INT:
    case FIELD_REF:
        json_int(out, v->i);
        return;
    case FIELD_REAL:
        json_real(out, v->type == DB_INT ? (double)v->i : v->r);
        return;
    case FIELD_BOOL:
        json_bool(out, v->i != 0);
        return;
    case FIELD_TIME:
        show_time(v->i, out);
        return;
    case FIELD_REFS:
    case FIELD_TEXTS:
    case FIELD_JSON:
        if (f->spelled)
            spelled_show(f, v->s, out);
        else
            json_raw(out, v->s);
        return;
    }
}

void show_ref(const struct names *names, const struct kind *k, int64_t id, struct json_out *out)
{
    if (id == 0) {
        json_null(out);
        return;
    }
    static const struct name_entry nobody = {0};
    const struct name_entry *e = k ? names_get(names, k, id) : &nobody;
    json_object(out);
    json_kint(out, "id", id);
    json_kstr(out, "name", e->name);
    if (e->of) {
        json_key(out, "of");
        json_object(out);
        json_kint(out, "id", e->of);
        json_kstr(out, "name", e->of_name);
        json_object_end(out);
    }
    json_object_end(out);
}

bool show_reference(struct op *op, const struct kind *k, int64_t id, struct json_out *out, struct err *err)
{
    struct names names;
    names_init(&names, op->arena, 1);
    names_want(&names, k, id);
    if (!names_load(&names, op->core->db, err))
        return false;
    bool there = k && id && names_get(&names, k, id)->name.p;
    show_ref(&names, k, there ? id : 0, out);
    return true;
}

/* The kinds that the fields of a kind refer to, looked up once per page. */
struct refs {
    const struct kind *user, *project, *parent;
    const struct kind **of_field;
    struct names names;
};

static void want_names(struct refs *r, const struct object *o)
{
    const struct kind *k = o->kind;
    names_want(&r->names, r->user, o->created_by);
    if (kind_has_project(k))
        names_want(&r->names, r->project, o->project);
    names_want(&r->names, r->parent, o->parent);
    for (size_t i = 0; k->fields[i].name; i++)
        if (k->fields[i].type == FIELD_REF && o->values[i].type == DB_INT) {
            names_want(&r->names, r->of_field[i], o->values[i].i);
        } else if (k->fields[i].type == FIELD_REFS) {
            size_t n;
            int64_t *ids = object_refs(r->names.arena, o, k->fields[i].name, &n);
            for (size_t j = 0; j < n; j++)
                names_want(&r->names, r->of_field[i], ids[j]);
        }
}

static bool load_names(struct core *core, const struct object *o, size_t n, struct arena *a, struct refs *ret,
                       struct err *err)
{
    const struct kind *k = o->kind;
    size_t fields = kind_field_count(k);
    ret->user = kind_by_name(STR("user"));
    ret->project = kind_by_name(STR("project"));
    ret->parent = k->parent ? kind_by_name(str_of(k->parent)) : NULL;
    ret->of_field = arena_array(a, const struct kind *, fields + 1);
    for (size_t i = 0; i < fields; i++)
        if (k->fields[i].type == FIELD_REF || k->fields[i].type == FIELD_REFS)
            ret->of_field[i] = kind_by_name(str_of(k->fields[i].ref));
    size_t most = n * (fields + 3);
    for (size_t i = 0; i < n * fields; i++)
        if (k->fields[i % fields].type == FIELD_REFS && o[i / fields].values[i % fields].type == DB_TEXT)
            most += o[i / fields].values[i % fields].s.n / 2;
    names_init(&ret->names, a, most);
    for (size_t i = 0; i < n; i++)
        want_names(ret, &o[i]);
    return names_load(&ret->names, core->db, err);
}

static void show_list(const struct refs *r, const struct object *o, size_t field, struct json_out *out)
{
    size_t n;
    int64_t *ids = object_refs(r->names.arena, o, o->kind->fields[field].name, &n);
    json_array(out);
    for (size_t i = 0; i < n; i++)
        show_ref(&r->names, r->of_field[field], ids[i], out);
    json_array_end(out);
}

static bool show_one(struct op *op, const struct object *o, const struct refs *r, struct json_out *out,
                     struct err *err)
{
    const struct kind *k = o->kind;
    json_object(out);
    json_kint(out, "id", o->id);
    if (kind_has_project(k)) {
        json_key(out, "project");
        show_ref(&r->names, r->project, o->project, out);
    }
    if (k->scope == SCOPE_CHILD) {
        json_key(out, k->parent);
        show_ref(&r->names, r->parent, o->parent, out);
    }
    for (size_t i = 0; k->fields[i].name; i++) {
        const struct field *f = &k->fields[i];
        if (f->flags & (FIELD_VIRTUAL | FIELD_SECRET | FIELD_INTERNAL))
            continue;
        json_key(out, f->name);
        if (f->type == FIELD_REF)
            show_ref(&r->names, r->of_field[i], o->values[i].type == DB_INT ? o->values[i].i : 0, out);
        else if (f->type == FIELD_REFS)
            show_list(r, o, i, out);
        else
            show_value(f, &o->values[i], out);
    }
    if (k->show && !k->show(op, o, out, err))
        return false;
    json_key(out, "created_by");
    show_ref(&r->names, r->user, o->created_by, out);
    json_key(out, "created_at");
    show_time(o->created_at, out);
    json_key(out, "updated_at");
    show_time(o->updated_at, out);
    json_kint(out, "revision", o->revision);
    json_object_end(out);
    return true;
}

bool show_objects(struct core *core, const struct caller *c, const struct object *o, size_t n,
                  struct arena *a, struct json_out *out, struct err *err)
{
    if (n == 0)
        return true;
    struct refs refs = {0};
    if (!load_names(core, o, n, a, &refs, err))
        return false;
    struct op op = {.core = core, .caller = c, .arena = a, .kind = o->kind};
    for (size_t i = 0; i < n; i++)
        if (!show_one(&op, &o[i], &refs, out, err))
            return false;
    return true;
}

bool engine_show(struct core *core, const struct caller *c, const struct object *o, struct arena *a,
                 struct buf *out, struct err *err)
{
    struct json_out json;
    json_begin(&json, out);
    return show_objects(core, c, o, 1, a, &json, err);
}

bool engine_answer(struct op *op, const struct object *o, struct json_out *out, struct err *err)
{
    return show_objects(op->core, op->caller, o, 1, op->arena, out, err);
}

bool engine_answer_id(struct op *op, const struct kind *k, int64_t id, struct json_out *out, struct err *err)
{
    struct object o;
    return engine_get(op->core, &caller_system, k, 0, id, op->arena, &o, err) &&
           engine_answer(op, &o, out, err);
}

void show_cpus(struct json_out *out, double cores)
{
    json_key(out, "cpus");
    json_real(out, cores);
    json_key(out, "cpu");
    json_real(out, cores);
}
