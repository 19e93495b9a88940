#include "cli/dataset_version.h"

#include "cli/remote.h"
#include "cli/scope.h"
#include "codec/annotation.h"
#include "net/url.h"

static const struct kind *dataset_kind(void)
{
    return kind_by_name(STR("dataset"));
}

static bool get(struct cli *cli, const char *path, yyjson_val **ret, struct err *err)
{
    return remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, ret, err);
}

static void take_version(struct cli *cli, yyjson_val *v, struct dataset_version *ret)
{
    struct arena *a = &cli->arena;
    ret->id = yyjson_get_sint(yyjson_obj_get(v, "id"));
    ret->name = arena_strz(a, json_str(yyjson_obj_get(v, "name")));
    ret->path = arena_printf(a, "/datasets/%lld/versions/%lld", (long long)ret->dataset, (long long)ret->id);
}

static bool load_dataset(struct cli *cli, int64_t id, struct dataset_version *ret, struct err *err)
{
    yyjson_val *v;
    if (!get(cli, arena_printf(&cli->arena, "/datasets/%lld", (long long)id), &v, err))
        return false;
    ret->dataset = id;
    ret->dataset_name = arena_strz(&cli->arena, json_str(yyjson_obj_get(v, "name")));
    ret->project = yyjson_get_sint(yyjson_obj_get(yyjson_obj_get(v, "project"), "id"));
    return true;
}

/* The first version of a list; *ret NULL when it is empty. */
static bool first_of(struct cli *cli, int64_t dataset, const char *filter, yyjson_val **ret, struct err *err)
{
    struct arena *a = &cli->arena;
    yyjson_val *answer;
    const char *path = arena_printf(a, "/datasets/%lld/versions?limit=1&sort=-number%s%s", (long long)dataset,
                                    filter ? "&filter=" : "", filter ? url_encode(a, str_of(filter)) : "");
    if (!get(cli, path, &answer, err))
        return false;
    *ret = yyjson_arr_get_first(yyjson_obj_get(answer, "items"));
    return true;
}

/* version: "v3" or "3"; NULL: the newest. */
static bool load_version(struct cli *cli, const char *version, struct dataset_version *ret, struct err *err)
{
    yyjson_val *v;
    const char *filter = NULL;
    int64_t number;
    if (version && str_to_i64(str_of(version + (*version == 'v')), &number) && number > 0)
        filter = arena_printf(&cli->arena, "number = %lld", (long long)number);
    else if (version)
        return err_set(err, ERR_MALFORMED, NULL, "\"%s\" is no version: write v3, or 3", version);
    if (!first_of(cli, ret->dataset, filter, &v, err))
        return false;
    if (!v)
        return err_set(err, ERR_NOT_FOUND, NULL, "dataset %s has no version%s%s", ret->dataset_name,
                       version ? " " : "", version ? version : "");
    take_version(cli, v, ret);
    return true;
}

/* Parts "cats:v3"; a colon is in no dataset's name. */
static const char *name_of(struct arena *a, const char *text, const char **ret_version)
{
    const char *colon = strrchr(text, ':');
    *ret_version = colon && colon[1] ? colon + 1 : NULL;
    return colon ? arena_printf(a, "%.*s", (int)(colon - text), text) : text;
}

bool dataset_version_find(struct cli *cli, const struct args *args, const char *text,
                          const struct dataset_version *like, struct dataset_version *ret, struct err *err)
{
    struct dataset_version v = {0};
    const char *version, *name = name_of(&cli->arena, text, &version);
    int64_t id = like ? like->dataset : 0;
    if ((*name || !like) && !scope_id(cli, dataset_kind(), args, name, &id, err))
        return false;
    if (!load_dataset(cli, id, &v, err) || !load_version(cli, version, &v, err))
        return false;
    *ret = v;
    return true;
}

/* --- to be filled --- */

