#include "cli/verb.h"

#include "cli/dataset.h"
#include "cli/demo.h"
#include "cli/folder.h"
#include "cli/input.h"
#include "cli/runtime.h"
#include "cli/scope.h"
#include "cli/service.h"

static const struct verb verbs[] = {
    {.name = "list", .needs = VERB_LIST, .summary = "list %s objects", .words = NULL, .run = verb_list},
    {.name = "get", .needs = VERB_READ, .summary = "show one %s", .words = "NAME", .run = verb_get},
    {.name = "create", .needs = VERB_CREATE, .summary = "make a %s", .words = "[NAME]", .run = verb_create},
    {.name = "update", .needs = VERB_UPDATE, .summary = "change a %s", .words = "NAME", .run = verb_update},
    {.name = "delete",
     .needs = VERB_DELETE,
     .summary = "delete one %s or several",
     .words = "NAME...",
     .run = verb_delete},
    {.name = NULL},
};
static const struct verb action_verb = {.name = "", .summary = "%s", .words = "NAME", .run = verb_action};

#define UPLOAD(of)                                                                                           \
    {                                                                                                        \
        .name = "upload", .kind = of, .summary = "bring a folder or a file into a version",                  \
        .words = "PATH NAME[:VERSION]", .flags = folder_upload_flags, .flag_count = FOLDER_UPLOAD_FLAGS,     \
        .min_words = 2, .max_words = 2, .run = folder_upload                                                 \
    }
#define DOWNLOAD(of)                                                                                         \
    {                                                                                                        \
        .name = "download", .kind = of, .summary = "take the files of a version out",                        \
        .words = "NAME[:VERSION]", .flags = folder_download_flags, .flag_count = FOLDER_DOWNLOAD_FLAGS,      \
        .min_words = 1, .max_words = 1, .run = folder_download                                               \
    }

#define IMPORT(of)                                                                                           \
    {                                                                                                        \
        .name = "import", .kind = of, .takes = "dataset_version",                                            \
        .summary = "bring a folder, an archive or a file in, or what a flag names",                          \
        .words = "PATH NAME[:VERSION]", .flags = dataset_import_flags, .flag_count = DATASET_IMPORT_FLAGS,   \
        .min_words = 1, .max_words = 2, .run = dataset_import                                                \
    }

/* What single kinds have besides, or in place of what all have. */
static const struct verb own_verbs[] = {
    IMPORT("dataset"),
    IMPORT("dataset_version"),
    {.name = "create",
     .needs = VERB_CREATE,
     .kind = "dataset",
     .summary = "make a dataset, with a version to fill",
     .words = "[NAME]",
     .max_words = 1,
     .run = dataset_create},
    {.name = "publish",
     .kind = "dataset",
     .takes = "dataset_version",
     .summary = "publish a version, the newest unless it is named: it never changes again",
     .words = "NAME[:VERSION]",
     .min_words = 1,
     .max_words = 1,
     .run = dataset_publish},
    {.name = "export",
     .kind = "dataset",
     .summary = "take a version out as an archive",
     .words = "NAME[:VERSION]",
     .flags = dataset_export_flags,
     .flag_count = DATASET_EXPORT_FLAGS,
     .min_words = 1,
     .max_words = 1,
     .run = dataset_export},
    {.name = "diff",
     .kind = "dataset",
     .summary = "what differs between two versions",
     .words = "NAME:VERSION :VERSION",
     .min_words = 2,
     .max_words = 2,
     .run = dataset_diff},
    {.name = "export",
     .kind = "runtime",
     .summary = "write a runtime that is built into a file, for machines without a network",
     .words = "NAME FILE",
     .flags = runtime_flags,
     .flag_count = RUNTIME_FLAGS,
     .min_words = 2,
     .max_words = 2,
     .run = runtime_export},
    {.name = "import",
     .kind = "runtime",
     .summary = "bring such a file in",
     .words = "PATH",
     .flags = runtime_flags,
     .flag_count = RUNTIME_FLAGS,
     .min_words = 1,
     .max_words = 1,
     .run = runtime_import},
    {.name = "log",
     .kind = "runtime",
     .summary = "what was said while it was built",
     .words = "NAME",
     .min_words = 1,
     .max_words = 1,
     .run = runtime_log},
    {.name = "traffic",
     .kind = "service",
     .summary = "how many requests each version answered, and how quickly",
     .words = "NAME",
     .flags = service_traffic_flags,
     .flag_count = SERVICE_TRAFFIC_FLAGS,
     .min_words = 1,
     .max_words = 1,
     .run = service_traffic},
    {.name = "log",
     .kind = "tool",
     .summary = "what was said while it was installed",
     .words = "NAME",
     .min_words = 1,
     .max_words = 1,
     .run = runtime_log},
    {.name = "status", .kind = "demo", .summary = "what of the demo project is there", .run = demo_status},
    {.name = "load",
     .kind = "demo",
     .summary = "load the demo project, wait, print what its people sign in with",
     .flags = demo_flags,
     .flag_count = DEMO_FLAGS,
     .run = demo_load},
    {.name = "remove",
     .kind = "demo",
     .summary = "remove the demo project with all that is in it, and its people",
     .flags = demo_remove_flags,
     .flag_count = DEMO_REMOVE_FLAGS,
     .run = demo_remove},
    UPLOAD("algorithm_set"),
    UPLOAD("model_set"),
    DOWNLOAD("algorithm_set"),
    DOWNLOAD("model_set"),
    {.name = NULL},
};

