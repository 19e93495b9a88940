#include "cli/fetch_part.h"

#include "base/fs.h"
#include "base/proc.h"
#include "cli/builtin.h"
#include "cli/interrupt.h"
#include "cli/remote.h"
#include "cli/sending.h"
#include "cli/waiting.h"
#include "core/environment/tool.h"

#define OUTPUT_MAX (64 << 10)

static const struct sort {
    const char *plural, *what, *bring;
} sorts[] = {{"tools", "tool", "fetch"}, {"runtimes", "runtime", "build"}};

static void take_row(struct arena *a, const struct sort *s, yyjson_val *row, struct fetch_part *ret)
{
    yyjson_val *disk = yyjson_obj_get(row, "installed_bytes");
    *ret = (struct fetch_part){
        .name = arena_strz(a, json_str(yyjson_obj_get(row, "name"))),
        .what = s->what,
        .state = arena_strz(a, json_str(yyjson_obj_get(row, "state"))),
        .title = json_str(yyjson_obj_get(row, "title")),
        .bytes = yyjson_get_sint(yyjson_obj_get(row, "bytes")),
        .installed_bytes = yyjson_get_sint(disk ? disk : yyjson_obj_get(row, "image_bytes")),
        .minutes = yyjson_get_num(yyjson_obj_get(row, "minutes")),
        .path = arena_printf(a, "/%s/%lld", s->plural, (long long)yyjson_get_sint(yyjson_obj_get(row, "id"))),
        .action = s->bring};
}

bool fetch_parts(struct cli *cli, struct fetch_part **ret, size_t *ret_n, struct err *err)
{
    struct arena *a = &cli->arena;
    *ret = NULL;
    *ret_n = 0;
    for (size_t s = 0; s < countof(sorts) && cli->config.url; s++) {
        yyjson_val *v, *row, *items;
        size_t i, n;
        const char *path = arena_printf(a, "/%s?limit=100&sort=name", sorts[s].plural);
        if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, &v, err))
            return false;
        items = yyjson_obj_get(v, "items");
        struct fetch_part *all = arena_array(a, struct fetch_part, *ret_n + yyjson_arr_size(items) + 1);
        if (*ret_n)
            memcpy(all, *ret, *ret_n * sizeof *all);
        *ret = all;
        yyjson_arr_foreach(items, i, n, row) take_row(a, &sorts[s], row, &all[(*ret_n)++]);
    }
    return true;
}

bool fetch_part_bring(struct cli *cli, const struct fetch_part *p, struct err *err)
{
    yyjson_val *task;
    if (strcmp(p->state, "ready") != 0)
        fprintf(stderr, "%s: fetching %.1f MB, about %.0f minutes\n", p->name, (double)p->bytes / 1e6,
                p->minutes < 1 ? 1 : p->minutes);
    const char *path = arena_printf(&cli->arena, "%s/%s", p->path, p->action);
    if (!remote_json(cli, &(struct remote_call){.method = "POST", .path = path, .body = STR("{}")}, &task,
                     err) ||
        !waiting_task(cli, yyjson_get_sint(yyjson_obj_get(task, "id")), p->name, false, &task, err))
        return false;
    if (cli->output == OUTPUT_NAME)
        puts(p->name);
    else
        printf("%s: %s\n", p->name, strcmp(p->state, "ready") == 0 ? "was there already" : "installed");
    return true;
}

/* --- archives --- */

bool fetch_part_is_tool(const char *name)
{
    return tool_find(str_of(name)) != NULL;
}

const char *const *fetch_part_tools(struct cli *cli)
{
    size_t n = 0;
    while (tools[n].name)
        n++;
    const char **names = arena_array(&cli->arena, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        names[i] = tools[i].name;
    return names;
}

/* The last line of what a script said. */
static struct str last_line(struct str out)
{
    out = str_trim(out);
    for (const char *line; out.n && (line = memchr(out.p, '\n', out.n));)
        out = (struct str){line + 1, out.n - (size_t)(line + 1 - out.p)};
    return out;
}

bool fetch_part_archive(struct cli *cli, const char *file, const struct args *args, struct err *err)
{
    int status;
    struct str out;
    const char *script = proc_beside(&cli->arena, "../share/ingot/tools.sh", "../../scripts/tools.sh");
    const char **argv = arena_array(&cli->arena, const char *, args->word_count + 5);
    if (!script)
        return err_set(err, ERR_NOT_FOUND, NULL,
                       "tools.sh is not beside this program: install it with `make install`");
    argv[0] = "/bin/sh";
    argv[1] = script;
    argv[2] = "--archive";
    argv[3] = file;
    memcpy(argv + 4, args->words, args->word_count * sizeof *args->words);
    if (!proc_run(&cli->arena, (char *const *)argv, OUTPUT_MAX, &status, &out, err))
        return false;
    if (status != 0)
        return err_set(err, ERR_INTERNAL, NULL, "tools.sh ended with %d: " STR_FMT, status,
                       STR_ARG(last_line(out)));
    fprintf(stderr, "%s: install it with `ingot fetch --from`\n", file);
    return true;
}

bool fetch_part_is_archive(const char *file)
{
    unsigned char magic[2] = {0};
    auto_fd int fd = open(file, O_RDONLY | O_CLOEXEC);
    return fd >= 0 && read(fd, magic, sizeof magic) == sizeof magic && magic[0] == 0x1f && magic[1] == 0x8b;
}

static bool send(struct cli *cli, struct bundle *b, int64_t project, const char **ret, struct err *err)
{
    struct progress p;
    progress_begin(&p, "Uploading", true, false);
    bool ok = sending_run(cli, b, project, &p, ret, err);
    progress_end(&p);
    return ok;
}

bool fetch_part_import(struct cli *cli, const char *file, struct err *err)
{
    struct bundle b;
    const char *upload;
    int64_t project;
    yyjson_val *task;
    if (!bundle_open(&cli->arena, file, &b, err))
        return false;
    bool ok = builtin_project(cli, &project, err) && send(cli, &b, project, &upload, err);
    if (ok) {
        struct str body = str_of(arena_printf(&cli->arena, "{\"upload\":\"%s\"}", upload));
        ok = remote_json(cli, &(struct remote_call){.method = "POST", .path = "/tools/import", .body = body},
                         &task, err) &&
             waiting_task(cli, yyjson_get_sint(yyjson_obj_get(task, "id")), "Installing", false, &task, err);
        sending_forget(cli, &b, project);
    }
    bundle_close(&b);
    if (ok)
        printf("%s: installed\n", file);
    return ok;
}
