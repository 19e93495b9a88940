#include "cli/find.h"

#include "cli/remote.h"
#include "cli/scope.h"
#include "cli/table.h"
#include "cli/verb.h"
#include "core/find.h"
#include "net/url.h"

const struct flag find_flags[] = {
    {"project", 'p', FLAG_VALUE, "NAME", "where to look besides what belongs to no project", NULL},
    {"limit", 0, FLAG_VALUE, "N", "at most so many, the best first (20)", NULL},
};

static const char *titles[] = {"kind", "id", "name", "about", "updated_at"};

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

bool find_run(struct cli *cli, const struct args *args, struct err *err)
{
    auto_buf struct buf q = {0};
    yyjson_val *found;
    int64_t project, limit = FIND_USUAL;
    if (!args_count(args, 1, 64, "ingot find WORD...", err) ||
        !args_int(args, "limit", 1, FIND_MAX, &limit, err) || !scope_project(cli, &project, err))
        return false;
    for (size_t i = 0; i < args->word_count; i++)
        buf_printf(&q, "%s%s", i ? " " : "", args->words[i]);
    const char *where = project ? arena_printf(&cli->arena, "&project=%lld", (long long)project) : "";
    const char *path = arena_printf(&cli->arena, "/search?q=%s&limit=%lld%s",
                                    url_encode(&cli->arena, buf_view(&q)), (long long)limit, where);
    if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, &found, err))
        return false;
    if (cli->output == OUTPUT_JSON)
        verb_show(cli, NULL, found);
    else
        print_rows(cli, yyjson_obj_get(found, "items"));
    return true;
}