static const struct flag list_flags[] = {
    {"limit", 0, FLAG_VALUE, "N", "how many, 1 to 200 (20 when absent)", NULL},
    {"all", 0, FLAG_SWITCH, NULL, "all of them, page by page", NULL},
    {"q", 'q', FLAG_VALUE, "TEXT", "only what has these words, or parts of words of 3 characters", NULL},
    {"filter", 0, FLAG_VALUE, "EXPRESSION", "such as 'cpus >= 4 and name ~ \"res\"'", NULL},
    {"sort", 0, FLAG_VALUE, "FIELD", "by this field; -FIELD: descending", NULL},
    {"mine", 0, FLAG_SWITCH, NULL, "only what I created", NULL},
    {"cursor", 0, FLAG_VALUE, "CURSOR", "go on where a former list ended (\"next\")", NULL},
    {"count", 0, FLAG_SWITCH, NULL, "also say how many there are", NULL},
};
static const struct flag update_flags[] = {
    {"revision", 0, FLAG_VALUE, "N", "refuse when it is not at this revision any more", NULL},
};
static const struct flag delete_flags[] = {
    {"yes", 'y', FLAG_SWITCH, NULL, "do not ask", NULL},
    {"revision", 0, FLAG_VALUE, "N", "refuse when it is not at this revision any more", NULL},
};

static const struct flag task_flags[] = {
    {"no-wait", 0, FLAG_SWITCH, NULL, "do not wait until it is done", NULL},
    {"quiet", 0, FLAG_SWITCH, NULL, "no progress and no log", NULL},
};

/* --project, and a flag per parent that is no project. */
static const struct flag *scope_flags(struct arena *a, const struct kind *k, size_t *ret_n)
{
    struct flag *out = arena_array(a, struct flag, 4);
    size_t n = 0;
    if (scope_has_project(k))
        out[n++] = (struct flag){"project", 'p', FLAG_VALUE, "NAME", "the project, by name or id", NULL};
    while (k->scope == SCOPE_CHILD && n < 4) {
        const struct kind *parent = kind_by_name(str_of(k->parent));
        if (!parent)
            break;
        if (strcmp(parent->name, "project") != 0)
            out[n++] = (struct flag){scope_kind_word(a, parent),
                                     0,
                                     FLAG_VALUE,
                                     "NAME",
                                     arena_printf(a, "the %s it belongs to, by name or id", parent->name),
                                     NULL};
        k = parent;
    }
    *ret_n = n;
    return out;
}

static void add_flags(struct arena *a, struct verb_use *u, const struct flag *more, size_t n)
{
    u->flags = cli_join_flags(a, u->flags, u->flag_count, more, n);
    u->flag_count += n;
}

static void collect_flags(struct arena *a, struct verb_use *u)
{
    size_t n;
    const struct flag *scope = scope_flags(a, u->kind, &n);
    add_flags(a, u, scope, n);
    const struct field *fields = u->action ? u->action->fields : u->kind->fields;
    if (u->verb->needs == VERB_LIST)
        add_flags(a, u, list_flags, countof(list_flags));
    if (u->verb->needs == VERB_UPDATE)
        add_flags(a, u, update_flags, countof(update_flags));
    if (u->verb->needs == VERB_DELETE)
        add_flags(a, u, delete_flags, countof(delete_flags));
    if (u->action && u->action->danger)
        add_flags(a, u, delete_flags, 1);
    if (u->action && verb_makes_work(u->action))
        add_flags(a, u, task_flags, countof(task_flags));
    unsigned with = u->verb->needs == VERB_CREATE   ? FIELD_CREATE
                    : u->verb->needs == VERB_UPDATE ? FIELD_UPDATE
                                                    : 0;
    if (with || u->action) {
        const struct flag *taken = cli_join_flags(a, u->flags, u->flag_count, cli_flags, cli_flag_count);
        const struct flag *more =
            input_flags(a, fields, with, true, taken, u->flag_count + cli_flag_count, &n);
        add_flags(a, u, more, n);
    }
    add_flags(a, u, u->verb->flags, u->verb->flag_count);
    /* A letter of the verb's own stands for the one of all commands. */
    for (size_t i = 0; i < cli_flag_count; i++) {
        struct flag f = cli_flags[i];
        for (size_t k = 0; k < u->verb->flag_count; k++)
            f.letter = f.letter == u->verb->flags[k].letter ? 0 : f.letter;
        add_flags(a, u, &f, 1);
    }
}

