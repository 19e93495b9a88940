#include "cli/train_auto.h"

#include "cli/prompt.h"
#include "cli/remote.h"
#include "cli/running.h"
#include "cli/scope.h"
#include "cli/table.h"
#include "cli/train_set.h"

#define CLASSES_SHOWN 20
#define SAVING_LOOKS  240 /* until the model is saved; it is a task, which goes on without anybody looking */

static yyjson_val *member(yyjson_val *v, const char *a, const char *b)
{
    return yyjson_obj_get(yyjson_obj_get(v, a), b);
}

/* --- what is asked for --- */

static void write_labels(struct json_out *o, const char *text)
{
    json_key(o, "leave_out");
    json_array(o);
    for (struct str rest = str_of(text); rest.n;)
        json_string(o, str_cut(rest, ',', &rest));
    json_array_end(o);
}

static bool write_merge(struct cli *cli, const struct args *args, struct json_out *o, struct err *err)
{
    json_key(o, "merge");
    json_object(o);
    for (size_t i = 0; i < args->given_count; i++) {
        struct str to, from;
        if (strcmp(args->given[i].flag->name, "merge") != 0)
            continue;
        from = str_cut(str_of(args->given[i].value), '=', &to);
        if (!to.n || !from.n)
            return err_set(err, ERR_MALFORMED, NULL, "--merge: \"%s\" is not LABEL=LABEL",
                           args->given[i].value);
        json_key(o, arena_strz(&cli->arena, from));
        json_string(o, to);
    }
    json_object_end(o);
    return true;
}

bool train_minutes(const struct args *args, double *ret, struct err *err)
{
    const char *minutes = args_value(args, "minutes");
    return str_to_real(str_of(minutes), ret) ||
           err_set(err, ERR_MALFORMED, NULL, "--minutes: \"%s\" is no number", minutes);
}

static bool write_body(struct cli *cli, const struct args *args, struct json_out *o, struct err *err)
{
    const char *labels = args_value(args, "leave-out");
    int64_t spec;
    double n;
    json_object(o);
    if (args_has(args, "minutes")) {
        if (!train_minutes(args, &n, err))
            return false;
        json_key(o, "minutes");
        json_real(o, n);
    }
    if (labels)
        write_labels(o, labels);
    if (args_has(args, "merge") && !write_merge(cli, args, o, err))
        return false;
    if (args_has(args, "spec")) {
        if (!scope_id(cli, kind_by_name(STR("spec")), NULL, args_value(args, "spec"), &spec, err))
            return false;
        json_kint(o, "spec", spec);
    }
    json_key(o, "parameters");
    json_object(o);
    bool ok = train_set_write(cli, args, NULL, o, err);
    json_object_end(o);
    json_object_end(o);
    return ok;
}

/* --- the plan --- */

static void print_classes(struct cli *cli, yyjson_val *classes)
{
    static const char *titles[] = {"class", "samples", "becomes"};
    struct table t;
    size_t i, n;
    yyjson_val *c;
    table_begin(&t, &cli->arena, titles, countof(titles), 0);
    yyjson_arr_foreach(classes, i, n, c)
    {
        struct str into = json_str(yyjson_obj_get(c, "into"));
        if (i == CLASSES_SHOWN)
            break;
        table_cell(&t, json_str(yyjson_obj_get(c, "label")));
        table_cell(&t, table_value(&cli->arena, yyjson_obj_get(c, "samples"), NULL));
        table_cell(&t, yyjson_is_true(yyjson_obj_get(c, "left_out")) ? STR("(left out)") : into);
    }
    table_print(&t, stderr, true, false);
    if (n > CLASSES_SHOWN)
        fprintf(stderr, "and %zu more\n", n - CLASSES_SHOWN);
}

/* ERR_CONFLICT with the first remark that is an error. */
static bool print_remarks(yyjson_val *remarks, struct err *err)
{
    size_t i, n;
    yyjson_val *r;
    bool ok = true;
    yyjson_arr_foreach(remarks, i, n, r)
    {
        struct str level = json_str(yyjson_obj_get(r, "level")), text = json_str(member(r, "text", "en"));
        if (ok && str_is(level, "error"))
            ok = err_set(err, ERR_CONFLICT, NULL, STR_FMT, STR_ARG(text));
        else
            fprintf(stderr, STR_FMT ": " STR_FMT "\n", STR_ARG(level), STR_ARG(text));
    }
    return ok;
}

