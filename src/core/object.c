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

/* The stored form is ours: "[3,17]". */
int64_t *object_refs(struct arena *a, const struct object *o, const char *field, size_t *ret_n)
{
    struct str s = object_text(o, field);
    int64_t *ids = arena_array(a, int64_t, s.n / 2 + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        bool digit = s.p[i] >= '0' && s.p[i] <= '9', before = i > 0 && s.p[i - 1] >= '0' && s.p[i - 1] <= '9';
        if (digit && !before)
            ids[n++] = 0;
        if (digit)
            ids[n - 1] = ids[n - 1] * 10 + (s.p[i] - '0');
    }
    *ret_n = n;
    return ids;
}

struct str object_text(const struct object *o, const char *field)
{
    const struct db_value *v = object_value(o, field);
    return v->type == DB_TEXT ? v->s : STR_NULL;
}
