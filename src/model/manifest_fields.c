#include "model/manifest_fields.h"

#include "base/messages.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const size_t sizes[] = {
    [MODEL_FIELD_CHOICE] = sizeof(uint32_t), [MODEL_FIELD_UINT] = sizeof(uint32_t),
    [MODEL_FIELD_INT] = sizeof(int32_t),     [MODEL_FIELD_INT64] = sizeof(int64_t),
    [MODEL_FIELD_REAL] = sizeof(double),     [MODEL_FIELD_BOOL] = sizeof(bool),
};

static bool is_number(enum model_field_type t)
{
    return t == MODEL_FIELD_UINT || t == MODEL_FIELD_INT || t == MODEL_FIELD_INT64 || t == MODEL_FIELD_REAL;
}

static void set_number(const struct model_field *f, void *at, double v)
{
    switch (f->type) {
    case MODEL_FIELD_CHOICE:
    case MODEL_FIELD_UINT:
        *(uint32_t *)at = (uint32_t)v;
        break;
    case MODEL_FIELD_INT:
        *(int32_t *)at = (int32_t)v;
        break;
    case MODEL_FIELD_INT64:
        *(int64_t *)at = (int64_t)v;
        break;
    case MODEL_FIELD_REAL:
        *(double *)at = v;
        break;
    case MODEL_FIELD_BOOL:
        *(bool *)at = v != 0;
        break;
    default:
        break;
    }
}

static double get_number(const struct model_field *f, const void *at)
{
    switch (f->type) {
    case MODEL_FIELD_CHOICE:
    case MODEL_FIELD_UINT:
        return *(const uint32_t *)at;
    case MODEL_FIELD_INT:
        return *(const int32_t *)at;
    case MODEL_FIELD_INT64:
        return (double)*(const int64_t *)at;
    case MODEL_FIELD_REAL:
        return *(const double *)at;
    case MODEL_FIELD_BOOL:
        return *(const bool *)at;
    default:
        return 0;
    }
}

void model_fields_default(const struct model_fields *f, void *object)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct model_field *row = &f->rows[i];
        char *at = (char *)object + row->offset;
        for (uint32_t k = 0; sizes[row->type] && k < row->count; k++)
            set_number(row, at + k * sizes[row->type], row->otherwise);
    }
}

bool model_path_valid(struct str path)
{
    if (!path.n || path.n > 500 || path.p[0] == '/' || !utf8_valid(path) || memchr(path.p, 0, path.n) ||
        memchr(path.p, '\\', path.n))
        return false;
    for (struct str rest = path; rest.p;) {
        struct str part = str_cut(rest, '/', &rest);
        if (!part.n || str_is(part, ".") || str_is(part, ".."))
            return false;
    }
    return true;
}

bool model_choice_read(struct model_parse *p, yyjson_val *v, const char *path, const char *const *choices,
                       uint32_t *ret)
{
    struct str name = json_str(v);
    for (uint32_t i = 0; name.p && choices[i]; i++) {
        if (str_is(name, choices[i])) {
            *ret = i;
            return true;
        }
    }
    auto_buf struct buf list = {0};
    for (size_t i = 0; choices[i]; i++)
        buf_printf(&list, "%s%s", i ? ", " : "", choices[i]);
    if (name.n > 60)
        name.n = 60;
    return err_message(p->err, ERR_INVALID, path, MESSAGE_NO_CHOICE, path,
                       name.p ? arena_strz(p->a, name) : "this", list.p);
}

static struct model_asset *asset_of(struct model_parse *p, struct str path)
{
    struct model_manifest *m = p->m;
    for (size_t i = 0; i < m->n_assets; i++)
        if (str_eq(m->assets[i].path, path))
            return &m->assets[i];
    m->assets[m->n_assets].path = arena_str(p->a, path);
    return &m->assets[m->n_assets++];
}

static bool read_part(struct model_parse *p, struct str name, const char *path, size_t *ret)
{
    for (size_t i = 0; i < p->m->n_parts; i++) {
        if (str_eq(p->m->parts[i].name, name)) {
            *ret = i;
            return true;
        }
    }
    return err_message(p->err, ERR_INVALID, path, MESSAGE_MODEL_NO_PART, path);
}

