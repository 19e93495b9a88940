/* ingot evaluate MODEL:VERSION DATASET:VERSION: an evaluation on the platform, waited for. */
#include "cli/evaluate.h"
#include "cli/progress.h"
#include "cli/remote.h"
#include "cli/running.h"
#include "cli/scope.h"
#include "cli/verb.h"
#include "core/kind.h"

#include <stdio.h>

static bool body_of(struct cli *cli, const struct args *args, int64_t project, int64_t model, int64_t data,
                    struct str *ret, struct err *err)
{
    auto_buf struct buf b = {0};
    struct json_out o;
    const char *score = args_value(args, "score");
    int64_t draws = -1;
    double least = 0;
    if (score && !str_to_real(str_of(score), &least))
        return err_set(err, ERR_MALFORMED, "score", "--score %s: must be a number of 0 to 1", score);
    if (!args_int(args, "draws", 0, 2000, &draws, err))
        return false;
    json_begin(&o, &b);
    json_object(&o);
    json_kint(&o, "project", project);
    json_kint(&o, "model_version", model);
    json_kint(&o, "dataset_version", data);
    if (args_value(args, "name"))
        json_kz(&o, "name", args_value(args, "name"));
    if (args_value(args, "part"))
        json_kz(&o, "part", args_value(args, "part"));
    if (draws >= 0)
        json_kint(&o, "draws", draws);
    if (score) {
        json_key(&o, "score");
        json_real(&o, least);
    }
    json_object_end(&o);
    *ret = arena_str(&cli->arena, buf_view(&b));
    return true;
}

/* The project of the model where none was chosen. */
static bool find_project(struct cli *cli, int64_t model, int64_t *ret, struct err *err)
{
    yyjson_val *found;
    if (!scope_project(cli, ret, err) || *ret)
        return err->code == 0;
    if (!remote_json(
            cli,
            &(struct remote_call){
                .method = "GET", .path = arena_printf(&cli->arena, "/model-versions/%lld", (long long)model)},
            &found, err))
        return false;
    *ret = yyjson_get_sint(yyjson_obj_get(yyjson_obj_get(found, "project"), "id"));
    return true;
}

/* Until it is over; what it waits for is told once. */
static bool wait_end(struct cli *cli, int64_t id, struct err *err)
{
    struct progress p;
    char told[512] = "";
    bool ok, over;
    progress_begin(&p, "Evaluating", false, false);
    do {
        struct arena kept = cli->arena;
        yyjson_val *now;
        arena_init(&cli->arena);
        struct remote_call look = {.method = "GET",
                                   .path = arena_printf(&cli->arena, "/evaluations/%lld", (long long)id)};
        ok = remote_json(cli, &look, &now, err);
        struct str state = ok ? json_str(yyjson_obj_get(now, "state")) : STR_NULL,
                   reason = ok ? json_str(yyjson_obj_get(now, "reason")) : STR_NULL;
        over = !ok || str_is(state, "completed") || str_is(state, "failed") || str_is(state, "stopped");
        if (ok && over && !str_is(state, "completed"))
            ok = err_set(err, ERR_CONFLICT, NULL, "the evaluation %lld " STR_FMT ": " STR_FMT, (long long)id,
                         STR_ARG(state), STR_ARG(reason));
        else if (ok && yyjson_get_sint(yyjson_obj_get(now, "total")))
            progress_show(&p, yyjson_get_sint(yyjson_obj_get(now, "done")),
                          yyjson_get_sint(yyjson_obj_get(now, "total")));
        else if (reason.n && !over && !str_is(reason, told)) {
            snprintf(told, sizeof told, STR_FMT, STR_ARG(reason));
            fprintf(stderr, "%s\n", told);
        }
        cli->problem = over ? cli->problem : NULL;
        arena_release(&cli->arena);
        cli->arena = kept;
        if (!over)
            running_nap();
    } while (!over);
    progress_end(&p);
    return ok;
}

static void print_words(yyjson_val *report)
{
    size_t i, max;
    yyjson_val *w;
    printf("\n");
    yyjson_arr_foreach(yyjson_obj_get(report, "words"), i, max, w)
    {
        struct str text = json_str(yyjson_obj_get(w, "en"));
        printf(STR_FMT "\n", STR_ARG(text));
    }
}

bool evaluate_remote(struct cli *cli, const struct args *args, struct err *err)
{
    int64_t model, data, project, id;
    struct str body;
    yyjson_val *made, *report;
    if (!scope_id(cli, kind_by_name(STR("model_version")), NULL, args->words[0], &model, err) ||
        !scope_id(cli, kind_by_name(STR("dataset_version")), NULL, args->words[1], &data, err) ||
        !find_project(cli, model, &project, err) || !body_of(cli, args, project, model, data, &body, err) ||
        !remote_json(cli, &(struct remote_call){.method = "POST", .path = "/evaluations", .body = body},
                     &made, err))
        return false;
    id = yyjson_get_sint(yyjson_obj_get(made, "id"));
    fprintf(stderr, "evaluation %lld\n", (long long)id);
    if (!wait_end(cli, id, err) ||
        !remote_json(cli,
                     &(struct remote_call){
                         .method = "GET",
                         .path = arena_printf(&cli->arena, "/evaluations/%lld/report", (long long)id)},
                     &report, err))
        return false;
    if (cli->output == OUTPUT_JSON) {
        verb_show(cli, NULL, report);
        return true;
    }
    evaluate_print(cli, report);
    print_words(report);
    return true;
}
