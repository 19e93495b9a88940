/* ingot controllers: what the platform does by itself. */
#include "cli/controllers.h"

#include "cli/remote.h"
#include "cli/table.h"
#include "cli/verb.h"

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

bool controllers_run(struct cli *cli, const struct args *args, struct err *err)
{
    yyjson_val *v;
    if (!args_count(args, 0, 0, "ingot controllers", err) ||
        !remote_json(cli, &(struct remote_call){.method = "GET", .path = "/controllers"}, &v, err))
        return false;
    if (cli->output == OUTPUT_JSON)
        verb_show(cli, NULL, v);
    else
        print_rows(cli, yyjson_obj_get(v, "items"));
    return true;
}
