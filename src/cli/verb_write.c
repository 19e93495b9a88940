/* create, update, delete and actions. */
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/prompt.h"
#include "cli/remote.h"
#include "cli/running.h"
#include "cli/scope.h"
#include "cli/verb.h"
#include "cli/waiting.h"
#include "net/url.h"

#define STALE_RETRIES 5

bool verb_make(struct cli *cli, const struct kind *k, const struct args *args, yyjson_val **ret,
               struct err *err)
{
    struct input in = {.fields = k->fields,
                       .with = FIELD_CREATE,
                       .ask = true,
                       .first = args->word_count ? args->words[0] : NULL};
    const char *path;
    if (k->scope == SCOPE_PROJECT) {
        if (!scope_project(cli, &in.project, err))
            return false;
        if (!in.project && !args_value(args, "file"))
            return err_set(err, ERR_MALFORMED, NULL,
                           "no project is chosen: give --project NAME, or run `ingot use NAME` once");
    }
    if (!scope_path(cli, k, args, &path, err))
        return false;
    auto_buf struct buf body = {0};
    if (!input_body(cli, &in, args, &body, err))
        return false;
    struct remote_call call = {.method = "POST", .path = path, .body = buf_view(&body)};
    return remote_json(cli, &call, ret, err);
}

bool verb_create(struct cli *cli, const struct kind *k, unused_ok const struct action *act,
                 const struct args *args, struct err *err)
{
    yyjson_val *v;
    if (!verb_make(cli, k, args, &v, err))
        return false;
    verb_show(cli, k, v);
    return true;
}

static bool current_revision(struct cli *cli, const char *path, int64_t *ret, struct err *err)
{
    yyjson_val *v;
    if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, &v, err))
        return false;
    *ret = yyjson_get_sint(yyjson_obj_get(v, "revision"));
    return true;
}

/* Without --revision the change is meant for whatever is there now, so a race is simply run again. */
static bool patch(struct cli *cli, const char *path, int64_t revision, struct str body, yyjson_val **ret,
                  struct err *err)
{
    struct remote_call call = {.method = "PATCH", .path = path, .body = body, .if_match = revision};
    for (int i = 0; i < STALE_RETRIES; i++) {
        if (!revision && !current_revision(cli, path, &call.if_match, err))
            return false;
        if (remote_json(cli, &call, ret, err))
            return true;
        if (err->code != ERR_STALE || revision)
            return false;
    }
    return false;
}

bool verb_update(struct cli *cli, const struct kind *k, unused_ok const struct action *act,
                 const struct args *args, struct err *err)
{
    struct input in = {.fields = k->fields, .with = FIELD_UPDATE};
    const char *path;
    int64_t revision = 0;
    auto_buf struct buf body = {0};
    if (!args_int(args, "revision", 1, INT64_MAX, &revision, err) || !input_body(cli, &in, args, &body, err))
        return false;
    if (str_is(buf_view(&body), "{}"))
        return err_set(err, ERR_MALFORMED, NULL,
                       "nothing to change: give --set FIELD=VALUE or a field's flag");
    if (!verb_object_path(cli, k, args, args->words[0], &path, err))
        return false;
    yyjson_val *v;
    if (!patch(cli, path, revision, buf_view(&body), &v, err))
        return false;
    verb_show(cli, k, v);
    return true;
}

static bool agreed(struct cli *cli, const struct args *args, const char *question, struct err *err)
{
    if (args_has(args, "yes") || !prompt_possible() || prompt_sure(&cli->arena, question))
        return true;
    return err_set(err, ERR_CONFLICT, NULL, "not confirmed, nothing was changed");
}

bool verb_delete(struct cli *cli, const struct kind *k, unused_ok const struct action *act,
                 const struct args *args, struct err *err)
{
    struct arena *a = &cli->arena;
    const char *word = scope_kind_word(a, k);
    int64_t revision = 0;
    if (!args_int(args, "revision", 1, INT64_MAX, &revision, err))
        return false;
    if (!agreed(cli, args,
                arena_printf(a, "Delete %s %s%s?", word, args->words[0],
                             args->word_count > 1 ? " and others" : ""),
                err))
        return false;
    for (size_t i = 0; i < args->word_count; i++) {
        const char *path;
        yyjson_val *v;
        if (!verb_object_path(cli, k, args, args->words[i], &path, err))
            return false;
        struct remote_call call = {.method = "DELETE", .path = path, .if_match = revision};
        if (!remote_json(cli, &call, &v, err))
            return false;
        if (cli->output == OUTPUT_TABLE)
            printf("deleted %s %s\n", word, args->words[i]);
    }
    return true;
}

/* The fields of a reading action go into the query. */
static bool query_of(struct arena *a, struct str body, const char *path, const char **ret, struct err *err)
{
    yyjson_val *v = json_parse(a, body, err);
    if (!v)
        return false;
    auto_buf struct buf b = {0};
    size_t i, n;
    yyjson_val *key, *value;
    buf_z(&b, path);
    yyjson_obj_foreach(v, i, n, key, value)
    {
        struct str text = json_str(value);
        size_t length;
        auto_free char *raw = text.p ? NULL : yyjson_val_write(value, 0, &length);
        if (raw)
            text = (struct str){raw, length};
        buf_printf(&b, "%c%s=%s", i ? '&' : '?', yyjson_get_str(key), url_encode(a, text));
    }
    *ret = arena_strz(a, buf_view(&b));
    return true;
}

