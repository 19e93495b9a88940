#include "cli/builtin.h"

#include "base/hash.h"
#include "cli/bundle.h"
#include "cli/folder.h"
#include "cli/remote.h"
#include "cli/scope.h"
#include "core/kinds.h"
#include "net/url.h"

#define LIST 200 /* objects of one request */

static bool call(struct cli *cli, const char *method, const char *path, struct str body, yyjson_val **ret,
                 struct err *err)
{
    return remote_json(cli, &(struct remote_call){.method = method, .path = path, .body = body}, ret, err);
}

/* The first object of a list; NULL when there is none. */
static bool first_of(struct cli *cli, const char *path, const char *filter, yyjson_val **ret, struct err *err)
{
    yyjson_val *v;
    const char *query = arena_printf(&cli->arena, "%s%cfilter=%s", path, strchr(path, '?') ? '&' : '?',
                                     url_encode(&cli->arena, str_of(filter)));
    if (!call(cli, "GET", query, STR_NULL, &v, err))
        return false;
    *ret = yyjson_arr_get_first(yyjson_obj_get(v, "items"));
    return true;
}

static int64_t id_of(yyjson_val *v)
{
    return yyjson_get_sint(yyjson_obj_get(v, "id"));
}

static bool find_project(struct cli *cli, int64_t *ret, struct err *err)
{
    yyjson_val *v;
    if (!first_of(cli, "/projects?limit=1", "name = \"" BUILTIN_PROJECT "\"", &v, err))
        return false;
    *ret = id_of(v);
    return true;
}

/* Who is not of the project sees its public sets all the same. */
static bool find_set(struct cli *cli, const char *name, int64_t *ret_project, int64_t *ret, struct err *err)
{
    struct arena *a = &cli->arena;
    yyjson_val *v, *set, *found = NULL;
    size_t i, n;
    if (!find_project(cli, ret_project, err))
        return false;
    const char *filter = arena_printf(a, "name = %s", scope_quote(a, str_of(name)));
    const char *path = arena_printf(a, "/model-sets?limit=%d&filter=%s", LIST, url_encode(a, str_of(filter)));
    if (!call(cli, "GET", path, STR_NULL, &v, err))
        return false;
    yyjson_arr_foreach(yyjson_obj_get(v, "items"), i, n, set)
    {
        yyjson_val *project = yyjson_obj_get(set, "project");
        if (str_is(json_str(yyjson_obj_get(project, "name")), BUILTIN_PROJECT))
            found = set;
    }
    *ret = id_of(found);
    return true;
}

static bool newest(struct cli *cli, int64_t set, yyjson_val **ret, struct err *err)
{
    const char *path =
        arena_printf(&cli->arena, "/model-sets/%lld/versions?limit=1&sort=-number", (long long)set);
    *ret = NULL;
    return !set || first_of(cli, path, "published = true", ret, err);
}

bool builtin_version(struct cli *cli, const char *name, const char **ret, struct err *err)
{
    int64_t project, set;
    yyjson_val *v;
    if (!find_set(cli, name, &project, &set, err) || !newest(cli, set, &v, err))
        return false;
    *ret = v ? arena_strz(&cli->arena, json_str(yyjson_obj_get(v, "name"))) : NULL;
    return true;
}

bool builtin_may(struct cli *cli, struct err *err)
{
    yyjson_val *v;
    int64_t project;
    if (!call(cli, "GET", "/session", STR_NULL, &v, err) || !find_project(cli, &project, err))
        return false;
    return yyjson_get_bool(yyjson_obj_get(yyjson_obj_get(v, "user"), "administrator")) || project ||
           err_set(err, ERR_FORBIDDEN, NULL,
                   "only an administrator can make the project \"" BUILTIN_PROJECT "\"");
}

/* --- making what is missing --- */

static bool make_project(struct cli *cli, int64_t *ret, struct err *err)
{
    yyjson_val *v;
    if (*ret)
        return true;
    if (!call(
            cli, "POST", "/projects",
            STR("{\"name\":\"" BUILTIN_PROJECT "\",\"description\":\"Models that come with the platform.\"}"),
            &v, err))
        return false;
    *ret = id_of(v);
    return true;
}

bool builtin_project(struct cli *cli, int64_t *ret, struct err *err)
{
    return find_project(cli, ret, err) && make_project(cli, ret, err);
}

