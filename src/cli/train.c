/* ingot train: from a command line to a training that runs, its log, and its exit code. */
#include "cli/remote.h"
#include "cli/running.h"
#include "cli/scope.h"
#include "cli/train_auto.h"
#include "cli/train_set.h"

#include <time.h>

static const char usage[] =
    "ingot train run [flags] [-- COMMAND...] | auto DATASET[:VERSION] | resume TRAINING[/RUN]";

const struct flag running_train_flags[] = {
    {"name", 'n', FLAG_VALUE, "NAME", "of the training; one that exists is changed (a new one)", NULL},
    {"data", 'd', FLAG_VALUE, "DATASET[:VERSION]", "may come several times; without a version the newest",
     NULL},
    {"algo", 'a', FLAG_VALUE, "ALGORITHM[:VERSION]", "the code, in which the command runs", NULL},
    {"base", 0, FLAG_VALUE, "MODEL[:VERSION]", "the model to begin with", NULL},
    {"spec", 's', FLAG_VALUE, "SPEC", "processors, memory, accelerators", NULL},
    {"image", 0, FLAG_VALUE, "IMAGE", "what it runs in (host)", NULL},
    {"nodes", 0, FLAG_VALUE, "N", "how many containers (1)", NULL},
    {"launcher", 0, FLAG_VALUE, "each|first", "first: the command is an mpirun (each)", NULL},
    {"save-to", 0, FLAG_VALUE, "MODEL", "whose version /workspace/persistent-model becomes", NULL},
    {"set", 0, FLAG_VALUE, "NAME=VALUE", "a parameter of the algorithm; may come several times", NULL},
    {"minutes", 0, FLAG_VALUE, "N", "auto, resume: how long it may train (10)", NULL},
    {"leave-out", 0, FLAG_VALUE, "LABEL,...", "auto: labels that are as if they had never been given", NULL},
    {"merge", 0, FLAG_VALUE, "LABEL=LABEL", "auto: one label becomes another; may come several times", NULL},
    {"yes", 'y', FLAG_SWITCH, NULL, "auto: start without asking", NULL},
    {"env", 'e', FLAG_VALUE, "NAME=VALUE", "a variable; may come several times", NULL},
    {"priority", 0, FLAG_VALUE, "N", "-100 to 100 (0)", NULL},
    {"retries", 0, FLAG_VALUE, "N", "how often it is tried again (0)", NULL},
    {"hours", 0, FLAG_VALUE, "HOURS", "stopped after so long (no limit)", NULL},
    {"description", 0, FLAG_VALUE, "TEXT", "of the training", NULL},
    {"detach", 0, FLAG_SWITCH, NULL, "do not follow the log", NULL},
    {"project", 'p', FLAG_VALUE, "NAME", "where all this is", NULL},
};

/* --- words to ids --- */

/* Plain words need no quotes; others get them. */
static void quote_word(struct buf *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    if (*word && strspn(word, plain) == strlen(word)) {
        buf_z(out, word);
        return;
    }
    buf_char(out, '\'');
    for (; *word; word++)
        *word == '\'' ? buf_z(out, "'\\''") : buf_char(out, *word);
    buf_char(out, '\'');
}

/* One word is a line for the shell; several are a program and its arguments. */
static const char *command_text(struct arena *a, const char *const *words, size_t n)
{
    auto_buf struct buf text = {0};
    if (n == 1)
        return words[0];
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_char(&text, ' ');
        quote_word(&text, words[i]);
    }
    return arena_strz(a, buf_view(&text));
}

/* --- the training's body --- */

static bool add_datasets(struct cli *cli, const struct args *args, struct json_out *o, struct err *err)
{
    if (!args_has(args, "data"))
        return true;
    json_key(o, "datasets");
    json_array(o);
    for (size_t i = 0; i < args->given_count; i++) {
        int64_t id;
        if (strcmp(args->given[i].flag->name, "data") != 0)
            continue;
        if (!scope_id(cli, kind_by_name(STR("dataset_version")), NULL, args->given[i].value, &id, err))
            return false;
        json_int(o, id);
    }
    json_array_end(o);
    return true;
}

