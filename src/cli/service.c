#include "cli/service.h"

#include "cli/remote.h"
#include "cli/running.h"
#include "cli/scope.h"
#include "cli/verb.h"
#include "cli/waiting.h"
#include "net/url.h"

const struct flag service_deploy_flags[] = {
    {"name", 'n', FLAG_VALUE, "NAME", "of the service; one that exists gets another version (the model's)",
     NULL},
    {"canary", 0, FLAG_SWITCH, NULL, "gets a share of the requests beside production", NULL},
    {"replicas", 'r', FLAG_VALUE, "N", "how many answer (1)", NULL},
    {"spec", 's', FLAG_VALUE, "SPEC", "processors and memory of each (the smallest that fits)", NULL},
    {"command", 0, FLAG_VALUE, "TEXT", "instead of a model: what listens on $PORT", NULL},
    {"port", 0, FLAG_VALUE, "N", "of the command (8000)", NULL},
    {"detach", 0, FLAG_SWITCH, NULL, "do not wait until it serves", NULL},
    {"project", 'p', FLAG_VALUE, "NAME", "where the service is", NULL},
};

/* --- deploy --- */

/* "fruit" of "fruit:v3". */
static const char *model_name(struct cli *cli, const char *model)
{
    struct str rest;
    return arena_strz(&cli->arena, str_cut(str_of(model), ':', &rest));
}

static bool write_deployment(struct cli *cli, const struct args *args, struct json_out *o, struct err *err)
{
    const char *model = args->word_count ? args->words[0] : NULL, *name = args_value(args, "name"),
               *spec = args_value(args, "spec");
    int64_t id, project, replicas = 1, port = 8000;
    if (!scope_project(cli, &project, err))
        return false;
    if (!project)
        return err_set(err, ERR_MALFORMED, NULL,
                       "no project is chosen: give --project NAME, or run `ingot use NAME` once");
    if (!name && !model)
        return err_set(err, ERR_MALFORMED, NULL, "a command needs --name");
    json_kint(o, "project", project);
    json_kz(o, "name", name ? name : model_name(cli, model));
    json_kz(o, "role", args_has(args, "canary") ? "canary" : "production");
    if (!args_int(args, "replicas", 0, 64, &replicas, err) || !args_int(args, "port", 1, 65535, &port, err))
        return false;
    json_kint(o, "replicas", replicas);
    if (model) {
        if (!scope_id(cli, kind_by_name(STR("model_version")), NULL, model, &id, err))
            return false;
        json_kint(o, "model_version", id);
    } else {
        json_kz(o, "command", args_value(args, "command"));
        json_kint(o, "port", port);
    }
    if (spec) {
        if (!scope_id(cli, kind_by_name(STR("spec")), NULL, spec, &id, err))
            return false;
        json_kint(o, "spec", id);
    }
    return true;
}

static bool wait_until_it_serves(struct cli *cli, int64_t service, int64_t version, struct err *err)
{
    static const struct waiting_states states = {
        .good = "serving", .will_do = "stopped", .bad = "failed", .sentence = ""};
    const char *path =
        arena_printf(&cli->arena, "/services/%lld/versions/%lld", (long long)service, (long long)version);
    return waiting_state(cli, path, &states, err);
}

static void tell_deployment(struct cli *cli, yyjson_val *made)
{
    yyjson_val *service = yyjson_obj_get(made, "service"), *version = yyjson_obj_get(made, "version");
    struct str name = json_str(yyjson_obj_get(service, "name")),
               address = json_str(yyjson_obj_get(service, "address")),
               secret = json_str(yyjson_obj_get(yyjson_obj_get(made, "key"), "secret"));
    if (cli->output == OUTPUT_JSON) {
        auto_buf struct buf text = {0};
        struct json_out o;
        json_begin(&o, &text);
        json_value(&o, made);
        printf(STR_FMT "\n", STR_ARG(buf_view(&text)));
        return;
    }
    printf(STR_FMT " " STR_FMT " (" STR_FMT ") at " STR_FMT "\n", STR_ARG(name),
           STR_ARG(json_str(yyjson_obj_get(version, "name"))),
           STR_ARG(json_str(yyjson_obj_get(version, "role"))), STR_ARG(address));
    if (secret.n)
        printf("key, shown only now: " STR_FMT "\n", STR_ARG(secret));
    fflush(stdout);
}

bool service_deploy_run(struct cli *cli, const struct args *args, struct err *err)
{
    static const char usage[] = "ingot deploy MODEL[:VERSION] [--name NAME] | --command TEXT --name NAME";
    auto_buf struct buf body = {0};
    struct json_out o;
    yyjson_val *made;
    bool command = args_has(args, "command");
    if (!args_count(args, command ? 0 : 1, command ? 0 : 1, usage, err))
        return false;
    json_begin(&o, &body);
    json_object(&o);
    if (!write_deployment(cli, args, &o, err))
        return false;
    json_object_end(&o);
    if (!remote_json(
            cli, &(struct remote_call){.method = "POST", .path = "/services/deploy", .body = buf_view(&body)},
            &made, err))
        return false;
    tell_deployment(cli, made);
    return args_has(args, "detach") ||
           wait_until_it_serves(cli, yyjson_get_sint(yyjson_obj_get(yyjson_obj_get(made, "service"), "id")),
                                yyjson_get_sint(yyjson_obj_get(yyjson_obj_get(made, "version"), "id")), err);
}

/* --- request --- */

bool service_request_run(struct cli *cli, const struct args *args, struct err *err)
{
    yyjson_val *found;
    if (!args_count(args, 1, 1, "ingot request ID", err))
        return false;
    const char *path =
        arena_printf(&cli->arena, "/requests/%s", url_encode(&cli->arena, str_of(args->words[0])));
    if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, &found, err))
        return false;
    verb_show(cli, NULL, found);
    return true;
}

/* --- logs --- */

static void print_lines(yyjson_val *lines)
{
    yyjson_val *line;
    size_t i, max;
    yyjson_arr_foreach(lines, i, max, line)
    {
        struct str version = json_str(yyjson_obj_get(line, "version")),
                   text = json_str(yyjson_obj_get(line, "text"));
        printf(STR_FMT "/%lld " STR_FMT "\n", STR_ARG(version),
               (long long)yyjson_get_sint(yyjson_obj_get(line, "job")), STR_ARG(text));
    }
    fflush(stdout);
}

bool service_logs(struct cli *cli, const char *service, bool follow, struct err *err)
{
    int64_t id;
    auto_buf struct buf next = {0};
    if (!scope_id(cli, kind_by_name(STR("service")), NULL, service, &id, err))
        return false;
    for (;;) {
        struct arena kept = cli->arena;
        yyjson_val *page;
        arena_init(&cli->arena);
        const char *after = next.n ? url_encode(&cli->arena, buf_view(&next)) : NULL;
        const char *path = arena_printf(&cli->arena, "/services/%lld/log%s%s", (long long)id,
                                        after ? "?after=" : "", after ? after : "");
        bool ok = remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, &page, err);
        if (ok) {
            print_lines(yyjson_obj_get(page, "lines"));
            buf_clear(&next);
            buf_str(&next, json_str(yyjson_obj_get(page, "next")));
        }
        cli->problem = NULL;
        arena_release(&cli->arena);
        cli->arena = kept;
        if (!ok || !follow || ferror(stdout))
            return ok;
        running_nap();
    }
}