static bool read_text(struct model_parse *p, const struct model_field *f, yyjson_val *v, const char *path,
                      char *at)
{
    struct str s = json_str(v);
    if (!s.p)
        return err_message(p->err, ERR_INVALID, path, MESSAGE_MODEL_TEXT, path);
    if (f->type == MODEL_FIELD_PART)
        return read_part(p, s, path, (size_t *)at);
    if (f->type != MODEL_FIELD_TEXT) {
        if (!model_path_valid(s))
            return err_message(p->err, ERR_INVALID, path, MESSAGE_MODEL_PATH, path);
        if (f->type == MODEL_FIELD_ASSET)
            *(struct model_asset **)at = asset_of(p, s);
        else
            *(struct str *)at = arena_str(p->a, s);
        return true;
    }
    size_t n = utf8_count(s);
    if (n < (size_t)f->min || n > (size_t)f->max || memchr(s.p, 0, s.n))
        return err_message(p->err, ERR_INVALID, path, MESSAGE_MODEL_LENGTH, path, (long long)f->min,
                           (long long)f->max);
    *(struct str *)at = arena_str(p->a, s);
    return true;
}

static bool read_number(struct model_parse *p, const struct model_field *f, yyjson_val *v, const char *path,
                        char *at)
{
    double d = yyjson_is_num(v) ? yyjson_get_num(v) : NAN;
    bool whole = f->type != MODEL_FIELD_REAL;
    if (d >= f->min && d <= f->max && (!whole || d == floor(d))) {
        set_number(f, at, d);
        return true;
    }
    if (whole)
        return err_message(p->err, ERR_INVALID, path, MESSAGE_MODEL_WHOLE, path, f->min, f->max);
    return err_message(p->err, ERR_INVALID, path, MESSAGE_MODEL_RANGE, path, f->min, f->max);
}

static bool read_list(struct model_parse *p, const struct model_field *f, yyjson_val *v, const char *path,
                      char *at)
{
    if (!yyjson_is_arr(v) && f->type == MODEL_FIELD_REAL) {
        for (uint32_t i = 0; i < f->count; i++)
            if (!read_number(p, f, v, path, at + i * sizes[f->type]))
                return false;
        return true;
    }
    if (!yyjson_is_arr(v) || yyjson_arr_size(v) != f->count)
        return err_message(p->err, ERR_INVALID, path, MESSAGE_MODEL_LIST, path, (int)f->count);
    for (uint32_t i = 0; i < f->count; i++) {
        const char *one = arena_printf(p->a, "%s[%u]", path, i);
        if (!read_number(p, f, yyjson_arr_get(v, i), one, at + i * sizes[f->type]))
            return false;
    }
    return true;
}

static bool read_field(struct model_parse *p, const struct model_field *f, yyjson_val *v, const char *path,
                       char *at)
{
    if (f->type == MODEL_FIELD_CHOICE)
        return model_choice_read(p, v, path, f->choices, (uint32_t *)at);
    if (f->type == MODEL_FIELD_BOOL) {
        if (!yyjson_is_bool(v))
            return err_message(p->err, ERR_INVALID, path, MESSAGE_MODEL_BOOL, path);
        *(bool *)at = yyjson_get_bool(v);
        return true;
    }
    if (!is_number(f->type))
        return read_text(p, f, v, path, at);
    return f->count > 1 ? read_list(p, f, v, path, at) : read_number(p, f, v, path, at);
}

static bool has_name(const char *const *names, struct str name)
{
    for (; names && *names; names++)
        if (str_is(name, *names))
            return true;
    return false;
}

static const struct model_field *field_of(const struct model_fields *f, struct str name, uint32_t on)
{
    for (size_t i = 0; i < f->n; i++)
        if ((!f->rows[i].on || f->rows[i].on & on) && str_is(name, f->rows[i].name))
            return &f->rows[i];
    return NULL;
}

bool model_fields_read(struct model_parse *p, const struct model_fields *f, yyjson_val *v, const char *path,
                       uint32_t on, const char *const *other, void *object)
{
    size_t i, n;
    yyjson_val *key, *value;
    const char *dot = path[0] ? "." : "";
    yyjson_obj_foreach(v, i, n, key, value)
    {
        struct str name = json_str(key);
        if (has_name(other, name))
            continue;
        const struct model_field *row = field_of(f, name, on);
        if (name.n > 40)
            name.n = 40;
        const char *full = arena_printf(p->a, "%s%s" STR_FMT, path, dot, STR_ARG(name));
        if (!row)
            return err_message(p->err, ERR_INVALID, full, MESSAGE_UNKNOWN_FIELD, full);
        if (!read_field(p, row, value, full, (char *)object + row->offset))
            return false;
    }
    for (i = 0; i < f->n; i++) {
        if (!f->rows[i].required || (f->rows[i].on && !(f->rows[i].on & on)) ||
            yyjson_obj_get(v, f->rows[i].name))
            continue;
        const char *full = arena_printf(p->a, "%s%s%s", path, dot, f->rows[i].name);
        return err_message(p->err, ERR_INVALID, full, MESSAGE_REQUIRED, full);
    }
    return true;
}

