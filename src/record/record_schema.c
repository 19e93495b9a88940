/* The schema: JSON to a table of fields, and values against that table. */
#include "record_internal.h"
#include "record_json.h"

#include <inttypes.h>
#include <stdlib.h>

struct record_schema {
    char *json;
    size_t size;
    size_t count;
    int key;
    struct record_field *fields;
};

static const char *const type_names[] = {
    [RECORD_BYTES] = "bytes", [RECORD_UTF8] = "utf8",       [RECORD_JSON] = "json",
    [RECORD_INT64] = "int64", [RECORD_FLOAT64] = "float64", [RECORD_ARRAY] = "array",
};

static const struct {
    const char *name;
    size_t size;
} dtypes[] = {
    [RECORD_U8] = {"uint8", 1},    [RECORD_I8] = {"int8", 1},     [RECORD_U16] = {"uint16", 2},
    [RECORD_I16] = {"int16", 2},   [RECORD_U32] = {"uint32", 4},  [RECORD_I32] = {"int32", 4},
    [RECORD_U64] = {"uint64", 8},  [RECORD_I64] = {"int64", 8},   [RECORD_F16] = {"float16", 2},
    [RECORD_F32] = {"float32", 4}, [RECORD_F64] = {"float64", 8},
};

const char *record_type_name(enum record_type t)
{
    return type_names[t];
}

const char *record_dtype_name(enum record_dtype d)
{
    return d == RECORD_NO_DTYPE ? "none" : dtypes[d].name;
}

size_t record_dtype_size(enum record_dtype d)
{
    return dtypes[d].size;
}

static bool bad(struct record_err *err, const char *fmt, const char *arg)
{
    char text[300];
    snprintf(text, sizeof text, fmt, arg);
    return record_fail(err, RECORD_E_ARG, "schema: %s", text);
}

static bool parse_type(struct record_json *j, struct record_field *f, struct record_err *err)
{
    char text[RECORD_MAX_NAME + 1];
    if (!record_json_string(j, text, sizeof text))
        return false;
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++) {
        if (strcmp(type_names[i], text) == 0) {
            f->type = (enum record_type)i;
            return true;
        }
    }
    return bad(err, "type \"%.200s\" is none of bytes, utf8, json, int64, float64, array", text);
}

static bool parse_dtype(struct record_json *j, struct record_field *f, struct record_err *err)
{
    char text[RECORD_MAX_NAME + 1];
    if (!record_json_string(j, text, sizeof text))
        return false;
    for (size_t i = RECORD_U8; i < sizeof dtypes / sizeof *dtypes; i++) {
        if (strcmp(dtypes[i].name, text) == 0) {
            f->dtype = (enum record_dtype)i;
            return true;
        }
    }
    return bad(err, "dtype \"%.200s\" is not int8..int64, uint8..uint64 or float16..float64", text);
}

static bool parse_shape(struct record_json *j, struct record_field *f, struct record_err *err)
{
    uint64_t elements = 1;
    int open_dims = 0;
    if (!record_json_take(j, '['))
        return bad(err, "%s", "\"shape\" must be a list of whole numbers");
    for (bool first = true; record_json_next(j, ']', &first);) {
        int64_t n;
        if (!record_json_int(j, &n))
            return false;
        if (f->ndim == RECORD_MAX_DIMS)
            return bad(err, "%s", "\"shape\" has more than 8 dimensions");
        if (n < -1 || n == 0 || n > RECORD_MAX_SIZE || (n == -1 && open_dims++))
            return bad(err, "%s", "\"shape\" must be positive numbers with at most one -1");
        elements *= n > 0 ? (uint64_t)n : 1;
        if (elements > RECORD_MAX_SIZE)
            return bad(err, "%s", "\"shape\" is larger than a record can be");
        f->shape[f->ndim++] = n;
    }
    return !j->what;
}

enum { SAW_NAME = 1, SAW_TYPE = 2, SAW_DTYPE = 4, SAW_SHAPE = 8 };

