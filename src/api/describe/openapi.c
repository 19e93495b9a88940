#include "api/describe/openapi.h"
#include "api/describe/answer_schema.h"

#include "api/describe/schema_json.h"
#include "api/router.h"
#include "core/kinds.h"

#include <stdio.h>

struct writer {
    struct json_out o;
    struct arena arena;
};

/* --- pieces of operations --- */
static void parameter(struct json_out *o, const char *name, const char *in, bool required, const char *schema,
                      const char *description)
{
    json_object(o);
    json_kz(o, "name", name);
    json_kz(o, "in", in);
    if (required)
        json_kbool(o, "required", true);
    if (description)
        json_kz(o, "description", description);
    json_key(o, "schema");
    json_raw(o, str_of(schema));
    json_object_end(o);
}

#define ID_SCHEMA "{\"type\":\"integer\",\"format\":\"int64\",\"minimum\":1}"

static void list_parameters(struct json_out *o, const struct kind *k, bool across)
{
    parameter(
        o, "q", "query", false, "{\"type\":\"string\",\"maxLength\":200}",
        "Words, all of which the name or another searched field has: three characters or more anywhere, "
        "fewer where a word begins (each Chinese character begins one); capitals are no other letters. "
        "Of more than 10,000 matches the newest come first, and `sorted` is false");
    parameter(o, "filter", "query", false, "{\"type\":\"string\",\"maxLength\":4096}",
              "Conditions joined by `and`: state = \"running\" and cpus >= 4");
    parameter(o, "sort", "query", false, "{\"type\":\"string\"}",
              "A field; - before it for descending order");
    parameter(o, "limit", "query", false,
              "{\"type\":\"integer\",\"minimum\":1,\"maximum\":200,\"default\":20}", NULL);
    parameter(o, "cursor", "query", false, "{\"type\":\"string\"}", "`next` of the page before");
    parameter(o, "mine", "query", false, "{\"type\":\"boolean\"}", "Only what the caller created");
    parameter(o, "count", "query", false, "{\"type\":\"boolean\"}", "Also answer the exact total");
    if (across || k->scope == SCOPE_PROJECT)
        parameter(o, "project", "query", false, ID_SCHEMA, "The project whose objects are wanted");
}

/* A name like {project_id} for each id of the path, then those of the operation. */
static void path_parameters(struct json_out *o, const char *path)
{
    for (const char *p = strchr(path, '{'); p; p = strchr(p, '{')) {
        const char *end = strchr(p, '}');
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(end - p - 1), p + 1);
        bool id = strcmp(name, "id") == 0 || str_ends(str_of(name), "_id");
        parameter(o, name, "path", true, id ? ID_SCHEMA : "{\"type\":\"string\"}", NULL);
        p = end;
    }
}

/* The usual ones by name, for generators that make a case of each; all others are the default. */
static void problem_responses(struct json_out *o)
{
    static const char *const always[] = {"400", "401", "403", "404", "409", "422", "503", "default"};
    for (size_t i = 0; i < countof(always); i++) {
        json_key(o, always[i]);
        json_raw(o, STR("{\"$ref\":\"#/components/responses/Problem\"}"));
    }
}

static void json_content(struct json_out *o, const char *media)
{
    json_key(o, "content");
    json_object(o);
    json_key(o, media);
    json_object(o);
    json_key(o, "schema");
}

static void json_content_end(struct json_out *o)
{
    json_object_end(o);
    json_object_end(o);
}

static void response_begin(struct json_out *o, int status, const char *description)
{
    char text[8];
    snprintf(text, sizeof text, "%d", status);
    json_key(o, text);
    json_object(o);
    json_kz(o, "description", description);
}

static void not_modified(struct json_out *o)
{
    response_begin(o, 304, "What If-None-Match names is still so");
    json_object_end(o);
}

static void object_response(struct json_out *o, int status, const char *schema, bool etag)
{
    response_begin(o, status, status == 201 ? "Created" : "OK");
    if (etag) {
        json_key(o, "headers");
        json_raw(o, STR("{\"ETag\":{\"schema\":{\"type\":\"string\"}}}"));
    }
    json_content(o, "application/json");
    schema_json_ref(o, schema);
    json_content_end(o);
    json_object_end(o);
}

static void body(struct json_out *o, const char *schema)
{
    json_key(o, "requestBody");
    json_object(o);
    json_kbool(o, "required", true);
    json_content(o, "application/json");
    schema_json_ref(o, schema);
    json_content_end(o);
    json_object_end(o);
}

