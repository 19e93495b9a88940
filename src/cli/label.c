#include "cli/label.h"

#include "cli/remote.h"
#include "cli/scope.h"
#include "cli/table.h"
#include "cli/verb.h"
#include "net/url.h"

const struct flag label_flags[] = {
    {"review", 0, FLAG_SWITCH, NULL, "next: samples to review instead of samples to label", NULL},
    {"nothing", 0, FLAG_SWITCH, NULL, "submit: there is nothing to label on the sample", NULL},
    {"from", 0, FLAG_VALUE, "TIME", "progress: the first moment (today)", NULL},
    {"to", 0, FLAG_VALUE, "TIME", "progress: the end (a day after --from)", NULL},
    {"csv", 0, FLAG_SWITCH, NULL, "progress: as CSV", NULL},
    {"project", 'p', FLAG_VALUE, "NAME", "where the task is", NULL},
};

static bool find_task(struct cli *cli, const struct args *args, int64_t *ret, struct err *err)
{
    return scope_id(cli, kind_by_name(STR("label_task")), args, args->words[1], ret, err);
}

static const char *path_of(struct cli *cli, int64_t task, const char *action)
{
    return arena_printf(&cli->arena, "/label-tasks/%lld/%s", (long long)task, action);
}

static void print_table(struct cli *cli, const char **titles, size_t count, yyjson_val *items)
{
    struct table t;
    size_t i, n;
    yyjson_val *row;
    table_begin(&t, &cli->arena, titles, count, 0);
    yyjson_arr_foreach(items, i, n, row)
    {
        for (size_t k = 0; k < count; k++)
            table_cell(&t, table_value(&cli->arena, yyjson_obj_get(row, titles[k]), NULL));
    }
    table_print(&t, stdout, true, cli->colour);
}

/* --- next --- */

static void print_assignments(struct cli *cli, yyjson_val *items)
{
    static const char *titles[] = {"assignment", "sample", "name", "state", "until"};
    struct table t;
    size_t i, n;
    yyjson_val *row;
    table_begin(&t, &cli->arena, titles, countof(titles), 0);
    yyjson_arr_foreach(items, i, n, row)
    {
        yyjson_val *sample = yyjson_obj_get(row, "sample");
        table_cell(&t, table_value(&cli->arena, yyjson_obj_get(row, "id"), NULL));
        table_cell(&t, table_value(&cli->arena, yyjson_obj_get(sample, "id"), NULL));
        table_cell(&t, table_value(&cli->arena, yyjson_obj_get(sample, "name"), NULL));
        table_cell(&t, table_value(&cli->arena, yyjson_obj_get(sample, "state"), NULL));
        table_cell(&t, table_value(&cli->arena, yyjson_obj_get(row, "until"), NULL));
    }
    table_print(&t, stdout, true, cli->colour);
}

static bool run_next(struct cli *cli, const struct args *args, struct err *err)
{
    int64_t task;
    yyjson_val *v;
    struct str body = args_has(args, "review") ? STR("{\"stage\":\"review\"}") : STR("{\"stage\":\"label\"}");
    if (!args_count(args, 2, 2, "ingot label next TASK", err) || !find_task(cli, args, &task, err))
        return false;
    struct remote_call call = {.method = "POST", .path = path_of(cli, task, "next"), .body = body};
    if (!remote_json(cli, &call, &v, err))
        return false;
    if (cli->output == OUTPUT_JSON)
        verb_show(cli, NULL, v);
    else
        print_assignments(cli, yyjson_obj_get(v, "items"));
    return true;
}

/* --- submit --- */

static bool run_submit(struct cli *cli, const struct args *args, struct err *err)
{
    int64_t task, assignment;
    yyjson_val *v;
    if (!args_count(args, 3, 3, "ingot label submit TASK ASSIGNMENT", err) ||
        !find_task(cli, args, &task, err))
        return false;
    if (!str_to_i64(str_of(args->words[2]), &assignment))
        return err_set(err, ERR_MALFORMED, NULL, "an assignment is a number: see `ingot label next`");
    const char *body = arena_printf(&cli->arena, "{\"assignment\":%lld,\"nothing\":%s}",
                                    (long long)assignment, args_has(args, "nothing") ? "true" : "false");
    struct remote_call call = {.method = "POST", .path = path_of(cli, task, "submit"), .body = str_of(body)};
    if (!remote_json(cli, &call, &v, err))
        return false;
    if (cli->output == OUTPUT_JSON) {
        verb_show(cli, NULL, v);
        return true;
    }
    struct str state = json_str(yyjson_obj_get(yyjson_obj_get(v, "sample"), "state"));
    printf("submitted: the sample is " STR_FMT "\n", STR_ARG(state));
    return true;
}

/* --- progress --- */

static const char *with_span(struct cli *cli, const struct args *args, const char *path)
{
    const char *from = args_value(args, "from"), *to = args_value(args, "to"), *sep = "?";
    if (from) {
        path = arena_printf(&cli->arena, "%s?from=%s", path, url_encode(&cli->arena, str_of(from)));
        sep = "&";
    }
    return to ? arena_printf(&cli->arena, "%s%sto=%s", path, sep, url_encode(&cli->arena, str_of(to))) : path;
}

static void print_forecast(yyjson_val *f)
{
    struct str ends = json_str(yyjson_obj_get(f, "ends_at"));
    printf("%lld left", (long long)yyjson_get_sint(yyjson_obj_get(f, "left")));
    if (ends.n)
        printf(", done about " STR_FMT, STR_ARG(ends));
    puts(yyjson_get_bool(yyjson_obj_get(f, "late")) ? ": after the deadline" : "");
}

static bool run_progress(struct cli *cli, const struct args *args, struct err *err)
{
    static const char *titles[] = {"user",     "stage",    "submitted",      "skipped",
                                   "accepted", "rejected", "active_seconds", "per_hour"};
    int64_t task;
    yyjson_val *v;
    if (!args_count(args, 2, 2, "ingot label progress TASK", err) || !find_task(cli, args, &task, err))
        return false;
    if (args_has(args, "csv")) {
        struct client_answer answer;
        struct remote_call csv = {.method = "GET",
                                  .path = with_span(cli, args, path_of(cli, task, "progress.csv"))};
        if (!remote_do(cli, &csv, &answer, err))
            return false;
        fwrite(answer.body.p, 1, answer.body.n, stdout);
        return true;
    }
    struct remote_call call = {.method = "GET", .path = with_span(cli, args, path_of(cli, task, "progress"))};
    if (!remote_json(cli, &call, &v, err))
        return false;
    if (cli->output == OUTPUT_JSON) {
        verb_show(cli, NULL, v);
        return true;
    }
    print_table(cli, titles, countof(titles), yyjson_obj_get(v, "members"));
    print_forecast(yyjson_obj_get(v, "forecast"));
    return true;
}

static const struct {
    const char *word;
    bool (*run)(struct cli *cli, const struct args *args, struct err *err);
} verbs[] = {{"next", run_next}, {"submit", run_submit}, {"progress", run_progress}};

bool label_run(struct cli *cli, const struct args *args, struct err *err)
{
    for (size_t i = 0; args->word_count && i < countof(verbs); i++)
        if (strcmp(args->words[0], verbs[i].word) == 0)
            return verbs[i].run(cli, args, err);
    return err_set(err, ERR_MALFORMED, NULL, "ingot label next|submit|progress TASK ...");
}
