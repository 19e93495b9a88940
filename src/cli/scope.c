#include "cli/scope.h"

#include "cli/remote.h"
#include "core/kinds.h"
#include "net/url.h"

char *scope_kind_word(struct arena *a, const struct kind *k)
{
    char *word = arena_strdup(a, k->name);
    for (char *p = word; *p; p++)
        *p = *p == '_' ? '-' : *p;
    return word;
}

static bool same_word(struct str word, const char *z)
{
    if (word.n != strlen(z))
        return false;
    for (size_t i = 0; i < word.n; i++) {
        char c = word.p[i] == '_' ? '-' : word.p[i];
        if (c != (z[i] == '_' ? '-' : z[i]))
            return false;
    }
    return true;
}

const struct kind *scope_kind(struct str word)
{
    for (size_t i = 0; i < kind_count; i++)
        if (same_word(word, kinds[i]->name))
            return kinds[i];
    for (size_t i = 0; i < kind_count; i++)
        if (kinds[i]->scope != SCOPE_CHILD && same_word(word, kinds[i]->plural))
            return kinds[i];
    return kind_by_collection(word);
}

static const struct kind *parent_of(const struct kind *k)
{
    return k->scope == SCOPE_CHILD ? kind_by_name(str_of(k->parent)) : NULL;
}

bool scope_has_project(const struct kind *k)
{
    for (; k; k = parent_of(k))
        if (k->scope == SCOPE_PROJECT || (k->parent && strcmp(k->parent, "project") == 0))
            return true;
    return false;
}

bool scope_project(struct cli *cli, int64_t *ret, struct err *err)
{
    const char *text = cli->project ? cli->project : cli->config.project;
    if (!text) {
        *ret = 0;
        return true;
    }
    const struct kind *project = kind_by_name(STR("project"));
    if (!project)
        return err_set(err, ERR_INTERNAL, NULL, "this program knows no projects");
    return scope_id(cli, project, NULL, text, ret, err);
}

static bool parent_id(struct cli *cli, const struct kind *parent, const struct args *args, int64_t *ret,
                      struct err *err)
{
    const char *flag = scope_kind_word(&cli->arena, parent);
    if (strcmp(parent->name, "project") == 0) {
        if (!scope_project(cli, ret, err))
            return false;
        if (*ret == 0)
            return err_set(err, ERR_MALFORMED, NULL,
                           "no project is chosen: give --project NAME, or run `ingot use NAME` once");
        return true;
    }
    const char *text = args ? args_value(args, flag) : NULL;
    if (!text)
        return err_set(err, ERR_MALFORMED, NULL, "--%s is missing: the %s by name or id", flag, flag);
    return scope_id(cli, parent, args, text, ret, err);
}

bool scope_path(struct cli *cli, const struct kind *k, const struct args *args, const char **ret,
                struct err *err)
{
    const struct kind *parent = parent_of(k);
    if (!parent) {
        *ret = arena_printf(&cli->arena, "/%s", k->plural);
        return true;
    }
    int64_t id;
    const char *above;
    if (!parent_id(cli, parent, args, &id, err) || !scope_path(cli, parent, args, &above, err))
        return false;
    *ret = arena_printf(&cli->arena, "%s/%lld/%s", above, (long long)id, k->plural);
    return true;
}

char *scope_quote(struct arena *a, struct str text)
{
    auto_buf struct buf b = {0};
    struct json_out o;
    json_begin(&o, &b);
    json_string(&o, text);
    return arena_strz(a, buf_view(&b));
}

struct str scope_name(const struct kind *k, yyjson_val *object)
{
    yyjson_val *v = yyjson_obj_get(object, k->fields[0].name);
    if (yyjson_is_obj(v))
        v = yyjson_obj_get(v, "name");
    return json_str(v);
}

/* The condition that finds it: on the first field, which is a text, or a reference to something with a name.
 */
static bool condition(struct cli *cli, const struct kind *k, const struct args *args, struct str name,
                      const char **ret, struct err *err)
{
    const struct field *f = &k->fields[0];
    if (f->type != FIELD_REF) {
        *ret = arena_printf(&cli->arena, "%s = %s", f->name, scope_quote(&cli->arena, name));
        return true;
    }
    const struct kind *target = kind_by_name(str_of(f->ref));
    int64_t id;
    if (!target || !scope_id(cli, target, args, arena_strz(&cli->arena, name), &id, err))
        return target ? false : err_set(err, ERR_INTERNAL, NULL, "this program knows no %s", f->ref);
    *ret = arena_printf(&cli->arena, "%s = %lld", f->name, (long long)id);
    return true;
}

