#include "core/audit.h"

#include "base/clock.h"
#include "core/row.h"
#include "core/show.h"

#include <stdio.h>

/* Longer values are only told by their size. */
#define VALUE_MAX 2000

bool audit_same(const struct db_value *a, const struct db_value *b)
{
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case DB_NULL:
        return true;
    case DB_INT:
        return a->i == b->i;
    case DB_REAL:
        return a->r == b->r;
    default:
        return str_eq(a->s, b->s);
    }
}

static void write_value(const struct field *f, const struct db_value *v, struct json_out *out)
{
    char size[48];
    if (f->flags & (FIELD_SECRET | FIELD_VIRTUAL) && v->type != DB_NULL) {
        json_z(out, "***");
    } else if ((v->type == DB_TEXT || v->type == DB_BYTES) && v->s.n > VALUE_MAX) {
        snprintf(size, sizeof size, "(%zu bytes)", v->s.n);
        json_z(out, size);
    } else {
        show_value(f, v, out);
    }
}

struct str audit_changes(struct arena *a, const struct object *old, const struct object *new_)
{
    static const struct db_value null_value = {.type = DB_NULL};
    const struct object *any = old ? old : new_;
    if (!any)
        return STR("{}");
    const struct kind *k = any->kind;
    auto_buf struct buf b = {0};
    struct json_out out;
    json_begin(&out, &b);
    json_object(&out);
    for (size_t i = 0; k->fields[i].name; i++) {
        const struct db_value *was = old ? &old->values[i] : &null_value;
        const struct db_value *is = new_ ? &new_->values[i] : &null_value;
        if (k->fields[i].flags & (FIELD_STATUS | FIELD_INTERNAL) || audit_same(was, is))
            continue;
        json_key(&out, k->fields[i].name);
        json_object(&out);
        if (old) {
            json_key(&out, "old");
            write_value(&k->fields[i], was, &out);
        }
        if (new_) {
            json_key(&out, "new");
            write_value(&k->fields[i], is, &out);
        }
        json_object_end(&out);
    }
    json_object_end(&out);
    return arena_str(a, buf_view(&b));
}

struct str audit_input(struct arena *a, const struct field *fields, const struct db_value *values)
{
    auto_buf struct buf b = {0};
    struct json_out out;
    if (!fields)
        return STR_NULL;
    json_begin(&out, &b);
    json_object(&out);
    for (size_t i = 0; fields[i].name; i++) {
        if (values[i].type == DB_NULL)
            continue;
        json_key(&out, fields[i].name);
        write_value(&fields[i], &values[i], &out);
    }
    json_object_end(&out);
    return arena_str(a, buf_view(&b));
}

bool audit_object(struct op *op, const char *verb, const struct object *o, struct str detail, struct err *err)
{
    struct str name = kind_name_field(o->kind) && o->values[0].type == DB_TEXT ? o->values[0].s : STR_NULL;
    return engine_audit(op, verb, o->kind->name, o->id, name, o->project, detail, err);
}

bool audit_action(struct op *op, const struct audit_action *x, struct err *err)
{
    return audit_object(op, x->action->name, x->object, audit_input(op->arena, x->action->fields, x->input),
                        err);
}

bool engine_audit(struct op *op, const char *verb, const char *kind, int64_t id, struct str name,
                  int64_t project, struct str detail, struct err *err)
{
    struct object o = engine_object(op->arena, &kind_audit);
    o.created_by = op->caller->user;
    *object_value(&o, "at") = db_int(clock_now());
    *object_value(&o, "user") = op->caller->user ? db_int(op->caller->user) : db_null();
    *object_value(&o, "job") = op->caller->job ? db_int(op->caller->job) : db_null();
    *object_value(&o, "address") = db_textz(op->caller->peer);
    *object_value(&o, "verb") = db_textz(verb);
    *object_value(&o, "kind") = db_textz(kind);
    *object_value(&o, "object") = id ? db_int(id) : db_null();
    *object_value(&o, "name") = name.p ? db_text(name) : db_null();
    *object_value(&o, "project") = project ? db_int(project) : db_null();
    *object_value(&o, "detail") = detail.p ? db_text(detail) : db_null();
    return row_insert(op->conn, &o, err);
}
