#include "api/describe/schema_json.h"

#include "core/kinds.h"
#include "core/rule.h"
#include "core/validate.h"

#include <stdio.h>

char *schema_json_name(struct arena *a, const char *kind, const char *suffix)
{
    char *name = arena_alloc(a, strlen(kind) + strlen(suffix) + 1);
    size_t n = 0;
    bool up = true;
    for (const char *p = kind; *p; p++) {
        if (*p == '_') {
            up = true;
            continue;
        }
        name[n++] = up && *p >= 'a' && *p <= 'z' ? (char)(*p - 32) : *p;
        up = false;
    }
    strcpy(name + n, suffix);
    return name;
}

void schema_json_ref(struct json_out *o, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "#/components/schemas/%s", name);
    json_object(o);
    json_kz(o, "$ref", path);
    json_object_end(o);
}

static void type(struct json_out *o, const char *name, bool nullable)
{
    json_key(o, "type");
    if (!nullable) {
        json_z(o, name);
        return;
    }
    json_array(o);
    json_z(o, name);
    json_z(o, "null");
    json_array_end(o);
}

static void describe(struct json_out *o, const struct field *f)
{
    const struct rule *r = rule_find(f->rule);
    char text[512];
    snprintf(text, sizeof text, "%s%s%s%s%s%s%s%s", f->title.en ? f->title.en : f->name,
             f->help.en ? ". " : "", f->help.en ? f->help.en : "", r ? "; " : "", r ? r->says : "",
             f->unit ? " (" : "", f->unit ? f->unit : "", f->unit ? ")" : "");
    json_kz(o, "description", text);
}

static void text_limits(struct json_out *o, const struct field *f)
{
    const struct rule *r = rule_find(f->rule);
    if (validate_min(f))
        json_kint(o, "minLength", validate_min(f));
    if (validate_max(f))
        json_kint(o, "maxLength", validate_max(f));
    if (r && r->pattern)
        json_kz(o, "pattern", r->pattern);
}

static void number_limits(struct json_out *o, const struct field *f)
{
    if (f->min || f->max)
        json_kint(o, "minimum", f->min);
    if (f->max)
        json_kint(o, "maximum", f->max);
}

static void choices(struct json_out *o, const struct field *f, bool nullable)
{
    json_key(o, "enum");
    json_array(o);
    for (const struct choice *c = f->choices; c->value; c++)
        json_z(o, c->value);
    if (nullable)
        json_null(o);
    json_array_end(o);
}

static void texts(struct json_out *o, const struct field *f, bool nullable)
{
    type(o, "array", nullable);
    json_key(o, "items");
    json_object(o);
    json_kz(o, "type", "string");
    json_object_end(o);
    json_kint(o, "maxItems", validate_max(f));
}

/* A reference: shown as {"id","name"}, given as an id or {"id"}. */
static void reference(struct json_out *o, bool shown, bool nullable)
{
    json_key(o, "anyOf");
    json_array(o);
    if (!shown) {
        json_object(o);
        json_kz(o, "type", "integer");
        json_kint(o, "minimum", 1);
        json_object_end(o);
    }
    schema_json_ref(o, shown ? "Reference" : "ReferenceInput");
    if (nullable) {
        json_object(o);
        json_kz(o, "type", "null");
        json_object_end(o);
    }
    json_array_end(o);
}

static void references(struct json_out *o, const struct field *f, bool shown, bool nullable)
{
    type(o, "array", nullable);
    json_key(o, "items");
    json_object(o);
    reference(o, shown, false);
    json_object_end(o);
    if (!shown)
        json_kint(o, "maxItems", validate_max(f));
}

static void json_schema(struct json_out *o, const char *schema, bool nullable)
{
    json_key(o, "anyOf");
    json_array(o);
    json_raw(o, str_of(schema));
    if (nullable)
        json_raw(o, STR("{\"type\":\"null\"}"));
    json_array_end(o);
}

static void value(struct json_out *o, const struct field *f, bool shown, bool nullable);

static void members(struct json_out *o, const struct field *f, bool shown, bool nullable)
{
    type(o, "object", nullable);
    json_kbool(o, "additionalProperties", false);
    json_key(o, "properties");
    json_object(o);
    for (const struct field *m = f->members; m->name; m++) {
        json_key(o, m->name);
        value(o, m, shown, true);
    }
    json_object_end(o);
}