static bool add_env(struct cli *cli, const struct args *args, struct json_out *o, struct err *err)
{
    if (!args_has(args, "env"))
        return true;
    json_key(o, "env");
    json_object(o);
    for (size_t i = 0; i < args->given_count; i++) {
        struct str value, name;
        if (strcmp(args->given[i].flag->name, "env") != 0)
            continue;
        name = str_cut(str_of(args->given[i].value), '=', &value);
        if (!value.p || !name.n)
            return err_set(err, ERR_MALFORMED, NULL, "--env: \"%s\" is not NAME=VALUE", args->given[i].value);
        json_key(o, arena_strz(&cli->arena, name));
        json_string(o, value);
    }
    json_object_end(o);
    return true;
}

static bool add_named(struct cli *cli, const struct args *args, struct json_out *o, const char *flag,
                      const char *kind, const char *field, struct err *err)
{
    const char *text = args_value(args, flag);
    int64_t id;
    if (!text)
        return true;
    if (!scope_id(cli, kind_by_name(str_of(kind)), NULL, text, &id, err))
        return false;
    json_kint(o, field, id);
    return true;
}

static bool add_parameters(struct cli *cli, const struct args *args, struct json_out *o, struct err *err)
{
    const char *algorithm = args_value(args, "algo");
    yyjson_val *parameters = NULL;
    int64_t id;
    if (!args_has(args, "set"))
        return true;
    if (algorithm && (!scope_id(cli, kind_by_name(STR("algorithm_version")), NULL, algorithm, &id, err) ||
                      !train_set_parameters(cli, id, &parameters, err)))
        return false;
    json_key(o, "parameters");
    json_object(o);
    bool ok = train_set_write(cli, args, parameters, o, err);
    json_object_end(o);
    return ok;
}

static bool add_numbers(const struct args *args, struct json_out *o, struct err *err)
{
    static const struct {
        const char *flag;
        int64_t min, max;
    } whole[] = {{"nodes", 1, 64}, {"priority", -100, 100}, {"retries", 0, 10}};
    const char *hours = args_value(args, "hours");
    double h;
    for (size_t i = 0; i < countof(whole); i++) {
        int64_t v = 0;
        if (!args_int(args, whole[i].flag, whole[i].min, whole[i].max, &v, err))
            return false;
        if (args_has(args, whole[i].flag))
            json_kint(o, whole[i].flag, v);
    }
    if (!hours)
        return true;
    if (!str_to_real(str_of(hours), &h))
        return err_set(err, ERR_MALFORMED, NULL, "--hours: \"%s\" is no number", hours);
    json_key(o, "hours");
    json_real(o, h);
    return true;
}

static bool write_body(struct cli *cli, const struct args *args, struct json_out *o, struct err *err)
{
    static const char *const texts[] = {"image", "launcher", "description"};
    if (args->word_count > 1)
        json_kz(o, "command", command_text(&cli->arena, args->words + 1, args->word_count - 1));
    for (size_t i = 0; i < countof(texts); i++)
        if (args_has(args, texts[i]))
            json_kz(o, texts[i], args_value(args, texts[i]));
    return add_datasets(cli, args, o, err) &&
           add_named(cli, args, o, "algo", "algorithm_version", "algorithm", err) &&
           add_named(cli, args, o, "base", "model_version", "base_model", err) &&
           add_named(cli, args, o, "spec", "spec", "spec", err) &&
           add_named(cli, args, o, "save-to", "model_set", "save_to", err) && add_numbers(args, o, err) &&
           add_env(cli, args, o, err) && add_parameters(cli, args, o, err);
}

/* --- making or changing it --- */

static const char *fresh_name(struct arena *a)
{
    struct timespec now;
    struct tm t;
    char text[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &t);
    strftime(text, sizeof text, "%Y%m%d-%H%M%S", &t);
    return arena_printf(a, "train-%s-%03ld", text, now.tv_nsec / 1000000);
}

static bool find_training(struct cli *cli, const char *name, int64_t *ret, struct err *err)
{
    struct err none = {0};
    *ret = 0;
    if (!name || scope_id(cli, kind_by_name(STR("training")), NULL, name, ret, &none))
        return true;
    cli->problem = NULL;
    if (none.code == ERR_NOT_FOUND)
        return true;
    *err = none;
    return false;
}