static bool print_plan(struct cli *cli, yyjson_val *plan, struct err *err)
{
    struct str task = json_str(yyjson_obj_get(plan, "task"));
    fprintf(stderr,
            STR_FMT ": %lld of %lld samples; %lld to train on, %lld to choose by, %lld to test with; "
                    "%g minutes\n",
            STR_ARG(task), (long long)yyjson_get_sint(member(plan, "samples", "usable")),
            (long long)yyjson_get_sint(member(plan, "samples", "all")),
            (long long)yyjson_get_sint(member(plan, "split", "train")),
            (long long)yyjson_get_sint(member(plan, "split", "val")),
            (long long)yyjson_get_sint(member(plan, "split", "test")),
            yyjson_get_num(yyjson_obj_get(plan, "minutes")));
    print_classes(cli, yyjson_obj_get(plan, "classes"));
    return print_remarks(yyjson_obj_get(plan, "remarks"), err);
}

/* --- the model --- */

/* It is saved by a task that follows the end of the run. */
static bool print_model(struct cli *cli, const char *path, struct err *err)
{
    yyjson_val *run, *version = NULL;
    for (int i = 0; i < SAVING_LOOKS && !version; i++) {
        if (i)
            running_nap();
        if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, &run, err))
            return false;
        version = yyjson_obj_get(run, "model_version");
        if (yyjson_is_null(version))
            version = NULL;
    }
    if (!version) {
        fprintf(stderr, "the model is still being saved: `ingot task list` shows it\n");
        return true;
    }
    struct str set = json_str(member(version, "of", "name")),
               name = json_str(yyjson_obj_get(version, "name"));
    printf(STR_FMT ":" STR_FMT "\n", STR_ARG(set), STR_ARG(name));
    fprintf(stderr, "next: ingot deploy " STR_FMT ":" STR_FMT " --name " STR_FMT "\n", STR_ARG(set),
            STR_ARG(name), STR_ARG(set));
    return true;
}

/* "/datasets/3/versions/7" */
static bool version_path(struct cli *cli, const char *word, const char **ret, struct err *err)
{
    struct arena *a = &cli->arena;
    yyjson_val *v;
    int64_t id;
    if (!scope_id(cli, kind_by_name(STR("dataset_version")), NULL, word, &id, err))
        return false;
    const char *path = arena_printf(a, "/dataset-versions/%lld", (long long)id);
    if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, &v, err))
        return false;
    *ret = arena_printf(a, "/datasets/%lld/versions/%lld",
                        (long long)yyjson_get_sint(member(v, "dataset", "id")), (long long)id);
    return true;
}

bool train_auto(struct cli *cli, const struct args *args, const char *usage, struct err *err)
{
    struct arena *a = &cli->arena;
    auto_buf struct buf body = {0};
    struct json_out o;
    const char *path;
    yyjson_val *plan, *run;
    json_begin(&o, &body);
    if (!args_count(args, 2, 2, usage, err) || !version_path(cli, args->words[1], &path, err) ||
        !write_body(cli, args, &o, err))
        return false;
    struct remote_call call = {
        .method = "POST", .path = arena_printf(a, "%s/plan", path), .body = buf_view(&body)};
    if (!remote_json(cli, &call, &plan, err) || !print_plan(cli, plan, err))
        return false;
    if (!args_has(args, "yes") && prompt_possible() && !prompt_sure(a, "Start the training?"))
        return true;
    call.path = arena_printf(a, "%s/train", path);
    if (!remote_json(cli, &call, &run, err))
        return false;
    path = arena_printf(a, "/trainings/%lld/instances/%lld",
                        (long long)yyjson_get_sint(member(run, "training", "id")),
                        (long long)yyjson_get_sint(yyjson_obj_get(run, "id")));
    if (!running_follow_run(cli, args, run, err))
        return false;
    return cli->exit_code || args_has(args, "detach") || print_model(cli, path, err);
}
