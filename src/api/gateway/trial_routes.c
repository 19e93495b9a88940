#include "api/gateway/trial_routes.h"

#include "base/messages.h"
#include "core/folder/model_check.h"
#include "core/serve/trial.h"
#include "net/url.h"

#include <errno.h>
#include <stdio.h>

#define BODY_MOST  (64 << 20)
#define TIME_MS    120000 /* a large model is loaded meanwhile */
#define COOKIES    "ingot_"
#define KEY_LENGTH (EXEC_ID_MAX + 8)

static bool find_version(struct api_call *call, struct object *ret, struct err *err)
{
    int64_t set, id;
    if (!str_to_i64(call->params[0], &set) || !str_to_i64(call->params[1], &id))
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no such version");
    return engine_get(call->core, &call->caller, &kind_model_version, set, id, call->arena, ret, err);
}

/* --- predicting --- */

struct trying {
    struct core *core;
    struct exec_id container;
    char key[KEY_LENGTH];
};

static int trying_connect(void *ctx)
{
    struct trying *t = ctx;
    struct err err = {0};
    struct exec *x = jobs_exec(t->core->jobs);
    int fd = x ? x->ops->connect(x, t->container, TRIAL_PORT, &err) : -1;
    if (fd < 0)
        errno = ECONNREFUSED;
    return fd;
}

static void trying_refused(struct request *r, void *ctx, int status, const char *detail)
{
    struct trying *t = ctx;
    struct err err = {0};
    struct api_call call = {.core = t->core, .request = r, .arena = r->arena};
    if (status == 413)
        err_message(&err, ERR_TOO_LARGE, NULL, MESSAGE_TRIAL_BODY, (long long)BODY_MOST);
    else if (status == 504)
        err_message(&err, ERR_UPSTREAM, NULL, MESSAGE_TRIAL_SILENT);
    else
        err_message(&err, ERR_UPSTREAM, NULL, MESSAGE_TRIAL_FAILED, detail);
    api_problem(&call, &err, NULL, 0);
}

/* The query without `project`, which is the platform's; the rest is predict's. */
static bool take_project(struct api_call *call, int64_t *ret, struct err *err)
{
    struct url_param *list;
    size_t n;
    auto_buf struct buf left = {0};
    *ret = 0;
    if (!url_query(call->arena, call->request->query, &list, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (str_is(list[i].name, "project")) {
            if (!str_to_i64(list[i].value, ret) || *ret < 1)
                return err_set(err, ERR_INVALID, "project", "project: must be the id of a project");
            continue;
        }
        buf_printf(&left, "%s%s=%s", left.n ? "&" : "", url_encode(call->arena, list[i].name),
                   url_encode(call->arena, list[i].value));
    }
    call->request->query = left.n ? arena_str(call->arena, buf_view(&left)) : STR("");
    return true;
}

static void run_predict(struct api_call *call)
{
    struct trying *t = arena_new(call->arena, struct trying);
    struct object version;
    struct err err = {0};
    char name[EXEC_ID_MAX];
    int64_t project;
    t->core = call->core;
    if (!take_project(call, &project, &err) || !find_version(call, &version, &err) ||
        !trial_way(call->core, &call->caller, &version, project, call->arena, &t->container, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    snprintf(t->key, sizeof t->key, "%s/try", exec_id_format(t->container, name));
    respond_proxy(call->request, &(struct proxy_target){
                                     .connect = trying_connect,
                                     .ctx = t,
                                     .key = t->key,
                                     .path = TRIAL_PREDICT,
                                     .strip_auth = true,
                                     .strip_cookie = COOKIES,
                                     .no_cookies = true,
                                     .guarded = true,
                                     .body_limit = BODY_MOST,
                                     .time_limit_ms = TIME_MS,
                                     .refused = trying_refused,
                                 });
}

/* --- a manifest that is not saved yet --- */

static void run_check(struct api_call *call)
{
    auto_buf struct buf body = {0};
    struct json_out out;
    struct object version;
    struct err err = {0};
    json_begin(&out, &body);
    if (find_version(call, &version, &err) &&
        model_check_write(call->core, &version, call->body, call->arena, &out, &err))
        api_answer(call, 200, NULL, 0, buf_view(&body));
    else
        api_problem(call, &err, NULL, 0);
}

#define VERSION "/api/v1/model-sets/{set_id}/versions/{version_id}/"

const struct route trial_routes[] = {
    {.method = "POST",
     .pattern = VERSION "predict",
     .run = run_predict,
     .streams = true,
     .query = "project:id *",
     .summary =
         "Sends a picture, text or sound to a model version that is being tried; as multipart with a part "
         "`manifest`, by that instead of the version's own",
     .takes = "application/octet-stream",
     .answer = "{\"type\":\"object\"}"},
    {.method = "POST",
     .pattern = VERSION "check",
     .run = run_check,
     .summary = "Tells whether a model version could be asked by this manifest, which is not saved",
     .input = "{\"type\":\"object\"}",
     .answer = ROUTE_ANSWER("ModelCheck")},
    {0},
};
