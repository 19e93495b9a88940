#include "core/validate.h"

#include "base/clock.h"
#include "base/messages.h"
#include "core/rule.h"
#include "core/spelled.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* When neither the field nor its rule says: texts as descriptions (SPEC K12). */
#define TEXT_MAX  500
#define TEXTS_MAX 100
#define REFS_MAX  50
#define ITEM_MAX  200
#define JSON_MAX  65536

int64_t validate_min(const struct field *f)
{
    if (f->min || f->type != FIELD_TEXT)
        return f->min;
    const struct rule *r = rule_find(f->rule);
    int64_t min = r ? r->min : 0;
    return f->flags & FIELD_REQUIRED && min == 0 ? 1 : min;
}

int64_t validate_max(const struct field *f)
{
    if (f->max)
        return f->max;
    const struct rule *r = f->type == FIELD_TEXT ? rule_find(f->rule) : NULL;
    switch (f->type) {
    case FIELD_TEXT:
        return r ? r->max : TEXT_MAX;
    case FIELD_TEXTS:
        return TEXTS_MAX;
    case FIELD_REFS:
        return REFS_MAX;
    case FIELD_JSON:
        return JSON_MAX;
    default:
        return 0;
    }
}

static const char *type_word(yyjson_val *v)
{
    if (yyjson_is_num(v))
        return "a number";
    if (yyjson_is_str(v))
        return "a text";
    if (yyjson_is_arr(v))
        return "a list";
    return yyjson_is_obj(v) ? "an object" : yyjson_get_type_desc(v);
}

static bool wrong_type(const struct field *f, yyjson_val *v, const char *wanted, struct err *err)
{
    return err_set(err, ERR_INVALID, f->name, "%s: is %s; it must be %s", f->name, type_word(v), wanted);
}

static bool check_characters(const struct field *f, struct str s, struct err *err)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        bool line = (c == '\n' || c == '\t' || c == '\r') && f->flags & FIELD_LONG;
        if ((c < ' ' && !line) || c == 127)
            return err_message(err, ERR_INVALID, f->name, MESSAGE_CONTROL_CHARACTER, f->name, c);
    }
    return true;
}

static bool check_length(const struct field *f, struct str s, int64_t min, int64_t max, struct err *err)
{
    int64_t n = (int64_t)utf8_count(s);
    if (n >= min && (max == 0 || n <= max))
        return true;
    char shown[RULE_SHORT];
    if (n == 0)
        return err_message(err, ERR_INVALID, f->name, MESSAGE_EMPTY, f->name, (long long)min, (long long)max);
    return err_message(err, ERR_INVALID, f->name, MESSAGE_LENGTH, f->name,
                       f->flags & FIELD_SECRET ? "…" : rule_short(s, shown), (long long)n, (long long)min,
                       (long long)max);
}

static bool text_value(struct arena *a, const struct field *f, yyjson_val *v, struct db_value *ret,
                       struct err *err)
{
    if (!yyjson_is_str(v))
        return wrong_type(f, v, "a text", err);
    struct str s = json_str(v);
    if (!utf8_valid(s))
        return err_set(err, ERR_INVALID, f->name, "%s: is not valid UTF-8", f->name);
    const struct rule *r = rule_find(f->rule);
    if (!check_characters(f, s, err) || !check_length(f, s, validate_min(f), validate_max(f), err))
        return false;
    if (r && !rule_check(r, f->name, s, err))
        return false;
    *ret = db_text(arena_str(a, s));
    return true;
}

static bool in_range(const struct field *f, double n, const char *shown, struct err *err)
{
    if (f->min == 0 && f->max == 0)
        return true;
    if (n < (double)f->min)
        return err_message(err, ERR_INVALID, f->name, MESSAGE_TOO_SMALL, f->name, shown, (long long)f->min);
    if (f->max && n > (double)f->max)
        return err_message(err, ERR_INVALID, f->name, MESSAGE_TOO_LARGE, f->name, shown, (long long)f->max);
    return true;
}