static bool make_set(struct cli *cli, const struct builtin *b, int64_t project, int64_t *ret, struct err *err)
{
    auto_buf struct buf body = {0};
    struct json_out o;
    yyjson_val *v;
    if (*ret)
        return true;
    json_begin(&o, &body);
    json_object(&o);
    json_kz(&o, "name", b->name);
    json_kint(&o, "project", project);
    json_kstr(&o, "scenario", b->scenario);
    json_kstr(&o, "description", b->title);
    json_kbool(&o, "public", true);
    json_object_end(&o);
    if (!call(cli, "POST", "/model-sets", buf_view(&body), &v, err))
        return false;
    *ret = id_of(v);
    return true;
}

static bool delete_drafts(struct cli *cli, int64_t set, struct err *err)
{
    struct arena *a = &cli->arena;
    yyjson_val *v, *one, *gone;
    size_t i, n;
    const char *path = arena_printf(a, "/model-sets/%lld/versions?limit=%d&filter=%s", (long long)set, LIST,
                                    url_encode(a, STR("published = false")));
    if (!call(cli, "GET", path, STR_NULL, &v, err))
        return false;
    yyjson_arr_foreach(yyjson_obj_get(v, "items"), i, n, one)
    {
        path = arena_printf(a, "/model-sets/%lld/versions/%lld", (long long)set, (long long)id_of(one));
        if (!call(cli, "DELETE", path, STR_NULL, &gone, err))
            return false;
    }
    return true;
}

/* --- the same files? --- */

static bool hash_file(struct arena *a, const char *path, int64_t *ret_size, char hex[SHA256_HEX + 1],
                      struct err *err)
{
    struct bundle file;
    uint8_t digest[SHA256_SIZE], piece[1 << 16];
    if (!bundle_open(a, path, &file, err))
        return false;
    struct sha256 *h = sha256_new();
    bool ok = true;
    for (int64_t at = 0; ok && at < file.size; at += (int64_t)sizeof piece) {
        size_t n = file.size - at < (int64_t)sizeof piece ? (size_t)(file.size - at) : sizeof piece;
        ok = bundle_read(&file, at, piece, n, err);
        sha256_add(h, piece, n);
    }
    sha256_finish(h, digest);
    hex_encode(digest, sizeof digest, hex);
    *ret_size = file.size;
    bundle_close(&file);
    return ok;
}

static bool is_same(struct cli *cli, const struct bundle *all, int64_t set, yyjson_val *version, bool *ret,
                    struct err *err)
{
    struct arena *a = &cli->arena;
    yyjson_val *v, *item;
    size_t i, n, equal = 0;
    const char *path =
        arena_printf(a, "/model-sets/%lld/versions/%lld/files", (long long)set, (long long)id_of(version));
    if (!call(cli, "GET", path, STR_NULL, &v, err))
        return false;
    for (size_t k = 0; k < all->files; k++) {
        const char *name, *from = bundle_file(all, k, &name);
        char hex[SHA256_HEX + 1];
        int64_t size;
        if (!hash_file(a, from, &size, hex, err))
            return false;
        yyjson_arr_foreach(yyjson_obj_get(v, "items"), i, n, item)
        {
            equal += str_is(json_str(yyjson_obj_get(item, "name")), name) &&
                     str_is(json_str(yyjson_obj_get(item, "digest")), hex);
        }
    }
    *ret = equal == all->files && yyjson_get_sint(yyjson_obj_get(v, "files")) == (int64_t)all->files;
    return true;
}

bool builtin_install(struct cli *cli, struct builtin *b, struct err *err)
{
    int64_t project, set;
    yyjson_val *version;
    struct bundle all;
    b->was_there = false;
    if (!bundle_open(&cli->arena, b->folder, &all, err) || !find_set(cli, b->name, &project, &set, err) ||
        !make_project(cli, &project, err) || !make_set(cli, b, project, &set, err) ||
        !newest(cli, set, &version, err) ||
        (version && !is_same(cli, &all, set, version, &b->was_there, err)))
        return false;
    if (b->was_there) {
        b->version = arena_strz(&cli->arena, json_str(yyjson_obj_get(version, "name")));
        return true;
    }
    struct folder_target to = {
        .kind = kind_by_name(STR("model_set")), .set = set, .project = project, .name = b->name};
    return delete_drafts(cli, set, err) && folder_publish(cli, &to, &all, &b->version, err);
}