static bool parse_member(struct record_json *j, const char *name, struct record_field *f, unsigned *saw,
                         struct record_err *err)
{
    static const struct {
        const char *name;
        unsigned bit;
    } known[] = {{"name", SAW_NAME}, {"type", SAW_TYPE}, {"dtype", SAW_DTYPE}, {"shape", SAW_SHAPE}};
    unsigned bit = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0)
            bit = known[i].bit;
    if (*saw & bit)
        return bad(err, "a field has \"%.200s\" twice", name);
    *saw |= bit;
    switch (bit) {
    case SAW_NAME:
        return record_json_string(j, f->name, sizeof f->name);
    case SAW_TYPE:
        return parse_type(j, f, err);
    case SAW_DTYPE:
        return parse_dtype(j, f, err);
    case SAW_SHAPE:
        return parse_shape(j, f, err);
    default:
        return record_json_skip(j);
    }
}

static bool parse_field(struct record_json *j, struct record_field *f, struct record_err *err)
{
    char name[RECORD_MAX_NAME + 1];
    unsigned saw = 0;
    if (!record_json_take(j, '{'))
        return bad(err, "%s", "each of \"fields\" must be an object");
    for (bool first = true; record_json_next(j, '}', &first);)
        if (!record_json_member(j, name, sizeof name) || !parse_member(j, name, f, &saw, err))
            return false;
    if (j->what)
        return false;
    if (!(saw & SAW_NAME) || !f->name[0])
        return bad(err, "%s", "a field has no \"name\"");
    if (!(saw & SAW_TYPE))
        return bad(err, "field \"%.200s\" has no \"type\"", f->name);
    if (f->type == RECORD_ARRAY && (!(saw & SAW_DTYPE) || !(saw & SAW_SHAPE)))
        return bad(err, "array field \"%.200s\" needs \"dtype\" and \"shape\"", f->name);
    if (f->type != RECORD_ARRAY && (saw & (SAW_DTYPE | SAW_SHAPE)))
        return bad(err, "field \"%.200s\" is no array and must not have \"dtype\" or \"shape\"", f->name);
    return true;
}

static bool parse_fields(struct record_json *j, struct record_schema *s, struct record_err *err)
{
    if (s->fields)
        return bad(err, "%s", "\"fields\" stands there twice");
    s->fields = calloc(RECORD_MAX_FIELDS, sizeof *s->fields);
    if (!s->fields)
        return record_fail(err, RECORD_E_MEMORY, "out of memory");
    if (!record_json_take(j, '['))
        return bad(err, "%s", "\"fields\" must be a list");
    for (bool first = true; record_json_next(j, ']', &first);) {
        if (s->count == RECORD_MAX_FIELDS)
            return bad(err, "%s", "more than 256 fields");
        struct record_field *f = &s->fields[s->count];
        if (!parse_field(j, f, err))
            return false;
        if (record_schema_find(s, f->name) >= 0)
            return bad(err, "two fields are named \"%.200s\"", f->name);
        s->count++;
    }
    return !j->what;
}

static bool find_key(struct record_schema *s, const char *key, struct record_err *err)
{
    s->key = record_schema_find(s, key);
    if (s->key < 0)
        return bad(err, "\"key\" names \"%.200s\", which is no field", key);
    if (s->fields[s->key].type != RECORD_UTF8 && s->fields[s->key].type != RECORD_BYTES)
        return bad(err, "key field \"%.200s\" must be of type utf8 or bytes", key);
    return true;
}

static bool parse(struct record_json *j, struct record_schema *s, struct record_err *err)
{
    char name[RECORD_MAX_NAME + 1], key[RECORD_MAX_NAME + 1] = "";
    bool has_key = false;
    if (!record_json_take(j, '{'))
        return bad(err, "%s", "must be a JSON object");
    for (bool first = true; record_json_next(j, '}', &first);) {
        if (!record_json_member(j, name, sizeof name))
            return false;
        if (strcmp(name, "key") == 0) {
            if (has_key)
                return bad(err, "%s", "\"key\" stands there twice");
            has_key = true;
            if (!record_json_string(j, key, sizeof key))
                return false;
        } else if (strcmp(name, "fields") == 0) {
            if (!parse_fields(j, s, err))
                return false;
        } else if (!record_json_skip(j)) {
            return false;
        }
    }
    if (j->what)
        return false;
    if (record_json_peek(j) != 0 || j->p != j->end)
        return bad(err, "%s", "something follows the JSON object");
    if (s->count == 0)
        return bad(err, "%s", "there must be at least one field");
    return !has_key || find_key(s, key, err);
}