static bool makes_job(const struct action *act)
{
    return act->status == 201 && act->answer && strcmp(act->answer, "Job") == 0;
}

bool verb_makes_work(const struct action *act)
{
    return act->status == 202 || makes_job(act);
}

/* The newest task of the action on the object that it answered with. */
static bool task_on(struct cli *cli, const struct kind *k, const struct action *act, yyjson_val *object,
                    int64_t *ret, struct err *err)
{
    yyjson_val *v;
    const char *filter =
        arena_printf(&cli->arena, "type = \"%s\" and subject_kind = \"%s\" and subject = %lld", act->name,
                     k->name, (long long)yyjson_get_sint(yyjson_obj_get(object, "id")));
    const char *path =
        arena_printf(&cli->arena, "/tasks?project=%lld&sort=-created_at&limit=1&filter=%s",
                     (long long)yyjson_get_sint(yyjson_obj_get(yyjson_obj_get(object, "project"), "id")),
                     url_encode(&cli->arena, str_of(filter)));
    if (!remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, &v, err))
        return false;
    *ret = yyjson_get_sint(yyjson_obj_get(yyjson_arr_get_first(yyjson_obj_get(v, "items")), "id"));
    return true;
}

/* As it ended. */
static bool wait_for_task(struct cli *cli, const struct action *act, const struct args *args, int64_t id,
                          yyjson_val **task, struct err *err)
{
    interrupt_watch();
    if (waiting_task(cli, id, act->title.en, args_has(args, "quiet"), task, err))
        return true;
    if (interrupt_wanted()) {
        fprintf(stderr, "%s\n", err->message);
        interrupt_end();
    }
    return false;
}

/* Until what the action began is over. *v was the task or the object, and is what that became. */
static bool wait_for_end(struct cli *cli, const struct kind *k, const struct action *act,
                         const struct args *args, const char *path, yyjson_val **v, struct err *err)
{
    int64_t id = yyjson_get_sint(yyjson_obj_get(*v, "id"));
    yyjson_val *task;
    if (args_has(args, "no-wait"))
        return true;
    if (act->answer)
        return wait_for_task(cli, act, args, id, v, err);
    return task_on(cli, k, act, *v, &id, err) && wait_for_task(cli, act, args, id, &task, err) &&
           remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, v, err);
}

/* Its log, where people look; *v is how it ended. */
static bool wait_for_job(struct cli *cli, const struct args *args, yyjson_val **v, struct err *err)
{
    int64_t job = yyjson_get_sint(yyjson_obj_get(*v, "id"));
    bool log = cli->output == OUTPUT_TABLE && !args_has(args, "quiet");
    if (args_has(args, "no-wait"))
        return true;
    if (log && !running_print(cli, &(struct running_follow){.job = job, .follow = true}, err))
        return false;
    const char *path = arena_printf(&cli->arena, "/jobs/%lld", (long long)job);
    return running_end(cli, job, err) &&
           remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, v, err);
}

/* project: of an action on the kind, 0 otherwise. */
static bool act_at(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                   const char *object, int64_t project, struct err *err)
{
    struct arena *a = &cli->arena;
    struct input in = {.fields = act->fields, .ask = true, .project = project};
    const char *path = arena_printf(a, "%s/%s", object, act->name);
    if (act->danger && !agreed(cli, args, arena_printf(a, "%s: are you sure?", act->name), err))
        return false;
    auto_buf struct buf body = {0};
    if (!input_body(cli, &in, args, &body, err))
        return false;
    struct remote_call call = {.method = "POST", .path = path, .body = buf_view(&body)};
    if (act->read_only) {
        call = (struct remote_call){.method = "GET"};
        if (!query_of(a, buf_view(&body), path, &call.path, err))
            return false;
    }
    yyjson_val *v;
    int status;
    call.ret_status = &status;
    /* What was there or is done already needs no waiting: then it is 200. */
    if (!remote_json(cli, &call, &v, err) ||
        (status == 202 && !wait_for_end(cli, k, act, args, object, &v, err)) ||
        (makes_job(act) && !wait_for_job(cli, args, &v, err)))
        return false;
    verb_show(cli, makes_job(act) ? kind_by_name(STR("job")) : k, v);
    return true;
}

bool verb_act_on(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                 const char *path, struct err *err)
{
    return act_at(cli, k, act, args, path, 0, err);
}

bool verb_action(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                 struct err *err)
{
    const char *path;
    int64_t project = 0;
    bool found = act->on_kind ? scope_path(cli, k, args, &path, err)
                              : verb_object_path(cli, k, args, args->words[0], &path, err);
    bool placed = act->on_kind && k->scope == SCOPE_PROJECT;
    return found && (!placed || scope_project(cli, &project, err)) &&
           act_at(cli, k, act, args, path, project, err);
}
