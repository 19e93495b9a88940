#include "api/describe/answer_schema.h"

#include "api/describe/answer_shape.h"
#include "api/describe/schema_json.h"

static const struct answer_shape *const schemas[] = {answers_of_compute,  answers_of_data,
                                                     answers_of_label,    answers_of_learning,
                                                     answers_of_evaluate, answers_of_home};

bool answer_schema_known(const char *name)
{
    for (size_t i = 0; name && i < countof(schemas); i++)
        for (const struct answer_shape *a = schemas[i]; a->name; a++)
            if (strcmp(a->name, name) == 0)
                return true;
    return false;
}

static void write_members(struct json_out *o, const struct shape *members);

static void write_text(struct json_out *o, const struct shape *s)
{
    json_kz(o, "type", "string");
    if (!s->choices)
        return;
    json_key(o, "enum");
    json_array(o);
    for (struct str rest = str_of(s->choices); rest.n;)
        json_string(o, str_cut(rest, ' ', &rest));
    json_array_end(o);
}

/* A whole schema. */
static void write_inner(struct json_out *o, const struct shape *s)
{
    if (s->named)
        schema_json_ref(o, s->named);
    else
        write_members(o, s->of);
}

static void write_list(struct json_out *o, const struct shape *s, int deep)
{
    json_object(o);
    json_kz(o, "type", "array");
    json_key(o, "items");
    if (deep > 1)
        write_list(o, s, deep - 1);
    else
        write_inner(o, s);
    json_object_end(o);
}

#define TYPE(name)     "{\"type\":\"" name "\"}"
#define LIST_OF(items) "{\"type\":\"array\",\"items\":" items "}"
#define TUPLE(n, items)                                                                                      \
    "{\"type\":\"array\",\"prefixItems\":[" items "],\"minItems\":" #n ",\"maxItems\":" #n "}"

static const char words[] =
    "{\"type\":\"object\",\"required\":[\"en\",\"zh\"],\"properties\":{\"en\":{\"type\":"
    "\"string\"},\"zh\":{\"type\":\"string\"}}}";

/* The members of a schema, for types that need no more than these. */
static const char *const plain[] = {
    [SHAPE_TIME] = "{\"type\":\"string\",\"format\":\"date-time\"}",
    [SHAPE_INT] = "{\"type\":\"integer\",\"format\":\"int64\"}",
    [SHAPE_REAL] = "{\"type\":\"number\"}",
    [SHAPE_BOOL] = "{\"type\":\"boolean\"}",
    [SHAPE_REF] = "{\"$ref\":\"#/components/schemas/Reference\"}",
    [SHAPE_WORDS] = words,
    [SHAPE_AMOUNTS] = "{\"type\":\"object\",\"additionalProperties\":{\"type\":[\"number\",\"null\"]}}",
    [SHAPE_COUNTS] = "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}",
    [SHAPE_TEXTS] = "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}",
    [SHAPE_FREE] = "{\"type\":\"object\"}",
    [SHAPE_ANY] = "{}",
    [SHAPE_STRINGS] = LIST_OF(TYPE("string")),
    [SHAPE_NUMBERS] = LIST_OF(TYPE("number")),
    [SHAPE_PAIR] = TUPLE(2, TYPE("number") "," TYPE("number")),
    [SHAPE_PAIRS] = LIST_OF(TUPLE(2, TYPE("number") "," TYPE("number"))),
    [SHAPE_RINGS] = LIST_OF(LIST_OF(TYPE("number"))),
    [SHAPE_TRIPLES] = LIST_OF(TUPLE(3, TYPE("number") "," TYPE("number") "," TYPE("number"))),
    [SHAPE_MEANS] = LIST_OF(
        TUPLE(5, TYPE("number") "," TYPE("number") "," TYPE("number") "," TYPE("number") "," TYPE("number"))),
    [SHAPE_ANYS] = LIST_OF("{}"),
    [SHAPE_LISTS] = NULL,
};

static void write_shape(struct json_out *o, const struct shape *s)
{
    if (plain[s->type]) {
        json_raw(o, str_of(plain[s->type]));
    } else if (s->type == SHAPE_TEXT) {
        json_object(o);
        write_text(o, s);
        json_object_end(o);
    } else if (s->type == SHAPE_LIST || s->type == SHAPE_LISTS) {
        write_list(o, s, s->type == SHAPE_LISTS ? 2 : 1);
    } else {
        write_inner(o, s);
    }
}

static void write_member(struct json_out *o, const struct shape *s)
{
    json_key(o, s->name);
    if (!(s->flags & (OR_NULL | OLDER))) {
        write_shape(o, s);
        return;
    }
    json_object(o);
    json_key(o, "anyOf");
    json_array(o);
    write_shape(o, s);
    if (s->flags & OR_NULL)
        json_raw(o, STR("{\"type\":\"null\"}"));
    json_array_end(o);
    if (s->flags & OLDER)
        json_kbool(o, "deprecated", true);
    json_object_end(o);
}

static void write_members(struct json_out *o, const struct shape *members)
{
    json_object(o);
    json_kz(o, "type", "object");
    json_key(o, "required");
    json_array(o);
    for (const struct shape *s = members; s->name; s++)
        if (!(s->flags & OPTIONAL))
            json_string(o, str_of(s->name));
    json_array_end(o);
    json_key(o, "properties");
    json_object(o);
    for (const struct shape *s = members; s->name; s++)
        write_member(o, s);
    json_object_end(o);
    json_object_end(o);
}

void answer_schema_write(struct json_out *o)
{
    for (size_t i = 0; i < countof(schemas); i++)
        for (const struct answer_shape *a = schemas[i]; a->name; a++) {
            json_key(o, a->name);
            write_members(o, a->members);
        }
}