struct record_schema *record_schema_parse(const char *json, size_t size, struct record_err *err)
{
    struct record_json j;
    struct record_err inner = {0};
    if (size > RECORD_MAX_SCHEMA)
        return record_fail(err, RECORD_E_LIMIT, "schema: %zu bytes, at most 16 MiB are allowed", size), NULL;
    if (!record_utf8_valid(json, size))
        return record_fail(err, RECORD_E_ARG, "schema: not valid UTF-8"), NULL;
    struct record_schema *s = calloc(1, sizeof *s);
    char *copy = s ? malloc(size + 1) : NULL;
    if (!copy) {
        free(s);
        return record_fail(err, RECORD_E_MEMORY, "out of memory"), NULL;
    }
    memcpy(copy, json, size);
    copy[size] = 0;
    s->json = copy;
    s->size = size;
    s->key = -1;
    record_json_init(&j, copy, size);
    if (parse(&j, s, &inner))
        return s;
    if (inner.code == RECORD_OK)
        record_fail(&inner, RECORD_E_ARG, "schema: %s, at byte %td", j.what ? j.what : "bad JSON",
                    j.p - copy);
    record_schema_free(s);
    if (err)
        *err = inner;
    return NULL;
}

void record_schema_free(struct record_schema *s)
{
    if (!s)
        return;
    free(s->fields);
    free(s->json);
    free(s);
}

size_t record_schema_count(const struct record_schema *s)
{
    return s->count;
}

const struct record_field *record_schema_field(const struct record_schema *s, size_t i)
{
    return &s->fields[i];
}

int record_schema_find(const struct record_schema *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->fields[i].name, name) == 0)
            return (int)i;
    return -1;
}

int record_schema_key(const struct record_schema *s)
{
    return s->key;
}

const char *record_schema_json(const struct record_schema *s, size_t *ret_size)
{
    if (ret_size)
        *ret_size = s->size;
    return s->json;
}

unsigned record_field_align(const struct record_field *f)
{
    return f->type == RECORD_ARRAY                                ? RECORD_ALIGN
           : f->type == RECORD_INT64 || f->type == RECORD_FLOAT64 ? 8
                                                                  : 1;
}

static bool check_array(const struct record_field *f, size_t size, struct record_err *err)
{
    uint64_t unit = record_dtype_size(f->dtype);
    bool open_dim = false;
    for (unsigned i = 0; i < f->ndim; i++) {
        if (f->shape[i] < 0)
            open_dim = true;
        else
            unit *= (uint64_t)f->shape[i]; /* the product was limited when the schema was parsed */
    }
    if (open_dim ? size % unit == 0 : size == unit)
        return true;
    return record_fail(err, RECORD_E_ARG,
                       "field \"%.100s\": %zu bytes are not %s%" PRIu64 " of its dtype and shape", f->name,
                       size, open_dim ? "a multiple of the " : "the ", unit);
}

bool record_value_check(const struct record_field *f, const struct record_value *v, struct record_err *err)
{
    if (!v->data)
        return v->size == 0 ||
               record_fail(err, RECORD_E_ARG, "field \"%.100s\": no data, but a size", f->name);
    switch (f->type) {
    case RECORD_UTF8:
        return record_utf8_valid(v->data, v->size) ||
               record_fail(err, RECORD_E_ARG, "field \"%.100s\": not valid UTF-8", f->name);
    case RECORD_JSON:
        return record_json_valid(v->data, v->size) ||
               record_fail(err, RECORD_E_ARG, "field \"%.100s\": not valid JSON", f->name);
    case RECORD_INT64:
    case RECORD_FLOAT64:
        return v->size == 8 || record_fail(err, RECORD_E_ARG, "field \"%.100s\": %zu bytes, %s has 8",
                                           f->name, v->size, record_type_name(f->type));
    case RECORD_ARRAY:
        return check_array(f, v->size, err);
    default:
        return true;
    }
}
