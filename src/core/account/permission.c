#include "core/account/permission.h"

#include "base/json.h"
#include "base/log.h"

#include <pthread.h>
#include <stdio.h>

static struct {
    struct permission items[PERMISSION_MAX];
    size_t n;
    struct permission_set all, projects;
} table;
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static const struct {
    unsigned verbs;
    const char *name;
    struct words title;
} verbs[] = {
    {VERB_LIST | VERB_READ, "read", {"View", "查看"}},
    {VERB_CREATE, "create", {"Create", "创建"}},
    {VERB_UPDATE, "update", {"Change", "修改"}},
    {VERB_DELETE, "delete", {"Delete", "删除"}},
};
static const struct words delete_any = {"Delete what others made", "删除他人创建的"};

/* What belongs to no kind. */
static const struct {
    const char *name;
    struct words title;
} platform[] = {
    {"platform.backup", {"Platform: back up everything", "平台：备份全部数据"}},
    {"platform.controllers", {"Platform: run controllers at once", "平台：立即运行控制器"}},
    {"platform.log", {"Platform: read its log", "平台：查看平台日志"}},
    {"platform.metrics", {"Platform: see its figures and controllers", "平台：查看运行指标与控制器"}},
    {"platform.restore", {"Platform: replace everything by a backup", "平台：用备份恢复全部数据"}},
};

static bool kind_in_project(const struct kind *k)
{
    while (k && k->scope == SCOPE_CHILD)
        k = kind_by_name(str_of(k->parent));
    return k && (k->scope == SCOPE_PROJECT || strcmp(k->name, "project") == 0);
}

static char *text(const char *fmt, const char *a, const char *b)
{
    char *out = NULL;
    if (asprintf(&out, fmt, a, b) < 0)
        abort();
    return out;
}

/* name is kept. */
static void add(const struct kind *k, const char *name, struct words title)
{
    for (size_t i = 0; i < table.n; i++)
        if (strcmp(table.items[i].name, name) == 0)
            return;
    if (table.n == PERMISSION_MAX) {
        log_error("more than %d permissions: raise PERMISSION_WORDS", PERMISSION_MAX);
        abort();
    }
    const char *dot = strchr(name, '.');
    table.items[table.n++] = (struct permission){
        .name = name,
        .verb = dot ? dot + 1 : name,
        .kind = k,
        .title = {text("%s: %s", k->title.en, title.en), text("%s：%s", k->title.zh, title.zh)},
        .in_project = kind_in_project(k) && strcmp(name, "project.create") != 0,
    };
}

static void add_kind(const struct kind *k)
{
    for (size_t i = 0; i < countof(verbs) && !k->permission_as; i++)
        if (k->verbs & verbs[i].verbs)
            add(k, text("%s.%s", k->name, verbs[i].name), verbs[i].title);
    if (k->delete_own)
        add(k, text("%s.%s", k->name, KIND_DELETE_ANY), delete_any);
    for (const struct kind_permission *p = k->permissions; p && p->name; p++)
        add(k, p->name, p->title);
}

/* After all kinds' own: an action may ask for another kind's permission, whose title then is that one's. */
static void add_actions(const struct kind *k)
{
    for (const struct action *act = k->actions; act && act->name; act++)
        if (act->permission)
            add(k, act->permission, act->title);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct permission *)a)->name, ((const struct permission *)b)->name);
}

static void build(void)
{
    for (size_t i = 0; i < kind_count; i++)
        add_kind(kinds[i]);
    for (size_t i = 0; i < kind_count; i++)
        add_actions(kinds[i]);
    for (size_t i = 0; i < countof(platform); i++)
        table.items[table.n++] = (struct permission){
            .name = platform[i].name, .verb = strchr(platform[i].name, '.') + 1, .title = platform[i].title};
    qsort(table.items, table.n, sizeof table.items[0], by_name);
    for (size_t i = 0; i < table.n; i++) {
        permission_add(&table.all, (ptrdiff_t)i);
        if (table.items[i].in_project)
            permission_add(&table.projects, (ptrdiff_t)i);
    }
}

static void ready(void)
{
    pthread_once(&table_once, build);
}

size_t permission_count(void)
{
    ready();
    return table.n;
}

const struct permission *permission_at(size_t i)
{
    ready();
    return &table.items[i];
}

ptrdiff_t permission_find(const char *name)
{
    ready();
    struct permission key = {.name = name};
    const struct permission *p = bsearch(&key, table.items, table.n, sizeof key, by_name);
    return p ? p - table.items : -1;
}

bool permission_has(const struct permission_set *set, ptrdiff_t index)
{
    return index >= 0 && (set->word[index / 64] >> (index % 64) & 1);
}

void permission_add(struct permission_set *set, ptrdiff_t index)
{
    set->word[index / 64] |= UINT64_C(1) << (index % 64);
}

void permission_unite(struct permission_set *set, const struct permission_set *other)
{
    for (size_t i = 0; i < PERMISSION_WORDS; i++)
        set->word[i] |= other->word[i];
}

void permission_narrow(struct permission_set *set, const struct permission_set *other)
{
    for (size_t i = 0; i < PERMISSION_WORDS; i++)
        set->word[i] &= other->word[i];
}

bool permission_contains(const struct permission_set *set, const struct permission_set *part)
{
    for (size_t i = 0; i < PERMISSION_WORDS; i++)
        if (part->word[i] & ~set->word[i])
            return false;
    return true;
}

struct permission_set permission_all(void)
{
    ready();
    return table.all;
}

struct permission_set permission_of_projects(void)
{
    ready();
    return table.projects;
}

bool permission_match(struct str pattern, struct permission_set *set)
{
    ready();
    struct str verb;
    struct str kind = str_cut(pattern, '.', &verb);
    bool all = str_is(pattern, "*");
    bool any_kind = all || str_is(kind, "*");
    bool any_verb = all || str_is(verb, "*");
    bool found = false;
    for (size_t i = 0; i < table.n; i++) {
        struct str has_verb;
        struct str has_kind = str_cut(str_of(table.items[i].name), '.', &has_verb);
        if ((any_kind || str_eq(kind, has_kind)) && (any_verb || str_eq(verb, has_verb))) {
            permission_add(set, (ptrdiff_t)i);
            found = true;
        }
    }
    return found;
}

bool permission_parse(struct arena *a, struct str json, struct permission_set *set)
{
    struct err ignored;
    yyjson_val *list = json.n > 0 ? json_parse(a, json, &ignored) : NULL;
    if (!yyjson_is_arr(list))
        return json.n == 0;
    size_t i, n;
    yyjson_val *item;
    yyjson_arr_foreach(list, i, n, item) if (yyjson_is_str(item)) permission_match(json_str(item), set);
    return true;
}

bool permission_check(struct arena *a, const struct field *f, const struct db_value *value, struct err *err)
{
    if (value->type == DB_NULL)
        return true;
    yyjson_val *list = json_parse(a, value->s, err);
    if (!list)
        return false;
    size_t i, n;
    yyjson_val *item;
    yyjson_arr_foreach(list, i, n, item)
    {
        struct permission_set set = {{0}};
        struct str pattern = json_str(item);
        if (!permission_match(pattern, &set))
            return err_set(err, ERR_INVALID, f->name,
                           "%s: \"" STR_FMT
                           "\" is no permission; see GET /api/v1/permissions, and \"kind.*\", "
                           "\"*.verb\" and \"*\"",
                           f->name, (int)(pattern.n > 80 ? 80 : pattern.n), pattern.p);
    }
    return true;
}
