#include "cli/runtime.h"

#include "cli/builtin.h"
#include "cli/interrupt.h"
#include "cli/remote.h"
#include "cli/sending.h"
#include "cli/waiting.h"

#include <stdio.h>

const struct flag runtime_flags[RUNTIME_FLAGS] = {
    {"quiet", 0, FLAG_SWITCH, NULL, "no progress", NULL},
};

static bool start(struct cli *cli, const char *path, struct str body, int64_t *ret, struct err *err)
{
    yyjson_val *v;
    if (!remote_json(cli, &(struct remote_call){.method = "POST", .path = path, .body = body}, &v, err))
        return false;
    *ret = yyjson_get_sint(yyjson_obj_get(v, "id"));
    return *ret > 0 || err_set(err, ERR_UPSTREAM, NULL, "%s answered without a task", cli->config.url);
}

/* What Ctrl-C was pressed in ends first; then the program does as if it had not been caught. */
static bool finished(bool ok, const struct err *err)
{
    if (!ok && interrupt_wanted()) {
        fprintf(stderr, "%s\n", err->message);
        interrupt_end();
    }
    return ok;
}

static bool take_out(struct cli *cli, const char *path, const char *to, bool quiet, struct err *err)
{
    yyjson_val *task;
    int64_t id;
    return start(cli, arena_printf(&cli->arena, "%s/export", path), STR("{}"), &id, err) &&
           waiting_task(cli, id, "Exporting", quiet, &task, err) &&
           waiting_download(cli, arena_printf(&cli->arena, "/tasks/%lld/download", (long long)id), to, quiet,
                            err);
}

bool runtime_export(struct cli *cli, const struct kind *k, unused_ok const struct action *act,
                    const struct args *args, struct err *err)
{
    const char *path, *to = args->words[1];
    if (access(to, F_OK) == 0)
        return err_set(err, ERR_EXISTS, NULL, "%s exists", to);
    if (!verb_object_path(cli, k, args, args->words[0], &path, err))
        return false;
    interrupt_watch();
    return finished(take_out(cli, path, to, args_has(args, "quiet"), err), err);
}

static bool send(struct cli *cli, struct bundle *b, int64_t project, bool quiet, const char **ret,
                 struct err *err)
{
    struct progress p;
    progress_begin(&p, "Uploading", true, quiet);
    bool ok = sending_run(cli, b, project, &p, ret, err);
    progress_end(&p);
    return ok;
}

static bool bring_in(struct cli *cli, struct bundle *b, bool quiet, struct err *err)
{
    const char *upload;
    int64_t project, id;
    yyjson_val *task;
    if (!builtin_project(cli, &project, err) || !send(cli, b, project, quiet, &upload, err) ||
        !start(cli, "/runtimes/import", str_of(arena_printf(&cli->arena, "{\"upload\":\"%s\"}", upload)), &id,
               err))
        return false;
    sending_forget(cli, b, project);
    if (!waiting_task(cli, id, "Importing", quiet, &task, err))
        return false;
    struct str name = json_str(yyjson_obj_get(yyjson_obj_get(task, "result"), "name"));
    printf(BUILTIN_PROJECT "/" STR_FMT "\n", STR_ARG(name));
    return true;
}

bool runtime_import(struct cli *cli, unused_ok const struct kind *k, unused_ok const struct action *act,
                    const struct args *args, struct err *err)
{
    struct bundle b;
    if (!bundle_open(&cli->arena, args->words[0], &b, err))
        return false;
    interrupt_watch();
    bool ok = bring_in(cli, &b, args_has(args, "quiet"), err);
    bundle_close(&b);
    return finished(ok, err);
}

bool runtime_log(struct cli *cli, const struct kind *k, unused_ok const struct action *act,
                 const struct args *args, struct err *err)
{
    const char *path;
    if (!verb_object_path(cli, k, args, args->words[0], &path, err))
        return false;
    for (int64_t from = 0, next = -1; next != from;) {
        yyjson_val *v;
        from = next < 0 ? 0 : next;
        const char *page = arena_printf(&cli->arena, "%s/log?offset=%lld", path, (long long)from);
        if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = page}, &v, err))
            return false;
        struct str text = json_str(yyjson_obj_get(v, "text"));
        fwrite(text.p, 1, text.n, stdout);
        next = yyjson_get_sint(yyjson_obj_get(v, "next"));
    }
    return true;
}