static void operation_begin(struct writer *w, const char *method, const char *id, const char *summary,
                            const char *tag)
{
    struct json_out *o = &w->o;
    json_key(o, method);
    json_object(o);
    json_kz(o, "operationId", id);
    json_kz(o, "summary", summary);
    json_key(o, "tags");
    json_array(o);
    json_z(o, tag);
    json_array_end(o);
}

/* --- kinds --- */
/* "/api/v1/projects/{project_id}/members" */
static const char *list_path(struct writer *w, const struct kind *k)
{
    if (k->scope != SCOPE_CHILD)
        return arena_printf(&w->arena, "/api/v1/%s", k->plural);
    const struct kind *parent = kind_by_name(str_of(k->parent));
    return arena_printf(&w->arena, "%s/{%s_id}/%s", list_path(w, parent), parent->name, k->plural);
}

struct verb {
    unsigned verb;
    const char *method, *name;
    bool across; /* of all parents */
};

static const struct verb list_verbs[] = {{VERB_LIST, "get", "list", false},
                                         {VERB_CREATE, "post", "create", false}};
static const struct verb item_verbs[] = {{VERB_READ, "get", "read", false},
                                         {VERB_UPDATE, "patch", "update", false},
                                         {VERB_DELETE, "delete", "delete", false}};
static const struct verb list_across = {VERB_LIST, "get", "list", true};
static const struct verb read_across = {VERB_READ, "get", "read", true};

static void verb_parameters(struct writer *w, const struct kind *k, const struct verb *v)
{
    struct json_out *o = &w->o;
    if (v->verb == VERB_LIST || v->verb == VERB_UPDATE || v->verb == VERB_DELETE) {
        json_key(o, "parameters");
        json_array(o);
        if (v->verb == VERB_LIST)
            list_parameters(o, k, v->across);
        else
            parameter(o, "If-Match", "header", v->verb == VERB_UPDATE, "{\"type\":\"string\"}",
                      "The ETag of the object as it was read");
        json_array_end(o);
    }
}

static void verb_responses(struct writer *w, const struct kind *k, const struct verb *v)
{
    struct json_out *o = &w->o;
    json_key(o, "responses");
    json_object(o);
    if (v->verb == VERB_DELETE) {
        response_begin(o, 204, "Deleted");
        json_object_end(o);
    } else {
        object_response(o, v->verb == VERB_CREATE ? 201 : 200,
                        schema_json_name(&w->arena, k->name, v->verb == VERB_LIST ? "List" : ""),
                        v->verb != VERB_LIST);
    }
    if (v->verb == VERB_READ)
        not_modified(o);
    problem_responses(o);
    if (v->verb == VERB_UPDATE || v->verb == VERB_DELETE) {
        json_key(o, "412");
        json_raw(o, STR("{\"$ref\":\"#/components/responses/Problem\"}"));
    }
    if (v->verb == VERB_UPDATE) {
        json_key(o, "428");
        json_raw(o, STR("{\"$ref\":\"#/components/responses/Problem\"}"));
    }
    json_object_end(o);
}

static void verbs(struct writer *w, const struct kind *k, const struct verb *table, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct verb *v = &table[i];
        if (!(k->verbs & v->verb))
            continue;
        const char *id = arena_printf(&w->arena, "%s_%s%s", k->name, v->name, v->across ? "_across" : "");
        const char *says =
            arena_printf(&w->arena, "%s: %s", v->verb == VERB_LIST ? k->titles.en : k->title.en, v->name);
        operation_begin(w, v->method, id, says, k->name);
        verb_parameters(w, k, v);
        if (v->verb == VERB_CREATE || v->verb == VERB_UPDATE)
            body(&w->o, schema_json_name(&w->arena, k->name, v->verb == VERB_CREATE ? "Create" : "Patch"));
        verb_responses(w, k, v);
        json_object_end(&w->o);
    }
}

static void path_begin(struct writer *w, const char *path)
{
    json_key(&w->o, path);
    json_object(&w->o);
    if (!strchr(path, '{'))
        return;
    json_key(&w->o, "parameters");
    json_array(&w->o);
    path_parameters(&w->o, path);
    json_array_end(&w->o);
}

static bool needs_input(const struct field *fields)
{
    for (const struct field *f = fields; f->name; f++)
        if (f->flags & FIELD_REQUIRED)
            return true;
    return false;
}

