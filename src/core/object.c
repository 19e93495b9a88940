#include "base/log.h"
#include "core/engine.h"
#include "core/kind.h"

struct object engine_object(struct arena *a, const struct kind *k)
{
    return (struct object){.kind = k, .values = arena_array(a, struct db_value, kind_field_count(k) + 1)};
}

struct db_value *object_value(const struct object *o, const char *field)
{
    size_t i;
    if (!kind_field(o->kind, str_of(field), &i)) {
        log_error("kind %s has no field %s", o->kind->name, field);
        abort();
    }
    return &o->values[i];
}

int64_t object_int(const struct object *o, const char *field)
{
    const struct db_value *v = object_value(o, field);
    return v->type == DB_INT ? v->i : 0;
}

struct str object_text(const struct object *o, const char *field)
{
    const struct db_value *v = object_value(o, field);
    return v->type == DB_TEXT ? v->s : STR_NULL;
}