static bool make_dataset(struct cli *cli, const char *name, const char *type, int64_t *ret, struct err *err)
{
    enum annotation_type t;
    int64_t project;
    yyjson_val *v;
    auto_buf struct buf body = {0};
    struct json_out o;
    if (!annotation_type_asked("--type", str_of(type), &t, err))
        return false;
    if (!scope_project(cli, &project, err))
        return false;
    json_begin(&o, &body);
    json_object(&o);
    json_kz(&o, "name", name);
    json_kint(&o, "project", project);
    json_kz(&o, "annotation_type", type);
    json_kz(&o, "data_type", annotation_data_names[annotation_types[t].data]);
    json_object_end(&o);
    struct remote_call call = {.method = "POST", .path = "/datasets", .body = buf_view(&body)};
    if (!remote_json(cli, &call, &v, err))
        return false;
    *ret = yyjson_get_sint(yyjson_obj_get(v, "id"));
    return true;
}

static bool find_or_make(struct cli *cli, const struct args *args, const char *name, int64_t *ret,
                         struct err *err)
{
    const char *type = args_value(args, "type");
    if (scope_id(cli, dataset_kind(), args, name, ret, err))
        return true;
    if (err->code != ERR_NOT_FOUND)
        return false;
    if (!type)
        return err_set(err, ERR_NOT_FOUND, NULL,
                       "there is no dataset called \"%s\"; --type detection (or another type) makes it",
                       name);
    *err = (struct err){0};
    return make_dataset(cli, name, type, ret, err);
}

static bool make_version(struct cli *cli, struct dataset_version *ret, struct err *err)
{
    yyjson_val *v;
    struct remote_call call = {
        .method = "POST",
        .path = arena_printf(&cli->arena, "/datasets/%lld/versions", (long long)ret->dataset),
        .body = STR("{}")};
    if (!remote_json(cli, &call, &v, err))
        return false;
    take_version(cli, v, ret);
    return true;
}

static bool named_to_fill(struct cli *cli, const struct args *args, const char *text,
                          struct dataset_version *ret, struct err *err)
{
    struct dataset_version v = {0};
    const char *version, *name = name_of(&cli->arena, text, &version);
    const char *flag = args_value(args, "version");
    int64_t id;
    yyjson_val *draft;
    if (flag && version)
        return err_set(err, ERR_MALFORMED, NULL, "the version is named twice: \"%s\" and --version", text);
    version = flag ? flag : version;
    if (!find_or_make(cli, args, name, &id, err) || !load_dataset(cli, id, &v, err))
        return false;
    bool ok;
    if (version && strcmp(version, "new") != 0) {
        ok = load_version(cli, version, &v, err);
    } else if (version) {
        ok = make_version(cli, &v, err);
    } else {
        ok = first_of(cli, id, "state = \"draft\"", &draft, err);
        if (ok && draft)
            take_version(cli, draft, &v);
        else if (ok)
            ok = make_version(cli, &v, err);
    }
    if (ok)
        *ret = v;
    return ok;
}

static bool by_id(struct cli *cli, int64_t id, struct dataset_version *ret, struct err *err)
{
    yyjson_val *v;
    struct dataset_version found = {0};
    const char *path = arena_printf(&cli->arena, "/dataset-versions/%lld", (long long)id);
    if (!get(cli, path, &v, err) ||
        !load_dataset(cli, yyjson_get_sint(yyjson_obj_get(yyjson_obj_get(v, "dataset"), "id")), &found, err))
        return false;
    take_version(cli, v, &found);
    *ret = found;
    return true;
}

bool dataset_version_to_fill(struct cli *cli, const struct kind *k, const struct args *args, const char *text,
                             struct dataset_version *ret, struct err *err)
{
    bool of_version = strcmp(k->name, "dataset_version") == 0;
    const char *dataset = of_version ? args_value(args, "dataset") : NULL;
    int64_t id;
    if (dataset)
        text = arena_printf(&cli->arena, "%s:%s", dataset, text);
    else if (of_version && str_to_i64(str_of(text), &id) && id > 0)
        return by_id(cli, id, ret, err);
    return named_to_fill(cli, args, text, ret, err);
}
