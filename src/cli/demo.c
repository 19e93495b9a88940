#include "cli/demo.h"

#include "cli/interrupt.h"
#include "cli/prompt.h"
#include "cli/remote.h"
#include "cli/waiting.h"

#include <stdio.h>

const struct flag demo_flags[DEMO_FLAGS] = {
    {"quiet", 0, FLAG_SWITCH, NULL, "no progress", NULL},
};
const struct flag demo_remove_flags[DEMO_REMOVE_FLAGS] = {
    {"name", 0, FLAG_VALUE, "NAME", "the name of the demo's project, instead of typing it when asked", NULL},
    {"quiet", 0, FLAG_SWITCH, NULL, "no progress", NULL},
};

static bool call(struct cli *cli, const char *method, const char *path, struct str body, yyjson_val **ret,
                 struct err *err)
{
    return remote_json(cli, &(struct remote_call){.method = method, .path = path, .body = body}, ret, err);
}

static bool read_row(struct cli *cli, yyjson_val **ret, struct err *err)
{
    yyjson_val *v;
    if (!call(cli, "GET", "/demos?limit=1", STR_NULL, &v, err))
        return false;
    *ret = yyjson_arr_get_first(yyjson_obj_get(v, "items"));
    return *ret || err_set(err, ERR_NOT_FOUND, NULL, "%s has no demo", cli->config.url);
}

static struct str text_of(yyjson_val *v, const char *name)
{
    return json_str(yyjson_obj_get(v, name));
}

/* "demo: ready, project demo" */
static void print_row(const struct cli *cli, yyjson_val *row)
{
    yyjson_val *project = yyjson_obj_get(row, "project");
    struct str reason = text_of(row, "reason"), step = text_of(row, "step");
    if (cli->output == OUTPUT_JSON) {
        auto_free char *text = yyjson_val_write(row, 0, NULL);
        puts(text);
        return;
    }
    printf(STR_FMT, STR_ARG(text_of(row, "state")));
    if (yyjson_is_obj(project))
        printf(", project " STR_FMT, STR_ARG(text_of(project, "name")));
    if (step.n && !reason.n)
        printf(", step " STR_FMT, STR_ARG(step));
    puts("");
    if (reason.n)
        printf("failed: " STR_FMT "\n", STR_ARG(reason));
}

bool demo_status(struct cli *cli, unused_ok const struct kind *k, unused_ok const struct action *act,
                 unused_ok const struct args *args, struct err *err)
{
    yyjson_val *row;
    if (!read_row(cli, &row, err))
        return false;
    print_row(cli, row);
    return true;
}

static bool begin_and_wait(struct cli *cli, const char *path, struct str body, const char *what, bool quiet,
                           struct err *err)
{
    yyjson_val *task;
    interrupt_watch();
    bool ok = call(cli, "POST", path, body, &task, err) &&
              waiting_task(cli, yyjson_get_sint(yyjson_obj_get(task, "id")), what, quiet, &task, err);
    if (!ok && interrupt_wanted()) {
        fprintf(stderr, "%s\n", err->message);
        interrupt_end();
    }
    return ok;
}

/* What its people sign in with, in this output only. */
static bool print_people(struct cli *cli, struct err *err)
{
    yyjson_val *v, *one;
    size_t i, n;
    if (!call(cli, "POST", "/demos/passwords", STR("{}"), &v, err))
        return false;
    if (cli->output != OUTPUT_TABLE)
        return true;
    puts("Its people sign in with these passwords, which are shown this one time (`ingot demo passwords` "
         "sets new "
         "ones):");
    yyjson_arr_foreach(yyjson_obj_get(v, "items"), i, n, one)
    {
        printf("  %-12.*s %-10.*s " STR_FMT "\n", STR_ARG(text_of(one, "name")),
               STR_ARG(text_of(one, "role")), STR_ARG(text_of(one, "password")));
    }
    return true;
}

bool demo_load(struct cli *cli, unused_ok const struct kind *k, unused_ok const struct action *act,
               const struct args *args, struct err *err)
{
    yyjson_val *row;
    bool quiet = args_has(args, "quiet");
    if (!read_row(cli, &row, err))
        return false;
    if (!quiet)
        fprintf(stderr, "Fetching %.0f MB of packages, about %.1f minutes\n",
                yyjson_get_num(yyjson_obj_get(row, "bytes")) / 1e6,
                yyjson_get_num(yyjson_obj_get(row, "minutes")));
    if (!begin_and_wait(cli, "/demos/load", STR("{}"), "Loading", quiet, err) || !read_row(cli, &row, err))
        return false;
    print_row(cli, row);
    return print_people(cli, err);
}

bool demo_remove(struct cli *cli, unused_ok const struct kind *k, unused_ok const struct action *act,
                 const struct args *args, struct err *err)
{
    yyjson_val *row;
    const char *name = args_value(args, "name");
    if (!read_row(cli, &row, err))
        return false;
    if (!name && !prompt_possible())
        return err_set(err, ERR_MALFORMED, NULL,
                       "--name: is needed where nobody can be asked: the project's name");
    if (!name &&
        !prompt_text(&cli->arena,
                     "The demo's project goes with all that is in it, whoever made it, and its people.\n"
                     "Type the project's name: ",
                     &name, err))
        return false;
    auto_buf struct buf body = {0};
    struct json_out o;
    json_begin(&o, &body);
    json_object(&o);
    json_kz(&o, "name", name);
    json_object_end(&o);
    if (!begin_and_wait(cli, "/demos/remove", buf_view(&body), "Removing", args_has(args, "quiet"), err) ||
        !read_row(cli, &row, err))
        return false;
    print_row(cli, row);
    return true;
}