static void action_body(struct writer *w, const struct action *act)
{
    struct json_out *o = &w->o;
    if (act->read_only) {
        json_key(o, "parameters");
        json_array(o);
        for (const struct field *f = act->fields; f && f->name; f++) {
            json_object(o);
            json_kz(o, "name", f->name);
            json_kz(o, "in", "query");
            json_kbool(o, "required", f->flags & FIELD_REQUIRED);
            json_key(o, "schema");
            schema_json_value(o, f);
            json_object_end(o);
        }
        json_array_end(o);
    } else if (act->fields) {
        json_key(o, "requestBody");
        json_object(o);
        json_kbool(o, "required", needs_input(act->fields));
        json_content(o, "application/json");
        schema_json_input(o, act->fields);
        json_content_end(o);
        json_object_end(o);
    }
}

static bool known_schema(struct writer *w, const char *name)
{
    for (size_t i = 0; name && i < kind_count; i++)
        if (strcmp(schema_json_name(&w->arena, kinds[i]->name, ""), name) == 0)
            return true;
    return answer_schema_known(name);
}

static void action_response(struct writer *w, const struct kind *k, const struct action *act, int status)
{
    const char *schema = act->answer ? act->answer : schema_json_name(&w->arena, k->name, "");
    response_begin(&w->o, status, "Done");
    if (status != 204 && known_schema(w, schema)) {
        json_content(&w->o, "application/json");
        schema_json_ref(&w->o, schema);
        json_content_end(&w->o);
    }
    json_object_end(&w->o);
}

static void action(struct writer *w, const struct kind *k, const struct action *act, const char *base)
{
    struct json_out *o = &w->o;
    path_begin(w, arena_printf(&w->arena, act->on_kind ? "%s/%s" : "%s/{id}/%s", base, act->name));
    char *id = arena_printf(&w->arena, "%s_%s", k->name, act->name);
    for (char *p = id; *p; p++)
        if (*p == '-')
            *p = '_';
    operation_begin(w, act->read_only ? "get" : "post", id, act->title.en ? act->title.en : act->name,
                    k->name);
    action_body(w, act);
    json_key(o, "responses");
    json_object(o);
    action_response(w, k, act, act->status ? act->status : 200);
    if (act->status == 202)
        action_response(w, k, act, 200); /* what was asked for is there already */
    problem_responses(o);
    json_object_end(o);
    json_object_end(o);
    json_object_end(o);
}

/* --- routes of the tables --- */
/* "get /api/v1/sign-in/{provider}" gives get_sign_in_provider. */
/* A DELETE is "remove": "delete_session" is the verb of the kind, this the route /session. */
static const char *route_id(struct writer *w, const struct route *r)
{
    const char *method = strcmp(r->method, "DELETE") == 0 ? "remove" : r->method;
    char *id = arena_printf(&w->arena, "%s_%s", method, r->pattern + strlen("/api/v1/"));
    size_t n = 0;
    for (const char *p = id; *p; p++) {
        if (strchr("{}", *p))
            continue;
        id[n++] = strchr("/-.", *p) ? '_' : *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;
    }
    id[n] = 0;
    return id;
}

static void word_parameters(struct writer *w, const char *words, const char *in)
{
    struct route_word word;
    for (struct str rest = str_of(words); route_next(&rest, &word);) {
        const char *schema = str_is(word.type, "int")    ? "{\"type\":\"integer\",\"format\":\"int64\"}"
                             : str_is(word.type, "id")   ? ID_SCHEMA
                             : str_is(word.type, "bool") ? "{\"type\":\"boolean\"}"
                                                         : "{\"type\":\"string\"}";
        if (!str_is(word.name, "*"))
            parameter(&w->o, arena_strz(&w->arena, word.name), in, word.required, schema, NULL);
    }
}

static void route_parameters(struct writer *w, const struct route *r)
{
    json_key(&w->o, "parameters");
    json_array(&w->o);
    word_parameters(w, r->query, "query");
    word_parameters(w, r->headers, "header");
    json_array_end(&w->o);
}

static void route_body(struct json_out *o, const struct route *r)
{
    json_key(o, "requestBody");
    json_object(o);
    json_kbool(o, "required", true);
    json_content(o, r->takes ? r->takes : "application/json");
    json_raw(o, str_of(r->takes ? ROUTE_BINARY : r->input));
    json_content_end(o);
    json_object_end(o);
}