static bool save_training(struct cli *cli, const struct args *args, int64_t *ret, struct err *err)
{
    struct arena *a = &cli->arena;
    auto_buf struct buf body = {0};
    struct json_out o;
    const char *name = args_value(args, "name");
    int64_t project;
    yyjson_val *made;
    if (!scope_project(cli, &project, err) || !find_training(cli, name, ret, err))
        return false;
    if (!*ret && !project)
        return err_set(err, ERR_MALFORMED, NULL,
                       "no project is chosen: give --project NAME, or run `ingot use NAME` once");
    if (!*ret && !args_has(args, "spec"))
        return err_set(err, ERR_MALFORMED, NULL, "--spec is missing: `ingot spec list` shows them");
    json_begin(&o, &body);
    json_object(&o);
    if (!*ret) {
        json_kz(&o, "name", name ? name : fresh_name(a));
        json_kint(&o, "project", project);
    }
    if (!write_body(cli, args, &o, err))
        return false;
    json_object_end(&o);
    struct remote_call call = {.method = "POST", .path = "/trainings", .body = buf_view(&body)};
    if (*ret) {
        yyjson_val *now;
        call.path = arena_printf(a, "/trainings/%lld", (long long)*ret);
        if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = call.path}, &now, err))
            return false;
        call.method = "PATCH";
        call.if_match = yyjson_get_sint(yyjson_obj_get(now, "revision"));
    }
    if (!remote_json(cli, &call, &made, err))
        return false;
    *ret = yyjson_get_sint(yyjson_obj_get(made, "id"));
    return true;
}

/* --- following it --- */

/* A resumed instance has its job when its checkpoint was copied. */
static bool wait_for_job(struct cli *cli, yyjson_val *instance, int64_t *ret, struct err *err)
{
    const char *path =
        arena_printf(&cli->arena, "/trainings/%lld/instances/%lld",
                     (long long)yyjson_get_sint(yyjson_obj_get(yyjson_obj_get(instance, "training"), "id")),
                     (long long)yyjson_get_sint(yyjson_obj_get(instance, "id")));
    for (;;) {
        *ret = yyjson_get_sint(yyjson_obj_get(yyjson_obj_get(instance, "job"), "id"));
        if (*ret)
            return true;
        if (!str_is(json_str(yyjson_obj_get(instance, "state")), "pending"))
            return err_set(err, ERR_CONFLICT, NULL, "the run did not start: " STR_FMT,
                           STR_ARG(json_str(yyjson_obj_get(instance, "reason"))));
        running_nap();
        if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, &instance, err))
            return false;
    }
}

/* The log is closed a moment before the job says how it ended. */
bool running_end(struct cli *cli, int64_t id, struct err *err)
{
    struct running_state now;
    for (;;) {
        if (!running_look(cli, id, &now, err))
            return false;
        if (now.over)
            break;
        running_nap();
    }
    if (now.completed)
        return true;
    fprintf(stderr, "%s%s%s\n", now.stopped ? "stopped" : "failed", now.reason[0] ? ": " : "", now.reason);
    bool told = now.exit_code > 0 && now.exit_code < 256;
    cli->exit_code = now.stopped ? 143 : told ? (int)now.exit_code : 1;
    return true;
}

bool running_follow_run(struct cli *cli, const struct args *args, yyjson_val *instance, struct err *err)
{
    int64_t job;
    struct str training = json_str(yyjson_obj_get(yyjson_obj_get(instance, "training"), "name")),
               name = json_str(yyjson_obj_get(instance, "name"));
    if (args_has(args, "detach")) {
        printf(STR_FMT "/" STR_FMT "\n", STR_ARG(training), STR_ARG(name));
        return true;
    }
    fprintf(stderr, STR_FMT "/" STR_FMT " (ending this command leaves it running)\n", STR_ARG(training),
            STR_ARG(name));
    if (!wait_for_job(cli, instance, &job, err))
        return false;
    return running_print(cli, &(struct running_follow){.job = job, .follow = true}, err) &&
           running_end(cli, job, err);
}

