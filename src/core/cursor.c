#include "core/cursor.h"

#include "base/hash.h"
#include "base/json.h"

#define CURSOR_MAX 4096

char *cursor_text(struct arena *a, const struct cursor *c)
{
    auto_buf struct buf b = {0};
    struct json_out o;
    json_begin(&o, &b);
    json_array(&o);
    json_string(&o, c->sort);
    if (c->value.type == DB_INT)
        json_int(&o, c->value.i);
    else if (c->value.type == DB_REAL)
        json_real(&o, c->value.r);
    else
        json_string(&o, c->value.type == DB_TEXT ? c->value.s : STR_NULL);
    json_int(&o, c->id);
    json_array_end(&o);
    char *text = arena_alloc(a, 4 * (b.n + 2) / 3 + 1);
    base64url_encode(b.p, b.n, text);
    return text;
}

static bool right_type(const struct field *f, yyjson_val *v, struct db_value *ret)
{
    *ret = db_null();
    if (yyjson_is_null(v))
        return true;
    if (!f)
        return false;
    switch (f->type) {
    case FIELD_REAL:
        *ret = db_real(yyjson_get_num(v));
        return yyjson_is_num(v);
    case FIELD_INT:
    case FIELD_BOOL:
    case FIELD_TIME:
    case FIELD_REF:
        *ret = db_int(yyjson_get_sint(v));
        return yyjson_is_int(v) && !(yyjson_is_uint(v) && yyjson_get_uint(v) > INT64_MAX);
    default:
        *ret = db_text(json_str(v));
        return yyjson_is_str(v) && strlen(yyjson_get_str(v)) == yyjson_get_len(v);
    }
}

bool cursor_parse(struct arena *a, struct str text, struct str sort, const struct field *f,
                  struct cursor *ret, struct err *err)
{
    char *raw = arena_alloc(a, text.n < CURSOR_MAX ? text.n + 4 : 4);
    size_t n;
    struct err bad = {0};
    struct cursor c;
    bool ok = text.n > 0 && text.n < CURSOR_MAX && base64_decode(text, raw, text.n + 3, &n);
    yyjson_val *v = ok ? json_parse(a, (struct str){raw, n}, &bad) : NULL;
    yyjson_val *id = yyjson_arr_get(v, 2);
    if (!yyjson_is_arr(v) || yyjson_arr_size(v) != 3 || !yyjson_is_uint(id) ||
        yyjson_get_uint(id) > INT64_MAX || !right_type(f, yyjson_arr_get(v, 1), &c.value))
        return err_set(err, ERR_INVALID, "cursor", "cursor: is not one that a list of this order gave");
    c.sort = json_str(yyjson_arr_get(v, 0));
    c.id = (int64_t)yyjson_get_uint(id);
    if (!c.sort.p || !str_eq(c.sort, sort))
        return err_set(err, ERR_INVALID, "cursor",
                       "cursor: belongs to a list in another order, or of another search");
    *ret = c;
    return true;
}
