#include "core/spelled.h"

enum { STORED, SHOWN };

/* The other name of a member: from one of the pair to the other. */
static const char *renamed(const struct field *f, const char *key, int to)
{
    for (const char *const *pair = f->spelled; pair[STORED]; pair += 2)
        if (strcmp(key, pair[!to]) == 0)
            return pair[to];
    return key;
}

static void rename_all(const struct field *f, yyjson_val *v, int to, struct json_out *out)
{
    size_t i, n;
    yyjson_val *key, *value;
    json_object(out);
    yyjson_obj_foreach(v, i, n, key, value)
    {
        json_key(out, renamed(f, yyjson_get_str(key), to));
        json_value(out, value);
    }
    json_object_end(out);
}

yyjson_val *spelled_stored(struct arena *a, const struct field *f, yyjson_val *v, struct err *err)
{
    if (!f->spelled || !yyjson_is_obj(v))
        return v;
    for (const char *const *pair = f->spelled; pair[STORED]; pair += 2)
        if (yyjson_obj_get(v, pair[STORED]) && yyjson_obj_get(v, pair[SHOWN])) {
            err_set(err, ERR_INVALID, f->name, "%s: %s and %s are the same; give one of them", f->name,
                    pair[SHOWN], pair[STORED]);
            return NULL;
        }
    auto_buf struct buf text = {0};
    struct json_out o;
    json_begin(&o, &text);
    rename_all(f, v, STORED, &o);
    return json_parse(a, arena_str(a, buf_view(&text)), err);
}

void spelled_show(const struct field *f, struct str stored, struct json_out *out)
{
    auto_arena struct arena a;
    struct err ignored = {0};
    arena_init(&a);
    yyjson_val *v = json_parse(&a, stored, &ignored);
    if (yyjson_is_obj(v))
        rename_all(f, v, SHOWN, out);
    else
        json_raw(out, stored);
}