/* The one object that the list at this path has with the filter; *ret is 0 when there is none. */
static bool only_one(struct cli *cli, const char *path, const char *filter, int64_t project, struct str name,
                     int64_t *ret, struct err *err)
{
    struct arena *a = &cli->arena;
    yyjson_val *answer;
    char *url = arena_printf(a, "%s?limit=2&filter=%s", path, url_encode(a, str_of(filter)));
    if (project)
        url = arena_printf(a, "%s&project=%lld", url, (long long)project);
    if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = url}, &answer, err))
        return false;
    yyjson_val *items = yyjson_obj_get(answer, "items");
    if (yyjson_arr_size(items) > 1)
        return err_set(err, ERR_CONFLICT, NULL, "\"" STR_FMT "\" is the name of several: give the id",
                       STR_ARG(name));
    *ret = yyjson_get_sint(yyjson_obj_get(yyjson_arr_get_first(items), "id"));
    return true;
}

/* others: of kinds that can be public, what other projects share counts where the own project has nothing. */
static bool by_name(struct cli *cli, const struct kind *k, const struct args *args, struct str name,
                    bool others, int64_t *ret, struct err *err)
{
    struct arena *a = &cli->arena;
    const char *path, *filter;
    int64_t project = 0;
    if (!scope_path(cli, k, args, &path, err) || !condition(cli, k, args, name, &filter, err))
        return false;
    if (k->scope == SCOPE_PROJECT && !scope_project(cli, &project, err))
        return false;
    if (k->scope == SCOPE_PROJECT && !project)
        return err_set(err, ERR_MALFORMED, NULL,
                       "\"" STR_FMT
                       "\" is looked up in a project: give --project NAME, run `ingot use NAME` once,"
                       " or name it by its id",
                       STR_ARG(name));
    if (!only_one(cli, path, filter, project, name, ret, err))
        return false;
    if (!*ret && others && k->public_too &&
        !only_one(cli, path, arena_printf(a, "%s and public = true", filter), 0, name, ret, err))
        return false;
    return *ret || err_set(err, ERR_NOT_FOUND, NULL, "there is no %s called \"" STR_FMT "\"",
                           scope_kind_word(a, k), STR_ARG(name));
}

/* --- versions, by their set --- */

bool scope_is_version_alone(struct cli *cli, const struct kind *k, const struct args *args)
{
    const struct kind *set = parent_of(k);
    return set && str_ends(str_of(k->name), "_version") &&
           !(args && args_value(args, scope_kind_word(&cli->arena, set)));
}

static bool by_set(struct cli *cli, const struct kind *k, struct str text, int64_t *ret, struct err *err)
{
    struct arena *a = &cli->arena;
    const struct kind *set_kind = parent_of(k);
    struct str version, name = str_cut(text, ':', &version);
    uint64_t number;
    int64_t set;
    yyjson_val *answer;
    if ((!str_to_i64(name, &set) || set < 1) && !by_name(cli, set_kind, NULL, name, true, &set, err))
        return false;
    const char *path = arena_printf(a, "/%s/%lld/%s?limit=1", set_kind->plural, (long long)set, k->plural);
    if (version.n && kind_field(k, STR("number"), NULL) && str_to_u64(version, &number))
        version = str_of(arena_printf(a, "v" STR_FMT, STR_ARG(version)));
    if (version.n) {
        const char *filter = arena_printf(a, "name = %s", scope_quote(a, version));
        path = arena_printf(a, "%s&filter=%s", path, url_encode(a, str_of(filter)));
    }
    if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, &answer, err))
        return false;
    yyjson_val *one = yyjson_arr_get_first(yyjson_obj_get(answer, "items"));
    *ret = yyjson_get_sint(yyjson_obj_get(one, "id"));
    return one ||
           err_set(err, ERR_NOT_FOUND, NULL, "\"" STR_FMT "\": there is no such version", STR_ARG(text));
}

bool scope_id(struct cli *cli, const struct kind *k, const struct args *args, const char *text, int64_t *ret,
              struct err *err)
{
    struct str s = str_of(text);
    if (str_to_i64(s, ret) && *ret > 0)
        return true;
    if (s.n > 1 && s.p[0] == '=')
        s = (struct str){s.p + 1, s.n - 1};
    if (!s.n)
        return err_set(err, ERR_MALFORMED, NULL, "an empty name stands where a %s is named",
                       scope_kind_word(&cli->arena, k));
    return scope_is_version_alone(cli, k, args) ? by_set(cli, k, s, ret, err)
                                                : by_name(cli, k, args, s, false, ret, err);
}
