#include "cli/folder.h"

#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/remote.h"
#include "cli/scope.h"
#include "cli/sending.h"
#include "net/url.h"

#include <sys/stat.h>

#define BATCH 500 /* files per change: well below the limit of a request's body */

const struct flag folder_upload_flags[FOLDER_UPLOAD_FLAGS] = {
    {"version", 0, FLAG_VALUE, "VERSION",
     "into this version (v3), or `new`; otherwise the newest unpublished", NULL},
    {"publish", 0, FLAG_SWITCH, NULL, "publish the version afterwards: it never changes again", NULL},
    {"quiet", 0, FLAG_SWITCH, NULL, "no progress", NULL},
};

struct folder {
    struct cli *cli;
    const struct kind *kind;
    const struct args *args;
    int64_t project;
    const char *name; /* of the set */
    const char *set;  /* "/algorithm-sets/7" */
    const char *path; /* "/algorithm-sets/7/versions/12" */
    struct str version;
};

/* --- which one --- */

static bool call(struct folder *f, const char *method, const char *path, struct str body, yyjson_val **ret,
                 struct err *err)
{
    return remote_json(f->cli, &(struct remote_call){.method = method, .path = path, .body = body}, ret, err);
}

static bool make_set(struct folder *f, const char *name, int64_t *ret, struct err *err)
{
    yyjson_val *v;
    int64_t project;
    auto_buf struct buf body = {0};
    struct json_out o;
    if (!scope_project(f->cli, &project, err))
        return false;
    json_begin(&o, &body);
    json_object(&o);
    json_kz(&o, "name", name);
    json_kint(&o, "project", project);
    json_object_end(&o);
    const char *path = arena_printf(&f->cli->arena, "/%s", f->kind->plural);
    if (!call(f, "POST", path, buf_view(&body), &v, err))
        return false;
    *ret = yyjson_get_sint(yyjson_obj_get(v, "id"));
    return true;
}

static bool find_set(struct folder *f, const char *name, struct err *err)
{
    struct arena *a = &f->cli->arena;
    int64_t id;
    yyjson_val *v;
    if (!scope_id(f->cli, f->kind, f->args, name, &id, err)) {
        if (err->code != ERR_NOT_FOUND)
            return false;
        *err = (struct err){0};
        if (!make_set(f, name, &id, err))
            return false;
    }
    f->set = arena_printf(a, "/%s/%lld", f->kind->plural, (long long)id);
    if (!call(f, "GET", f->set, STR_NULL, &v, err))
        return false;
    f->name = arena_strz(a, json_str(yyjson_obj_get(v, "name")));
    f->project = yyjson_get_sint(yyjson_obj_get(yyjson_obj_get(v, "project"), "id"));
    return true;
}

static bool find_version(struct folder *f, const char *version, struct err *err)
{
    struct arena *a = &f->cli->arena;
    yyjson_val *v = NULL;
    int64_t number = 0;
    bool fresh = version && strcmp(version, "new") == 0;
    if (version && !fresh && !(str_to_i64(str_of(version + (*version == 'v')), &number) && number > 0))
        return err_set(err, ERR_MALFORMED, NULL, "\"%s\" is no version: write v3, or 3, or new", version);
    const char *filter = number ? arena_printf(a, "number = %lld", (long long)number) : "published = false";
    const char *path =
        arena_printf(a, "%s/versions?limit=1&sort=-number&filter=%s", f->set, url_encode(a, str_of(filter)));
    if (!fresh && !call(f, "GET", path, STR_NULL, &v, err))
        return false;
    v = yyjson_arr_get_first(yyjson_obj_get(v, "items"));
    if (!v && number)
        return err_set(err, ERR_NOT_FOUND, NULL, "%s has no version %s", f->name, version);
    if (yyjson_get_bool(yyjson_obj_get(v, "published")))
        return err_set(err, ERR_CONFLICT, NULL, "%s:%s is published and never changes again: --version new",
                       f->name, version);
    if (!v && !call(f, "POST", arena_printf(a, "%s/versions", f->set), STR("{}"), &v, err))
        return false;
    f->path =
        arena_printf(a, "%s/versions/%lld", f->set, (long long)yyjson_get_sint(yyjson_obj_get(v, "id")));
    f->version = json_str(yyjson_obj_get(v, "name"));
    return true;
}

static bool find(struct folder *f, const char *text, struct err *err)
{
    const char *colon = strrchr(text, ':'), *flag = args_value(f->args, "version");
    const char *version = colon && colon[1] ? colon + 1 : NULL;
    if (flag && version)
        return err_set(err, ERR_MALFORMED, NULL, "the version is named twice: \"%s\" and --version", text);
    const char *name = colon ? arena_printf(&f->cli->arena, "%.*s", (int)(colon - text), text) : text;
    return find_set(f, name, err) && find_version(f, flag ? flag : version, err);
}

/* --- sending --- */