static bool int_value(const struct field *f, yyjson_val *v, struct db_value *ret, struct err *err)
{
    int64_t n;
    if (yyjson_is_sint(v)) {
        n = yyjson_get_sint(v);
    } else if (yyjson_is_uint(v)) {
        if (yyjson_get_uint(v) > INT64_MAX)
            return err_set(err, ERR_INVALID, f->name, "%s: the number is too large", f->name);
        n = (int64_t)yyjson_get_uint(v);
    } else {
        return wrong_type(f, v, "a whole number", err);
    }
    char shown[24];
    snprintf(shown, sizeof shown, "%" PRId64, n);
    if ((f->min || f->max) && n < f->min)
        return err_message(err, ERR_INVALID, f->name, MESSAGE_TOO_SMALL, f->name, shown, (long long)f->min);
    if (f->max && n > f->max)
        return err_message(err, ERR_INVALID, f->name, MESSAGE_TOO_LARGE, f->name, shown, (long long)f->max);
    *ret = db_int(n);
    return true;
}

static bool real_value(struct arena *a, const struct field *f, yyjson_val *v, struct db_value *ret,
                       struct err *err)
{
    if (!yyjson_is_num(v))
        return wrong_type(f, v, "a number", err);
    double n = yyjson_get_num(v);
    if (!isfinite(n))
        return wrong_type(f, v, "a finite number", err);
    if (!in_range(f, n, arena_printf(a, "%g", n), err))
        return false;
    *ret = db_real(n);
    return true;
}

static bool time_value(const struct field *f, yyjson_val *v, struct db_value *ret, struct err *err)
{
    int64_t us;
    if (!yyjson_is_str(v))
        return wrong_type(f, v, "a time as \"2026-11-16T09:51:30Z\"", err);
    char shown[RULE_SHORT];
    if (!clock_parse(json_str(v), &us))
        return err_set(err, ERR_INVALID, f->name, "%s: %s is no time as \"2026-11-16T09:51:30Z\" (RFC 3339)",
                       f->name, rule_short(json_str(v), shown));
    *ret = db_int(us);
    return true;
}

static bool choice_value(const struct field *f, yyjson_val *v, struct db_value *ret, struct err *err)
{
    if (!yyjson_is_str(v))
        return wrong_type(f, v, "a text", err);
    struct str s = json_str(v);
    char all[256] = "";
    for (const struct choice *c = f->choices; c->value; c++) {
        if (str_is(s, c->value)) {
            *ret = db_textz(c->value);
            return true;
        }
        if (strlen(all) + strlen(c->value) + 3 < sizeof all) {
            strcat(all, c == f->choices ? "" : ", ");
            strcat(all, c->value);
        }
    }
    char shown[RULE_SHORT];
    return err_message(err, ERR_INVALID, f->name, MESSAGE_NO_CHOICE, f->name, rule_short(s, shown), all);
}

bool validate_ref(const char *field, yyjson_val *v, int64_t *ret, struct err *err)
{
    if (yyjson_is_obj(v)) {
        yyjson_val *id = yyjson_obj_get(v, "id");
        size_t others = yyjson_obj_size(v) - (id != NULL) - (yyjson_obj_get(v, "name") != NULL) -
                        (yyjson_obj_get(v, "of") != NULL);
        if (!id || others > 0)
            return err_set(err, ERR_INVALID, field, "%s: a reference is an id or {\"id\": 7}", field);
        v = id;
    }
    if (!yyjson_is_uint(v) || yyjson_get_uint(v) == 0 || yyjson_get_uint(v) > INT64_MAX)
        return err_set(err, ERR_INVALID, field, "%s: a reference is an id or {\"id\": 7}", field);
    *ret = (int64_t)yyjson_get_uint(v);
    return true;
}

static struct str json_text(struct arena *a, yyjson_val *v)
{
    auto_buf struct buf b = {0};
    struct json_out o;
    json_begin(&o, &b);
    json_value(&o, v);
    return arena_str(a, buf_view(&b));
}

static bool check_count(const struct field *f, yyjson_val *v, struct err *err)
{
    int64_t n = (int64_t)yyjson_arr_size(v), max = validate_max(f);
    return (n >= f->min && n <= max) || err_message(err, ERR_INVALID, f->name, MESSAGE_COUNT, f->name,
                                                    (long long)n, (long long)f->min, (long long)max);
}