static void value(struct json_out *o, const struct field *f, bool shown, bool nullable)
{
    json_object(o);
    switch (f->type) {
    case FIELD_TEXT:
        type(o, "string", nullable);
        if (!shown)
            text_limits(o, f);
        break;
    case FIELD_INT:
        type(o, "integer", nullable);
        json_kz(o, "format", "int64");
        if (!shown)
            number_limits(o, f);
        break;
    case FIELD_REAL:
        type(o, "number", nullable);
        if (!shown)
            number_limits(o, f);
        break;
    case FIELD_BOOL:
        type(o, "boolean", nullable);
        break;
    case FIELD_TIME:
        type(o, "string", nullable);
        json_kz(o, "format", "date-time");
        break;
    case FIELD_CHOICE:
        type(o, "string", nullable);
        choices(o, f, nullable);
        break;
    case FIELD_REF:
        reference(o, shown, nullable);
        break;
    case FIELD_REFS:
        references(o, f, shown, nullable);
        break;
    case FIELD_TEXTS:
        texts(o, f, nullable);
        break;
    case FIELD_JSON:
        if (f->members)
            members(o, f, shown, nullable);
        else if (f->schema)
            json_schema(o, f->schema, nullable);
        break;
    }
    describe(o, f);
    json_object_end(o);
}

void schema_json_value(struct json_out *o, const struct field *f)
{
    value(o, f, false, false);
}

static void property_ref(struct json_out *o, const char *key, bool nullable)
{
    json_key(o, key);
    json_object(o);
    reference(o, true, nullable);
    json_object_end(o);
}

static void property(struct json_out *o, const char *key, const char *kind, const char *format)
{
    json_key(o, key);
    json_object(o);
    json_kz(o, "type", kind);
    if (format)
        json_kz(o, "format", format);
    json_object_end(o);
}

static bool shown(const struct field *f)
{
    return !(f->flags & (FIELD_SECRET | FIELD_INTERNAL)) &&
           !(f->flags & FIELD_VIRTUAL && f->flags & (FIELD_CREATE | FIELD_UPDATE));
}

static void read_schema(struct json_out *o, const struct kind *k)
{
    json_object(o);
    json_kz(o, "type", "object");
    json_kz(o, "description", k->help.en ? k->help.en : k->title.en);
    json_key(o, "required");
    json_array(o);
    static const char *const always[] = {"id", "revision", "created_at", "updated_at", "created_by"};
    for (size_t i = 0; i < countof(always); i++)
        json_z(o, always[i]);
    for (const struct field *f = k->fields; f->name; f++)
        if (shown(f) && !(f->flags & FIELD_VIRTUAL))
            json_z(o, f->name);
    json_array_end(o);
    json_key(o, "properties");
    json_object(o);
    property(o, "id", "integer", "int64");
    if (kind_has_project(k))
        property_ref(o, "project", false);
    if (k->scope == SCOPE_CHILD)
        property_ref(o, k->parent, false);
    for (const struct field *f = k->fields; f->name; f++) {
        if (!shown(f))
            continue;
        json_key(o, f->name);
        value(o, f, true, !(f->flags & FIELD_REQUIRED));
    }
    property_ref(o, "created_by", true);
    property(o, "created_at", "string", "date-time");
    property(o, "updated_at", "string", "date-time");
    property(o, "revision", "integer", "int64");
    json_object_end(o);
    json_object_end(o);
}

static void input_schema(struct json_out *o, const struct field *fields, unsigned flag, bool project)
{
    bool any = project;
    json_object(o);
    json_kz(o, "type", "object");
    json_kbool(o, "additionalProperties", false);
    for (const struct field *f = fields; f && f->name && flag != FIELD_UPDATE; f++)
        any = any || ((!flag || f->flags & flag) && f->flags & FIELD_REQUIRED);
    if (any) {
        json_key(o, "required");
        json_array(o);
        if (project)
            json_z(o, "project");
        for (const struct field *f = fields; f && f->name && flag != FIELD_UPDATE; f++)
            if ((!flag || f->flags & flag) && f->flags & FIELD_REQUIRED)
                json_z(o, f->name);
        json_array_end(o);
    }
    json_key(o, "properties");
    json_object(o);
    if (project) {
        json_key(o, "project");
        json_object(o);
        reference(o, false, false);
        json_object_end(o);
    }
    for (const struct field *f = fields; f && f->name; f++) {
        if (flag && !(f->flags & flag))
            continue;
        json_key(o, f->name);
        value(o, f, false, !(f->flags & FIELD_REQUIRED));
    }
    json_object_end(o);
    json_object_end(o);
}