/* --- writing --- */
static bool is_default(const struct model_field *f, const char *at)
{
    switch (f->type) {
    case MODEL_FIELD_TEXT:
    case MODEL_FIELD_PATH:
        return ((const struct str *)at)->n == 0;
    case MODEL_FIELD_ASSET:
        return *(struct model_asset *const *)at == NULL;
    case MODEL_FIELD_PART:
        return *(const size_t *)at == 0;
    default:
        break;
    }
    for (uint32_t i = 0; i < f->count; i++) {
        double v = get_number(f, at + i * sizes[f->type]);
        if (v != f->otherwise && !(isnan(v) && isnan(f->otherwise)))
            return false;
    }
    return true;
}

static void write_number(const struct model_field *f, const char *at, struct json_out *out)
{
    double v = get_number(f, at);
    if (f->type == MODEL_FIELD_REAL)
        json_real(out, v);
    else
        json_int(out, (int64_t)v);
}

static void write_field(const struct model_manifest *m, const struct model_field *f, const char *at,
                        struct json_out *out)
{
    json_key(out, f->name);
    switch (f->type) {
    case MODEL_FIELD_TEXT:
    case MODEL_FIELD_PATH:
        json_string(out, *(const struct str *)at);
        return;
    case MODEL_FIELD_ASSET:
        json_string(out, (*(struct model_asset *const *)at)->path);
        return;
    case MODEL_FIELD_PART:
        json_string(out, m->parts[*(const size_t *)at].name);
        return;
    case MODEL_FIELD_CHOICE:
        json_z(out, f->choices[*(const uint32_t *)at]);
        return;
    case MODEL_FIELD_BOOL:
        json_bool(out, *(const bool *)at);
        return;
    default:
        break;
    }
    if (f->count == 1) {
        write_number(f, at, out);
        return;
    }
    json_array(out);
    for (uint32_t i = 0; i < f->count; i++)
        write_number(f, at + i * sizes[f->type], out);
    json_array_end(out);
}

void model_fields_write(const struct model_manifest *m, const struct model_fields *f, const void *object,
                        uint32_t on, struct json_out *out)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct model_field *row = &f->rows[i];
        const char *at = (const char *)object + row->offset;
        if ((!row->on || row->on & on) && (row->required || !is_default(row, at)))
            write_field(m, row, at, out);
    }
}

/* --- the schema --- */
static void schema_number(const struct model_field *f, struct json_out *out)
{
    json_object(out);
    json_kz(out, "type", f->type == MODEL_FIELD_REAL ? "number" : "integer");
    json_key(out, "minimum");
    json_real(out, f->min);
    json_key(out, "maximum");
    json_real(out, f->max);
    json_object_end(out);
}

static void schema_list(const struct model_field *f, struct json_out *out)
{
    json_key(out, "oneOf");
    json_array(out);
    json_object(out);
    json_kz(out, "type", "array");
    json_kint(out, "minItems", f->count);
    json_kint(out, "maxItems", f->count);
    json_key(out, "items");
    schema_number(f, out);
    json_object_end(out);
    if (f->type == MODEL_FIELD_REAL)
        schema_number(f, out);
    json_array_end(out);
}

static void schema_field(const struct model_field *f, struct json_out *out)
{
    json_key(out, f->name);
    json_object(out);
    json_kz(out, "description", f->what);
    if (is_number(f->type) && f->count > 1) {
        schema_list(f, out);
    } else if (is_number(f->type)) {
        json_kz(out, "type", f->type == MODEL_FIELD_REAL ? "number" : "integer");
        json_key(out, "minimum");
        json_real(out, f->min);
        json_key(out, "maximum");
        json_real(out, f->max);
    } else {
        json_kz(out, "type", f->type == MODEL_FIELD_BOOL ? "boolean" : "string");
    }
    if (f->type == MODEL_FIELD_TEXT) {
        json_kint(out, "minLength", (int64_t)f->min);
        json_kint(out, "maxLength", (int64_t)f->max);
    }
    if (f->choices) {
        json_key(out, "enum");
        json_array(out);
        for (size_t i = 0; f->choices[i]; i++)
            json_z(out, f->choices[i]);
        json_array_end(out);
    }
    json_object_end(out);
}

void model_fields_schema(const struct model_fields *f, struct json_out *out, const char *const *also_required)
{
    for (size_t i = 0; i < f->n; i++)
        schema_field(&f->rows[i], out);
    json_object_end(out); /* of "properties", which the caller began */
    json_key(out, "required");
    json_array(out);
    for (size_t i = 0; i < f->n; i++)
        if (f->rows[i].required && !f->rows[i].on)
            json_z(out, f->rows[i].name);
    for (; also_required && *also_required; also_required++)
        json_z(out, *also_required);
    json_array_end(out);
}