static bool refs_value(struct arena *a, const struct field *f, yyjson_val *v, struct db_value *ret,
                       struct err *err)
{
    if (!yyjson_is_arr(v))
        return wrong_type(f, v, "a list of ids", err);
    if (!check_count(f, v, err))
        return false;
    size_t i, n;
    yyjson_val *one;
    int64_t *ids = arena_array(a, int64_t, yyjson_arr_size(v) + 1);
    auto_buf struct buf text = {0};
    buf_z(&text, "[");
    yyjson_arr_foreach(v, i, n, one)
    {
        if (!validate_ref(f->name, one, &ids[i], err))
            return false;
        for (size_t k = 0; k < i; k++)
            if (ids[k] == ids[i])
                return err_message(err, ERR_INVALID, f->name, MESSAGE_TWICE, f->name, (long long)ids[i]);
        buf_printf(&text, "%s%" PRId64, i ? "," : "", ids[i]);
    }
    buf_z(&text, "]");
    *ret = db_text(arena_str(a, buf_view(&text)));
    return true;
}

static bool texts_value(struct arena *a, const struct field *f, yyjson_val *v, struct db_value *ret,
                        struct err *err)
{
    if (!yyjson_is_arr(v))
        return wrong_type(f, v, "a list of texts", err);
    if (!check_count(f, v, err))
        return false;
    const struct field item = {
        .name = f->name, .min = 1, .max = f->item_max ? f->item_max : ITEM_MAX, .rule = f->rule};
    size_t i, count;
    yyjson_val *one;
    yyjson_arr_foreach(v, i, count, one)
    {
        struct db_value unused_value;
        if (!text_value(a, &item, one, &unused_value, err))
            return false;
    }
    *ret = db_text(json_text(a, v));
    return true;
}

static bool json_field(struct arena *a, const struct field *f, yyjson_val *v, struct db_value *ret,
                       struct err *err)
{
    yyjson_val *stored = spelled_stored(a, f, v, err);
    if (!stored)
        return false;
    struct str s = json_text(a, stored);
    if ((int64_t)s.n > validate_max(f))
        return err_set(err, ERR_INVALID, f->name, "%s: has %zu bytes; it may have %" PRId64, f->name, s.n,
                       validate_max(f));
    *ret = db_text(s);
    return true;
}

static bool typed_value(struct arena *a, const struct field *f, yyjson_val *v, struct db_value *ret,
                        struct err *err)
{
    int64_t id;
    switch (f->type) {
    case FIELD_TEXT:
        return text_value(a, f, v, ret, err);
    case FIELD_INT:
        return int_value(f, v, ret, err);
    case FIELD_REAL:
        return real_value(a, f, v, ret, err);
    case FIELD_BOOL:
        if (!yyjson_is_bool(v))
            return wrong_type(f, v, "true or false", err);
        *ret = db_int(yyjson_get_bool(v));
        return true;
    case FIELD_TIME:
        return time_value(f, v, ret, err);
    case FIELD_CHOICE:
        return choice_value(f, v, ret, err);
    case FIELD_REF:
        if (!validate_ref(f->name, v, &id, err))
            return false;
        *ret = db_int(id);
        return true;
    case FIELD_REFS:
        return refs_value(a, f, v, ret, err);
    case FIELD_TEXTS:
        return texts_value(a, f, v, ret, err);
    case FIELD_JSON:
        return json_field(a, f, v, ret, err);
    }
    return err_set(err, ERR_INTERNAL, f->name, "%s: has no type", f->name);
}

/* Refusals name the member in full: "rules.action". */
static bool members_value(struct arena *a, const struct field *f, yyjson_val *v, struct err *err)
{
    size_t i, n;
    yyjson_val *key, *one;
    if (!yyjson_is_obj(v))
        return wrong_type(f, v, "an object", err);
    yyjson_obj_foreach(v, i, n, key, one)
    {
        struct str name = json_str(key);
        char shown[RULE_SHORT];
        const struct field *m = f->members;
        while (m->name && !str_is(name, m->name))
            m++;
        if (!m->name)
            return err_message(err, ERR_INVALID, f->name, MESSAGE_UNKNOWN_MEMBER, f->name,
                               rule_short(name, shown));
        struct field member = *m;
        struct db_value unused_value;
        member.name = arena_printf(a, "%s.%s", f->name, m->name);
        if (!validate_value(a, &member, one, &unused_value, err))
            return false;
    }
    return true;
}