struct sent {
    struct bundle bundle;
    const char *name, *upload;
    bool executable;
};

static bool change(struct folder *f, struct sent *list, size_t n, struct err *err)
{
    auto_buf struct buf body = {0};
    struct json_out o;
    yyjson_val *v;
    json_begin(&o, &body);
    json_object(&o);
    json_key(&o, "add");
    json_array(&o);
    for (size_t i = 0; i < n; i++) {
        json_object(&o);
        json_kz(&o, "path", list[i].name);
        json_kz(&o, "upload", list[i].upload);
        json_kbool(&o, "executable", list[i].executable);
        json_object_end(&o);
    }
    json_array_end(&o);
    json_object_end(&o);
    if (!call(f, "POST", arena_printf(&f->cli->arena, "%s/change", f->path), buf_view(&body), &v, err))
        return false;
    for (size_t i = 0; i < n; i++)
        sending_forget(f->cli, &list[i].bundle, f->project);
    return true;
}

static bool send_one(struct folder *f, struct bundle *all, size_t i, struct sent *ret, struct err *err)
{
    struct progress none;
    struct stat st;
    const char *path = bundle_file(all, i, &ret->name);
    progress_begin(&none, "", true, true);
    if (!bundle_open(&f->cli->arena, path, &ret->bundle, err))
        return false;
    ret->executable = stat(path, &st) == 0 && (st.st_mode & S_IXUSR);
    bool ok = sending_run(f->cli, &ret->bundle, f->project, &none, &ret->upload, err);
    bundle_close(&ret->bundle);
    return ok;
}

static bool send_all(struct folder *f, struct bundle *all, struct progress *p, struct err *err)
{
    struct sent *list = arena_array(&f->cli->arena, struct sent, BATCH);
    for (size_t i = 0, n = 0; i < all->files; i++) {
        progress_show(p, (int64_t)i, (int64_t)all->files);
        if (!send_one(f, all, i, &list[n++], err))
            return false;
        if ((n == BATCH || i + 1 == all->files) && !change(f, list, n, err))
            return false;
        n = n == BATCH ? 0 : n;
    }
    progress_show(p, (int64_t)all->files, (int64_t)all->files);
    return true;
}

static bool finish(struct folder *f, struct err *err)
{
    yyjson_val *v;
    const char *publish = arena_printf(&f->cli->arena, "%s/publish", f->path);
    if (args_has(f->args, "publish") ? !call(f, "POST", publish, STR("{}"), &v, err)
                                     : !call(f, "GET", f->path, STR_NULL, &v, err))
        return false;
    if (f->cli->output == OUTPUT_JSON) {
        size_t n;
        auto_free char *text = yyjson_val_write(v, YYJSON_WRITE_PRETTY_TWO_SPACES, &n);
        puts(text ? text : "");
    } else if (f->cli->output == OUTPUT_NAME) {
        printf("%s:" STR_FMT "\n", f->name, STR_ARG(f->version));
    } else {
        printf("%s:" STR_FMT ": %lld files%s\n", f->name, STR_ARG(f->version),
               (long long)yyjson_get_sint(yyjson_obj_get(v, "files")),
               yyjson_get_bool(yyjson_obj_get(v, "published")) ? ", published" : "");
    }
    return true;
}

bool folder_upload(struct cli *cli, const struct kind *k, unused_ok const struct action *act,
                   const struct args *args, struct err *err)
{
    struct folder f = {.cli = cli, .kind = k, .args = args};
    struct bundle all;
    struct progress p;
    const char *path, *name;
    bundle_words(args->words, &path, &name);
    if (!bundle_open(&cli->arena, path, &all, err) || !find(&f, name, err))
        return false;
    if (all.left_out)
        fprintf(stderr, "%zu links and special files are left out\n", all.left_out);
    interrupt_watch();
    progress_begin(&p, "Uploading", false, args_has(args, "quiet"));
    bool ok = send_all(&f, &all, &p, err);
    progress_end(&p);
    if (!ok && interrupt_wanted()) {
        fprintf(stderr, "%s\n", err->message);
        interrupt_end();
    }
    return ok && finish(&f, err);
}

bool folder_publish(struct cli *cli, const struct folder_target *to, struct bundle *files, const char **ret,
                    struct err *err)
{
    struct folder f = {.cli = cli, .kind = to->kind, .project = to->project, .name = to->name};
    struct progress p;
    yyjson_val *v;
    f.set = arena_printf(&cli->arena, "/%s/%lld", to->kind->plural, (long long)to->set);
    if (!find_version(&f, "new", err))
        return false;
    progress_begin(&p, "Uploading", false, false);
    bool ok = send_all(&f, files, &p, err);
    progress_end(&p);
    if (!ok || !call(&f, "POST", arena_printf(&cli->arena, "%s/publish", f.path), STR("{}"), &v, err))
        return false;
    *ret = arena_strz(&cli->arena, f.version);
    return true;
}