static void answer_headers(struct writer *w, const char *words)
{
    struct json_out *o = &w->o;
    struct route_word word;
    json_key(o, "headers");
    json_object(o);
    for (struct str rest = str_of(words); route_next(&rest, &word);) {
        json_key(o, arena_strz(&w->arena, word.name));
        json_raw(o, STR("{\"schema\":{\"type\":\"string\"}}"));
    }
    json_object_end(o);
}

static void route_response(struct writer *w, const struct route *r, int status, const char *says)
{
    struct json_out *o = &w->o;
    response_begin(o, status, says);
    if (r->gives)
        answer_headers(w, r->gives);
    if (r->answer) {
        json_content(o, r->type ? r->type : "application/json");
        json_raw(o, str_of(r->answer));
        json_content_end(o);
    }
    json_object_end(o);
}

static void route_responses(struct writer *w, const struct route *r)
{
    struct json_out *o = &w->o;
    int status = r->status ? r->status : r->answer ? 200 : 204;
    json_key(o, "responses");
    json_object(o);
    route_response(w, r, status, status == 204 ? "Done" : "OK");
    if (r->parts)
        route_response(w, r, 206, "The part that Range names");
    if (r->parts || r->tagged)
        not_modified(o);
    problem_responses(o);
    json_object_end(o);
}

/* The noun that a path is about: the last kind that its segments name one below the other. */
static const char *route_tag(const char *pattern)
{
    const struct kind *about = NULL;
    struct str rest = str_of(pattern + (str_starts(str_of(pattern), "/api/v1/") ? strlen("/api/v1/") : 0));
    while (rest.n) {
        struct str segment = str_cut(rest, '/', &rest);
        const struct kind *next = NULL;
        for (size_t i = 0; i < kind_count && !next; i++) {
            const struct kind *k = kinds[i];
            bool here = about ? k->parent && strcmp(k->parent, about->name) == 0 : k->scope != SCOPE_CHILD;
            if (here && str_is(segment, k->plural))
                next = k;
        }
        if (!next && !str_starts(segment, "{"))
            break;
        about = next ? next : about;
    }
    return about ? about->name : "platform";
}

static void route_operation(struct writer *w, const struct route *r)
{
    struct json_out *o = &w->o;
    bool is_public = r->permission && strcmp(r->permission, "public") == 0;
    char method[8] = "";
    for (size_t i = 0; i < 7 && r->method[i]; i++)
        method[i] = (char)(r->method[i] + 32);
    operation_begin(w, method, route_id(w, r), r->summary ? r->summary : r->pattern, route_tag(r->pattern));
    if (is_public) {
        json_key(o, "security");
        json_raw(o, STR("[]"));
    }
    if (r->query || r->headers)
        route_parameters(w, r);
    if (r->input || r->takes)
        route_body(o, r);
    route_responses(w, r);
    json_object_end(o);
}

/* Calls fn for each route with this pattern; returns how many there are. */
static size_t routes_at(struct writer *w, const char *path, void (*fn)(struct writer *, const struct route *))
{
    size_t n = 0;
    for (size_t t = 0; t < router_table_count; t++)
        for (const struct route *r = router_tables[t]; r->method; r++) {
            if (strcmp(r->pattern, path) != 0)
                continue;
            if (fn)
                fn(w, r);
            n++;
        }
    return n;
}

/* --- the whole --- */
#define LIST_VERBS (VERB_LIST | VERB_CREATE)
#define ITEM_VERBS (VERB_READ | VERB_UPDATE | VERB_DELETE)

static void kind_paths(struct writer *w, const struct kind *k)
{
    const char *base = list_path(w, k), *item = arena_printf(&w->arena, "%s/{id}", base);
    if (k->verbs & LIST_VERBS) {
        path_begin(w, base);
        verbs(w, k, list_verbs, countof(list_verbs));
        routes_at(w, base, route_operation);
        json_object_end(&w->o);
    }
    if (k->verbs & ITEM_VERBS) {
        path_begin(w, item);
        verbs(w, k, item_verbs, countof(item_verbs));
        routes_at(w, item, route_operation);
        json_object_end(&w->o);
    }
    for (const struct action *act = k->actions; act && act->name; act++)
        action(w, k, act, base);
    char collection[KIND_COLLECTION_MAX];
    if (kind_collection(k, collection)) {
        path_begin(w, arena_printf(&w->arena, "/api/v1/%s", collection));
        verbs(w, k, &list_across, 1);
        json_object_end(&w->o);
        path_begin(w, arena_printf(&w->arena, "/api/v1/%s/{id}", collection));
        verbs(w, k, &read_across, 1);
        json_object_end(&w->o);
    }
}