void schema_json_input(struct json_out *o, const struct field *fields)
{
    input_schema(o, fields, 0, false);
}

static void list_schema(struct json_out *o, const char *item)
{
    json_object(o);
    json_kz(o, "type", "object");
    json_key(o, "required");
    json_raw(o, STR("[\"items\",\"next\"]"));
    json_key(o, "properties");
    json_object(o);
    json_key(o, "items");
    json_object(o);
    json_kz(o, "type", "array");
    json_key(o, "items");
    schema_json_ref(o, item);
    json_object_end(o);
    json_key(o, "next");
    json_raw(o, STR("{\"type\":[\"string\",\"null\"],\"description\":\"Pass it as cursor\"}"));
    json_key(o, "total");
    json_raw(o, STR("{\"type\":[\"integer\",\"null\"],\"description\":\"Only with count=true; null: more "
                    "than 10,000 match the search\"}"));
    json_key(o, "sorted");
    json_raw(o,
             STR("{\"type\":\"boolean\",\"description\":\"Only with q: false when there are too many matches "
                 "to sort; then the newest come first\"}"));
    json_key(o, "matches");
    json_raw(o, STR("{\"type\":\"array\",\"description\":\"Only with q: for each item where its words were "
                    "found, in characters\",\"items\":{\"type\":\"array\",\"items\":{\"$ref\":"
                    "\"#/components/schemas/SearchMatch\"}}}"));
    json_object_end(o);
    json_object_end(o);
}

void schema_json_kind(struct json_out *o, const struct kind *k)
{
    auto_arena struct arena a;
    arena_init(&a);
    json_key(o, schema_json_name(&a, k->name, ""));
    read_schema(o, k);
    if (k->verbs & VERB_LIST) {
        json_key(o, schema_json_name(&a, k->name, "List"));
        list_schema(o, schema_json_name(&a, k->name, ""));
    }
    if (k->verbs & VERB_CREATE) {
        json_key(o, schema_json_name(&a, k->name, "Create"));
        input_schema(o, k->fields, FIELD_CREATE, k->scope == SCOPE_PROJECT);
    }
    if (k->verbs & VERB_UPDATE) {
        json_key(o, schema_json_name(&a, k->name, "Patch"));
        input_schema(o, k->fields, FIELD_UPDATE, false);
    }
}

void schema_json_common(struct json_out *o)
{
    json_key(o, "Reference");
    json_raw(o, STR("{\"type\":\"object\",\"required\":[\"id\",\"name\"],\"properties\":{\"id\":{\"type\":"
                    "\"integer\","
                    "\"format\":\"int64\"},\"name\":{\"type\":[\"string\",\"null\"]},\"of\":{\"$ref\":"
                    "\"#/components/schemas/Reference\"}}}"));
    json_key(o, "ReferenceInput");
    json_raw(o, STR("{\"type\":\"object\",\"required\":[\"id\"],\"properties\":{\"id\":{\"type\":\"integer\","
                    "\"format\":\"int64\",\"minimum\":1},\"name\":{\"type\":[\"string\",\"null\"]}}}"));
    json_key(o, "Problem");
    json_raw(
        o,
        STR("{\"type\":\"object\",\"description\":\"RFC 9457\",\"required\":[\"type\",\"title\",\"status\","
            "\"code\",\"detail\"],\"properties\":{\"type\":{\"type\":\"string\"},\"title\":{\"type\":"
            "\"string\"},\"status\":{\"type\":\"integer\"},\"code\":{\"type\":\"string\"},\"detail\":{"
            "\"type\":\"string\"},\"detail_zh\":{\"type\":[\"string\",\"null\"]},\"message\":{\"type\":["
            "\"string\",\"null\"]},\"field\":{\"type\":[\"string\",\"null\"]},\"permission\":{\"type\":["
            "\"string\",\"null\"]},\"references\":{\"type\":[\"array\",\"null\"],\"items\":{\"type\":"
            "\"object\",\"properties\":{\"kind\":{\"type\":\"string\"},\"count\":{\"type\":\"integer\"},"
            "\"examples\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/Reference\"}}}}}"
            "}}"));
}