/* "make a spec", "make an image" */
static const char *summarise(struct arena *a, const char *summary, const char *word)
{
    const char *text = arena_printf(a, summary, word), *article = strstr(summary, " a %s");
    if (!article || !strchr("aeio", word[0]))
        return text;
    int n = (int)(article - summary);
    return arena_printf(a, "%.*s an%s", n, text, text + n + 2);
}

static void describe(struct arena *a, struct verb_use *u)
{
    const char *word = scope_kind_word(a, u->kind);
    const char *name = u->action ? u->action->name : u->verb->name;
    const char *words = u->action && u->action->on_kind ? NULL : u->verb->words;
    u->usage = arena_printf(a, "ingot %s %s%s%s [flags]", word, name, words ? " " : "", words ? words : "");
    u->takes_object = words && u->verb->needs != VERB_CREATE && strncmp(words, "PATH", 4) != 0;
    if (u->verb->kind)
        u->summary = u->verb->summary;
    else if (u->action)
        u->summary = u->action->title.en ? u->action->title.en : u->action->name;
    else
        u->summary = u->verb->needs == VERB_LIST && u->kind->titles.en
                         ? arena_printf(a, "list %s", u->kind->titles.en)
                         : summarise(a, u->verb->summary, word);
    collect_flags(a, u);
}

static const struct action *action_of(const struct kind *k, struct str name)
{
    const struct action *act = k->actions;
    while (act && act->name && !str_is(name, act->name))
        act++;
    return act && act->name ? act : NULL;
}

bool verb_find(struct arena *a, const struct kind *k, struct str name, struct verb_use *ret)
{
    struct verb_use u = {.kind = k};
    for (const struct verb *v = verbs; v->name; v++)
        if (str_is(name, v->name) && (k->verbs & v->needs))
            u.verb = v;
    for (const struct verb *v = own_verbs; v->name; v++)
        if (str_is(name, v->name) && strcmp(v->kind, k->name) == 0)
            u.verb = v;
    if (!u.verb || u.verb->takes)
        u.action = action_of(u.verb ? kind_by_name(str_of(u.verb->takes)) : k, name);
    if (!u.verb && !u.action)
        return false;
    u.verb = u.verb ? u.verb : &action_verb;
    describe(a, &u);
    *ret = u;
    return true;
}

static bool is_own(const struct kind *k, const char *name)
{
    for (const struct verb *v = own_verbs; v->name; v++)
        if (strcmp(v->name, name) == 0 && strcmp(v->kind, k->name) == 0)
            return true;
    return false;
}

const char **verb_names(struct arena *a, const struct kind *k)
{
    size_t actions = 0, n = 0;
    while (k->actions && k->actions[actions].name)
        actions++;
    const char **out = arena_array(a, const char *, countof(verbs) + countof(own_verbs) + actions + 1);
    for (const struct verb *v = verbs; v->name; v++)
        if (k->verbs & v->needs)
            out[n++] = v->name;
    for (const struct verb *v = own_verbs; v->name; v++)
        if (strcmp(v->kind, k->name) == 0 && !v->needs)
            out[n++] = v->name;
    for (size_t i = 0; i < actions; i++)
        if (!is_own(k, k->actions[i].name))
            out[n++] = k->actions[i].name;
    return out;
}

bool verb_run(struct cli *cli, const struct verb_use *use, const struct args *args, struct err *err)
{
    size_t min = use->takes_object ? 1 : 0;
    size_t max = use->verb->needs == VERB_DELETE ? SIZE_MAX : min || use->verb->needs == VERB_CREATE ? 1 : 0;
    if (use->verb->kind) {
        min = use->verb->min_words;
        max = use->verb->max_words;
    }
    return args_count(args, min, max, use->usage, err) &&
           use->verb->run(cli, use->kind, use->action, args, err);
}