/* Written with a kind's own verbs already. */
static bool written_with_kind(struct writer *w, const char *pattern)
{
    for (size_t i = 0; i < kind_count; i++) {
        const char *base = list_path(w, kinds[i]);
        if (kinds[i]->verbs & LIST_VERBS && strcmp(base, pattern) == 0)
            return true;
        if (kinds[i]->verbs & ITEM_VERBS && strcmp(arena_printf(&w->arena, "%s/{id}", base), pattern) == 0)
            return true;
    }
    return false;
}

static void table_paths(struct writer *w, const struct route *table)
{
    for (const struct route *r = table; r->method; r++) {
        bool before = false;
        for (const struct route *other = table; other < r; other++)
            before = before || strcmp(other->pattern, r->pattern) == 0;
        if (before || written_with_kind(w, r->pattern))
            continue;
        path_begin(w, r->pattern);
        routes_at(w, r->pattern, route_operation);
        json_object_end(&w->o);
    }
}

static void components(struct writer *w)
{
    struct json_out *o = &w->o;
    json_key(o, "components");
    json_object(o);
    json_key(o, "securitySchemes");
    json_raw(
        o, STR("{\"bearer\":{\"type\":\"http\",\"scheme\":\"bearer\"},\"cookie\":{\"type\":\"apiKey\",\"in\":"
               "\"cookie\",\"name\":\"ingot_session\"}}"));
    json_key(o, "responses");
    json_raw(
        o, STR("{\"Problem\":{\"description\":\"What went wrong\",\"content\":{\"application/problem+json\":{"
               "\"schema\":{\"$ref\":\"#/components/schemas/Problem\"}}}}}"));
    json_key(o, "schemas");
    json_object(o);
    schema_json_common(o);
    for (size_t i = 0; i < kind_count; i++)
        schema_json_kind(o, kinds[i]);
    answer_schema_write(o);
    json_object_end(o);
    json_object_end(o);
}

/* For the pages that show the document: the noun in both languages, and the group of the menu it is in. */
static void tag_extras(struct json_out *o, const struct kind *k)
{
    const struct kind *top = k;
    while (!top->menu && top->parent)
        top = kind_by_name(str_of(top->parent));
    json_key(o, "x-title");
    json_object(o);
    json_kz(o, "en", k->titles.en);
    json_kz(o, "zh", k->titles.zh);
    json_object_end(o);
    if (top->menu)
        json_kz(o, "x-group", top->menu);
    if (k->parent)
        json_kz(o, "x-parent", k->parent);
}

static void tags(struct writer *w)
{
    struct json_out *o = &w->o;
    json_key(o, "tags");
    json_array(o);
    for (size_t i = 0; i < kind_count; i++) {
        json_object(o);
        json_kz(o, "name", kinds[i]->name);
        json_kz(o, "description", kinds[i]->help.en ? kinds[i]->help.en : kinds[i]->titles.en);
        tag_extras(o, kinds[i]);
        json_object_end(o);
    }
    json_raw(o, STR("{\"name\":\"platform\",\"description\":\"Signing in and the platform itself\","
                    "\"x-title\":{\"en\":\"Platform\",\"zh\":\"平台\"}}"));
    json_array_end(o);
}

void openapi_write(struct buf *out)
{
    struct writer w;
    struct json_out *o = &w.o;
    arena_init(&w.arena);
    json_begin(o, out);
    json_object(o);
    json_kz(o, "openapi", "3.1.0");
    json_key(o, "info");
    json_raw(
        o,
        STR("{\"title\":\"Ingot\",\"version\":\"" INGOT_VERSION
            "\",\"description\":\"Everything the platform does, as the web UI and the command line use it.\","
            "\"license\":{\"name\":\"Apache 2.0\",\"identifier\":\"Apache-2.0\"}}"));
    json_key(o, "servers");
    json_raw(o, STR("[{\"url\":\"/\"}]"));
    json_key(o, "security");
    json_raw(o, STR("[{\"bearer\":[]},{\"cookie\":[]}]"));
    tags(&w);
    json_key(o, "paths");
    json_object(o);
    for (size_t i = 0; i < kind_count; i++)
        kind_paths(&w, kinds[i]);
    for (size_t t = 0; t < router_table_count; t++)
        table_paths(&w, router_tables[t]);
    json_object_end(o);
    components(&w);
    json_object_end(o);
    arena_release(&w.arena);
}
