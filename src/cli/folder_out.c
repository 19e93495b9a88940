/* ingot algorithm-set|model-set download: a version's files into a folder. */
#include "cli/folder.h"
#include "cli/interrupt.h"
#include "cli/remote.h"
#include "cli/scope.h"
#include "cli/waiting.h"
#include "net/url.h"

#include <errno.h>
#include <sys/stat.h>

#define TOLD (10 << 20) /* bytes of a file whose progress is worth showing */

const struct flag folder_download_flags[FOLDER_DOWNLOAD_FLAGS] = {
    {"to", 'o', FLAG_VALUE, "FOLDER", "where to; otherwise a folder of the set's name", NULL},
    {"force", 0, FLAG_SWITCH, NULL, "overwrite files that exist", NULL},
    {"quiet", 0, FLAG_SWITCH, NULL, "no progress", NULL},
};

struct taking {
    struct cli *cli;
    const char *path; /* "/algorithm-sets/7/versions/12" */
    bool force, quiet;
    int64_t files;
};

static bool get(struct cli *cli, const char *path, yyjson_val **ret, struct err *err)
{
    return remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, ret, err);
}

/* "net:v2", "net:2", or "net": the newest. */
static bool find(struct taking *t, const struct kind *k, const struct args *args, const char **ret_name,
                 struct err *err)
{
    struct arena *a = &t->cli->arena;
    struct str version, name = str_cut(str_of(args->words[0]), ':', &version);
    int64_t set, number = 0;
    yyjson_val *answer;
    if (version.n && version.p[0] == 'v')
        version = (struct str){version.p + 1, version.n - 1};
    if (version.p && !(str_to_i64(version, &number) && number > 0))
        return err_set(err, ERR_MALFORMED, NULL, "\"%s\": a version is written v3 or 3", args->words[0]);
    *ret_name = arena_strz(a, name);
    if (!scope_id(t->cli, k, args, *ret_name, &set, err))
        return false;
    const char *versions = arena_printf(a, "/%s/%lld/versions", k->plural, (long long)set);
    const char *path = arena_printf(a, "%s?limit=1&sort=-number", versions);
    if (number)
        path = arena_printf(a, "%s&filter=number%%20%%3D%%20%lld", path, (long long)number);
    if (!get(t->cli, path, &answer, err))
        return false;
    yyjson_val *one = yyjson_arr_get_first(yyjson_obj_get(answer, "items"));
    t->path = arena_printf(a, "%s/%lld", versions, (long long)yyjson_get_sint(yyjson_obj_get(one, "id")));
    return one || err_set(err, ERR_NOT_FOUND, NULL, "\"%s\": there is no such version", args->words[0]);
}

/* Names come from the server: none may lead out of the folder. */
static bool is_plain(struct str name)
{
    return name.n && !str_is(name, ".") && !str_is(name, "..") && !memchr(name.p, '/', name.n);
}

static bool take_file(struct taking *t, yyjson_val *item, const char *inside, const char *to, struct err *err)
{
    struct arena *a = &t->cli->arena;
    if (!t->force && access(to, F_OK) == 0)
        return err_set(err, ERR_EXISTS, NULL, "%s exists: --force overwrites it", to);
    const char *path = arena_printf(a, "%s/content?path=%s", t->path, url_encode(a, str_of(inside)));
    bool small = yyjson_get_sint(yyjson_obj_get(item, "size")) < TOLD;
    if (!waiting_download(t->cli, path, to, t->quiet || small, err))
        return false;
    if (yyjson_get_bool(yyjson_obj_get(item, "executable")) && chmod(to, 0755) != 0)
        return err_errno(err, errno, "%s", to);
    t->files++;
    return true;
}

static bool take_folder(struct taking *t, const char *inside, const char *to, struct err *err)
{
    struct arena *a = &t->cli->arena;
    yyjson_val *answer, *item;
    size_t i, max;
    if (mkdir(to, 0777) != 0 && errno != EEXIST)
        return err_errno(err, errno, "%s", to);
    if (!get(t->cli, arena_printf(a, "%s/files?path=%s", t->path, url_encode(a, str_of(inside))), &answer,
             err))
        return false;
    yyjson_val *items = yyjson_obj_get(answer, "items");
    yyjson_arr_foreach(items, i, max, item)
    {
        struct str name = json_str(yyjson_obj_get(item, "name"));
        if (!is_plain(name))
            return err_set(err, ERR_UPSTREAM, NULL, "the server names a file \"" STR_FMT "\"", STR_ARG(name));
        const char *below = arena_printf(a, "%s%s" STR_FMT, inside, *inside ? "/" : "", STR_ARG(name));
        const char *there = arena_printf(a, "%s/" STR_FMT, to, STR_ARG(name));
        if (!(yyjson_get_bool(yyjson_obj_get(item, "folder")) ? take_folder(t, below, there, err)
                                                              : take_file(t, item, below, there, err)))
            return false;
    }
    return true;
}

bool folder_download(struct cli *cli, const struct kind *k, unused_ok const struct action *act,
                     const struct args *args, struct err *err)
{
    struct taking t = {.cli = cli, .force = args_has(args, "force"), .quiet = args_has(args, "quiet")};
    const char *name, *to = args_value(args, "to");
    if (!find(&t, k, args, &name, err))
        return false;
    if (!to)
        to = name[0] == '.' || strchr(name, '/') ? arena_printf(&cli->arena, "_%s", name) : name;
    interrupt_watch();
    if (!take_folder(&t, "", to, err)) {
        if (!interrupt_wanted())
            return false;
        fprintf(stderr, "%s\n", err->message);
        interrupt_end();
    }
    printf("%s: %lld files\n", to, (long long)t.files);
    return true;
}