static bool run(struct cli *cli, const struct args *args, struct err *err)
{
    int64_t training;
    yyjson_val *instance;
    if (args->word_count < 2 && !args_has(args, "algo") && !args_has(args, "name"))
        return err_set(err, ERR_MALFORMED, NULL, "the command is missing; usage: %s", usage);
    if (!save_training(cli, args, &training, err))
        return false;
    const char *path = arena_printf(&cli->arena, "/trainings/%lld/start", (long long)training);
    return remote_json(cli, &(struct remote_call){.method = "POST", .path = path}, &instance, err) &&
           running_follow_run(cli, args, instance, err);
}

/* Values in place of those of the run that it goes on from. */
static bool resume_body(struct cli *cli, const struct args *args, struct buf *text, struct err *err)
{
    struct json_out o;
    double minutes;
    json_begin(&o, text);
    json_object(&o);
    json_key(&o, "parameters");
    json_object(&o);
    if (!train_set_write(cli, args, NULL, &o, err))
        return false;
    if (args_has(args, "minutes")) {
        if (!train_minutes(args, &minutes, err))
            return false;
        json_key(&o, "minutes");
        json_real(&o, minutes);
    }
    json_object_end(&o);
    json_object_end(&o);
    return true;
}

static bool resume(struct cli *cli, const struct args *args, struct err *err)
{
    int64_t job;
    struct running_state now;
    yyjson_val *instance;
    if (!args_count(args, 2, 2, usage, err) || !running_job(cli, args->words[1], &job, err) ||
        !running_look(cli, job, &now, err))
        return false;
    if (!now.of_training)
        return err_set(err, ERR_MALFORMED, NULL, "\"%s\" is no run of a training", args->words[1]);
    struct str run_name, name = str_cut(str_of(args->words[1]), '/', &run_name);
    (void)run_name;
    int64_t training, id = now.owner;
    if (!scope_id(cli, kind_by_name(STR("training")), NULL, arena_strz(&cli->arena, name), &training, err))
        return false;
    const char *path = arena_printf(&cli->arena, "/trainings/%lld/instances/%lld/resume", (long long)training,
                                    (long long)id);
    auto_buf struct buf body = {0};
    if (!resume_body(cli, args, &body, err))
        return false;
    struct remote_call call = {
        .method = "POST", .path = path, .body = arena_str(&cli->arena, buf_view(&body))};
    return remote_json(cli, &call, &instance, err) && running_follow_run(cli, args, instance, err);
}

static bool automatic(struct cli *cli, const struct args *args, struct err *err)
{
    return train_auto(cli, args, usage, err);
}

/* Flags of `running_train_flags` that a verb has no use for are refused, not passed over. */
static const struct verb {
    const char *name;
    bool (*run)(struct cli *cli, const struct args *args, struct err *err);
    const char *flags[20];
} verbs[] = {
    {"run",
     run,
     {"name", "data", "algo", "base", "spec", "image", "nodes", "launcher", "save-to", "set", "env",
      "priority", "retries", "hours", "description", "detach", "project"}},
    {"auto", automatic, {"spec", "set", "minutes", "leave-out", "merge", "yes", "detach", "project"}},
    {"resume", resume, {"set", "minutes", "detach", "project"}},
};

static bool among(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n && names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static bool of_train(const char *flag)
{
    for (size_t i = 0; i < countof(running_train_flags); i++)
        if (strcmp(running_train_flags[i].name, flag) == 0)
            return true;
    return false;
}

static bool check_flags(const struct verb *v, const struct args *args, struct err *err)
{
    for (size_t i = 0; i < args->given_count; i++) {
        const char *flag = args->given[i].flag->name;
        if (of_train(flag) && !among(flag, v->flags, countof(v->flags)))
            return err_set(err, ERR_MALFORMED, NULL, "--%s is not for ingot train %s", flag, v->name);
    }
    return true;
}

bool running_train(struct cli *cli, const struct args *args, struct err *err)
{
    const char *name = args->word_count ? args->words[0] : "";
    for (size_t i = 0; i < countof(verbs); i++)
        if (strcmp(verbs[i].name, name) == 0)
            return check_flags(&verbs[i], args, err) && verbs[i].run(cli, args, err);
    return err_set(err, ERR_MALFORMED, NULL, "%s%s%s; usage: %s",
                   *name ? "there is no \"" : "a verb is missing", name, *name ? "\"" : "", usage);
}
