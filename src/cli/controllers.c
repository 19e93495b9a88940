/* ingot controllers: what the platform does by itself; `run NAME` has one of them do it now. */
#include "cli/controllers.h"

#include "cli/remote.h"
#include "cli/table.h"
#include "cli/verb.h"
#include "net/url.h"

static const char *titles[] = {"name",    "state",    "runs",      "last_at", "took_us",
                               "next_at", "failures", "failed_at", "error"};

static void print_rows(struct cli *cli, yyjson_val *items)
{
    struct table t;
    size_t i, n;
    yyjson_val *row;
    table_begin(&t, &cli->arena, titles, countof(titles), 0);
    yyjson_arr_foreach(items, i, n, row)
    {
        for (size_t k = 0; k < countof(titles); k++)
            table_cell(&t, table_value(&cli->arena, yyjson_obj_get(row, titles[k]), NULL));
    }
    table_print(&t, stdout, true, cli->colour);
}

static bool run_one(struct cli *cli, const struct args *args, struct err *err)
{
    yyjson_val *none;
    if (!args_count(args, 2, 2, "ingot controllers run NAME", err))
        return false;
    if (strcmp(args->words[0], "run") != 0)
        return err_set(err, ERR_MALFORMED, NULL, "\"%s\": expected `ingot controllers run NAME`",
                       args->words[0]);
    return remote_json(
        cli,
        &(struct remote_call){.method = "POST",
                              .path = arena_printf(&cli->arena, "/controllers/%s/run",
                                                   url_encode(&cli->arena, str_of(args->words[1])))},
        &none, err);
}

bool controllers_run(struct cli *cli, const struct args *args, struct err *err)
{
    yyjson_val *v;
    if (args->word_count)
        return run_one(cli, args, err);
    if (!args_count(args, 0, 0, "ingot controllers", err) ||
        !remote_json(cli, &(struct remote_call){.method = "GET", .path = "/controllers"}, &v, err))
        return false;
    if (cli->output == OUTPUT_JSON)
        verb_show(cli, NULL, v);
    else
        print_rows(cli, yyjson_obj_get(v, "items"));
    return true;
}
