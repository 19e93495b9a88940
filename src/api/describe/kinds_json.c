#include "api/describe/kinds_json.h"

#include "base/json.h"
#include "core/kinds.h"
#include "core/validate.h"
#include "metric/titles.h"

const char *kinds_json_type(enum field_type type)
{
    static const char *const names[] = {
        [FIELD_TEXT] = "text",   [FIELD_INT] = "int",       [FIELD_REAL] = "real", [FIELD_BOOL] = "bool",
        [FIELD_TIME] = "time",   [FIELD_CHOICE] = "choice", [FIELD_REF] = "ref",   [FIELD_REFS] = "refs",
        [FIELD_TEXTS] = "texts", [FIELD_JSON] = "json",
    };
    return names[type];
}

static void words(struct json_out *o, const char *key, const struct words *w)
{
    json_key(o, key);
    if (!w->en) {
        json_null(o);
        return;
    }
    json_object(o);
    json_kz(o, "en", w->en);
    json_kz(o, "zh", w->zh ? w->zh : w->en);
    json_object_end(o);
}

static void flags(struct json_out *o, unsigned has)
{
    static const struct {
        const char *name;
        unsigned flag;
    } table[] = {
        {"required", FIELD_REQUIRED}, {"create", FIELD_CREATE},   {"update", FIELD_UPDATE},
        {"search", FIELD_SEARCH},     {"sort", FIELD_SORT},       {"filter", FIELD_FILTER},
        {"unique", FIELD_UNIQUE},     {"secret", FIELD_SECRET},   {"list", FIELD_LIST},
        {"long", FIELD_LONG},         {"virtual", FIELD_VIRTUAL}, {"status", FIELD_STATUS},
        {"advanced", FIELD_ADVANCED},
    };
    for (size_t i = 0; i < countof(table); i++)
        json_kbool(o, table[i].name, has & table[i].flag);
}

static void limit(struct json_out *o, const char *key, int64_t n, bool known)
{
    json_key(o, key);
    if (known)
        json_int(o, n);
    else
        json_null(o);
}

static const char *const sections[] = {
    [SECTION_WHAT] = "what", [SECTION_WHO] = "who",       [SECTION_WHERE] = "where",
    [SECTION_HOW] = "how",   [SECTION_LIMITS] = "limits",
};

static void write_fields(struct json_out *o, const char *key, const struct field *f);

static void write_field(struct json_out *o, const struct field *f)
{
    bool limited = validate_min(f) || validate_max(f);
    json_object(o);
    json_kz(o, "name", f->name);
    json_kz(o, "type", kinds_json_type(f->type));
    words(o, "title", &f->title);
    words(o, "help", &f->help);
    flags(o, f->flags);
    limit(o, "min", validate_min(f), limited);
    limit(o, "max", validate_max(f), validate_max(f) != 0);
    limit(o, "item_max", f->item_max, f->item_max != 0);
    json_kz(o, "rule", f->rule);
    json_key(o, "choices");
    if (f->choices) {
        json_array(o);
        for (const struct choice *c = f->choices; c->value; c++) {
            json_object(o);
            json_kz(o, "value", c->value);
            words(o, "title", &c->title);
            json_object_end(o);
        }
        json_array_end(o);
    } else {
        json_null(o);
    }
    json_kz(o, "ref", f->ref);
    json_key(o, "default");
    json_raw(o, f->fallback ? str_of(f->fallback) : STR("null"));
    json_kz(o, "unit", f->unit);
    json_kz(o, "section", sections[f->section]);
    json_kz(o, "mount", f->mount);
    if (f->members)
        write_fields(o, "members", f->members);
    json_object_end(o);
}

static void write_fields(struct json_out *o, const char *key, const struct field *f)
{
    json_key(o, key);
    json_array(o);
    for (; f && f->name; f++)
        if (!(f->flags & FIELD_INTERNAL))
            write_field(o, f);
    json_array_end(o);
}

static void write_verbs(struct json_out *o, const struct kind *k)
{
    static const struct {
        const char *name;
        unsigned verb;
    } table[] = {{"list", VERB_LIST},
                 {"read", VERB_READ},
                 {"create", VERB_CREATE},
                 {"update", VERB_UPDATE},
                 {"delete", VERB_DELETE}};
    auto_arena struct arena a;
    arena_init(&a);
    json_key(o, "verbs");
    json_array(o);
    for (size_t i = 0; i < countof(table); i++)
        if (k->verbs & table[i].verb)
            json_z(o, table[i].name);
    json_array_end(o);
    json_key(o, "permissions");
    json_object(o);
    json_kz(o, "read", kind_permission(&a, k, "read"));
    for (size_t i = 2; i < countof(table); i++)
        if (k->verbs & table[i].verb)
            json_kz(o, table[i].name, kind_permission(&a, k, table[i].name));
    if (k->delete_own)
        json_kz(o, KIND_DELETE_ANY, kind_permission(&a, k, KIND_DELETE_ANY));
    json_object_end(o);
}

static void write_actions(struct json_out *o, const struct kind *k)
{
    json_key(o, "actions");
    json_array(o);
    for (const struct action *act = k->actions; act && act->name; act++) {
        json_object(o);
        json_kz(o, "name", act->name);
        json_kz(o, "on", act->on_kind ? "kind" : "item");
        json_kz(o, "method", act->read_only ? "GET" : "POST");
        json_kz(o, "permission", act->permission);
        words(o, "title", &act->title);
        json_kbool(o, "danger", act->danger);
        write_fields(o, "fields", act->fields);
        json_object_end(o);
    }
    json_array_end(o);
}

static void write_kind(struct json_out *o, const struct kind *k)
{
    static const char *const scopes[] = {[SCOPE_PLATFORM] = "platform",
                                         [SCOPE_PROJECT] = "project",
                                         [SCOPE_CHILD] = "child",
                                         [SCOPE_OWN] = "own"};
    char collection[KIND_COLLECTION_MAX];
    json_object(o);
    json_kz(o, "name", k->name);
    json_kz(o, "plural", k->plural);
    json_kz(o, "scope", scopes[k->scope]);
    json_kz(o, "parent", k->parent);
    json_kz(o, "collection", kind_collection(k, collection));
    json_kz(o, "menu", k->menu);
    words(o, "title", &k->title);
    words(o, "titles", &k->titles);
    words(o, "help", &k->help);
    json_kbool(o, "public", k->public_too);
    write_verbs(o, k);
    write_fields(o, "fields", k->fields);
    write_actions(o, k);
    json_object_end(o);
}

/* Figures of evaluations: names of the API to what people read. */
static void write_figures(struct json_out *o)
{
    json_key(o, "figures");
    json_array(o);
    for (const struct figure_title *f = figure_titles; f->name; f++) {
        json_object(o);
        json_kz(o, "name", f->name);
        words(o, "title", &(struct words){f->en, f->zh});
        json_kbool(o, "main", f->flags & FIGURE_MAIN);
        json_kbool(o, "less", f->flags & FIGURE_LESS);
        json_object_end(o);
    }
    json_array_end(o);
}

void kinds_json_write(struct buf *out)
{
    struct json_out o;
    json_begin(&o, out);
    json_object(&o);
    json_key(&o, "items");
    json_array(&o);
    for (size_t i = 0; i < kind_count; i++)
        write_kind(&o, kinds[i]);
    json_array_end(&o);
    write_figures(&o);
    json_object_end(&o);
}