bool validate_value(struct arena *a, const struct field *f, yyjson_val *v, struct db_value *ret,
                    struct err *err)
{
    struct db_value value;
    if (!typed_value(a, f, v, &value, err) || (f->members && !members_value(a, f, v, err)))
        return false;
    if (f->check && !f->check(a, f, &value, err))
        return false;
    *ret = value;
    return true;
}

static bool fallback_value(struct arena *a, const struct field *f, struct db_value *ret, struct err *err)
{
    *ret = db_null();
    if (!f->fallback)
        return true;
    yyjson_val *v = json_parse(a, str_of(f->fallback), err);
    return v && (yyjson_is_null(v) || validate_value(a, f, v, ret, err));
}

static bool accepts(const struct field *f, enum validate_mode mode)
{
    return mode == VALIDATE_INPUT || f->flags & (mode == VALIDATE_CREATE ? FIELD_CREATE : FIELD_UPDATE);
}

static bool in_list(const char *const *names, struct str key)
{
    for (; names && *names; names++)
        if (str_is(key, *names))
            return true;
    return false;
}

/* What every object has and no caller may give. */
static const char *const set_by_platform[] = {"id",         "revision",   "created_at",
                                              "updated_at", "created_by", NULL};

static bool unknown_key(const struct field *fields, struct str key, enum validate_mode mode, struct err *err)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(key.n < 60 ? key.n : 60), key.p);
    const struct field *f = fields;
    while (f->name && !str_is(key, f->name))
        f++;
    if (!f->name && !in_list(set_by_platform, key))
        return err_message(err, ERR_INVALID, name, MESSAGE_UNKNOWN_FIELD, name);
    if (!f->name || !(f->flags & (FIELD_CREATE | FIELD_UPDATE)))
        return err_message(err, ERR_INVALID, name, MESSAGE_SET_BY_PLATFORM, name);
    return mode == VALIDATE_CREATE ? err_message(err, ERR_INVALID, name, MESSAGE_NOT_AT_CREATION, name)
                                   : err_message(err, ERR_INVALID, name, MESSAGE_NOT_AFTER_CREATION, name);
}

static bool known_keys(const struct field *fields, yyjson_val *body, enum validate_mode mode,
                       const char *const *also, struct err *err)
{
    size_t i, n;
    yyjson_val *key, *v;
    yyjson_obj_foreach(body, i, n, key, v)
    {
        struct str name = json_str(key);
        const struct field *f = fields;
        while (f->name && !str_is(name, f->name))
            f++;
        if ((!f->name || !accepts(f, mode)) && !in_list(also, name))
            return unknown_key(fields, name, mode, err);
    }
    return true;
}

static bool one_field(struct arena *a, const struct field *f, yyjson_val *v, enum validate_mode mode,
                      struct db_value *value, bool *given, struct err *err)
{
    if (v && !accepts(f, mode))
        v = NULL; /* one of `also` with a field's name */
    *given = v != NULL;
    /* Part of a merge patch: the whole is checked when it is merged. */
    if (mode == VALIDATE_UPDATE && f->type == FIELD_JSON && yyjson_is_obj(v))
        return typed_value(a, f, v, value, err);
    if (v && !yyjson_is_null(v))
        return validate_value(a, f, v, value, err);
    if (!v && mode == VALIDATE_UPDATE)
        return true;
    if (f->flags & FIELD_REQUIRED && accepts(f, mode) && (v || !f->fallback))
        return err_message(err, ERR_INVALID, f->name, MESSAGE_REQUIRED, f->name);
    return fallback_value(a, f, value, err);
}

bool validate_body(struct arena *a, const struct field *fields, yyjson_val *body, enum validate_mode mode,
                   const char *const *also, struct db_value *values, bool *given, struct err *err)
{
    static const struct field none = {0};
    if (!fields)
        fields = &none;
    if (body && !yyjson_is_obj(body))
        return err_set(err, ERR_MALFORMED, NULL, "the body is %s; it must be a JSON object", type_word(body));
    if (body && !known_keys(fields, body, mode, also, err))
        return false;
    for (size_t i = 0; fields[i].name; i++) {
        yyjson_val *v = body ? yyjson_obj_get(body, fields[i].name) : NULL;
        if (!one_field(a, &fields[i], v, mode, &values[i], &given[i], err))
            return false;
    }
    return true;
}
