/* The tasks that load and remove the demo: scripts/demo, followed. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/proc.h"
#include "core/account/accounts.h"
#include "core/demo/demo_own.h"
#include "core/task/log_page.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>

#define TOKEN_S   (4 * 3600)
#define ADDRESS_S 30 /* until the listeners are there, at start */
#define STEP_MAX  50

struct running {
    struct task *task;
    struct object row;
    int64_t token;
    int64_t done, total;
    char step[STEP_MAX + 1], kept[STEP_MAX + 1]; /* what the program does; what the row says */
};

static bool set_row(struct running *r, struct engine_statuses fields, struct err *err)
{
    return engine_write_status(r->task->core, &kind_demo, r->row.id, fields, err);
}

/* --- its credential --- */

/* Also one that a killed server left. */
static void end_token(struct running *r, int64_t token)
{
    struct str refs;
    struct err ignored = {0};
    if (token > 0)
        engine_delete(r->task->core, &r->task->caller, &kind_token, 0, token, 0, r->task->arena, &refs,
                      &ignored);
}

static bool make_token(struct running *r, struct str *ret, struct err *err)
{
    struct task *t = r->task;
    struct object made;
    char until[32];
    const time_t at = (time_t)(clock_now() / 1000000) + TOKEN_S;
    struct tm tm;
    strftime(until, sizeof until, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&at, &tm));
    yyjson_val *body =
        json_parse(t->arena,
                   str_of(arena_printf(t->arena, "{\"name\": \"demo-task-%lld\", \"expires_at\": \"%s\"}",
                                       (long long)t->id, until)),
                   err);
    end_token(r, object_int(&r->row, "token"));
    if (!body || !engine_create(t->core, &t->caller, &kind_token, 0, body, t->arena, &made, err))
        return false;
    r->token = made.id;
    *ret = object_text(&made, "secret");
    return set_row(r, ENGINE_STATUSES(status_set("token", db_int(made.id))), err);
}

/* --- following it --- */

/* "step NAME DONE TOTAL" */
static void take_line(void *ctx, struct str line)
{
    struct running *r = ctx;
    struct str rest = line;
    if (!str_is(str_cut(rest, ' ', &rest), "step"))
        return;
    struct str name = str_cut(rest, ' ', &rest), done = str_cut(rest, ' ', &rest);
    if (name.n <= STEP_MAX && utf8_valid(name) && str_to_i64(done, &r->done) && str_to_i64(rest, &r->total)) {
        memcpy(r->step, name.p, name.n);
        r->step[name.n] = 0;
    }
}

static bool go_on(void *ctx, struct err *err)
{
    struct running *r = ctx;
    if (strcmp(r->step, r->kept) != 0) {
        memcpy(r->kept, r->step, sizeof r->kept);
        if (!set_row(r, ENGINE_STATUSES(status_set("step", db_textz(r->step))), err))
            return false;
    }
    return task_progress(r->task, r->done, r->total, err);
}

/* A task that goes on after a restart may run before the listeners do. */
static const char *own_address(struct running *r, struct err *err)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    for (int i = 0; i < ADDRESS_S * 10; i++) {
        const char *url = atomic_load(&r->task->core->own_url);
        if (url)
            return url;
        if (!task_progress(r->task, 0, 0, err))
            return NULL;
        nanosleep(&pause, NULL);
    }
    err_message(err, ERR_UNAVAILABLE, NULL, MESSAGE_DEMO_NO_ADDRESS);
    return NULL;
}

static const char *own_program(struct arena *a)
{
    char self[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    return n <= 0 ? "ingot" : arena_strz(a, (struct str){self, (size_t)n});
}

static bool follow(struct running *r, const char *script, const char *stage, struct str token,
                   const char *log_path, int log, struct err *err)
{
    struct arena *a = r->task->arena;
    const char *url = own_address(r, err), *argv[8 + DEMO_PEOPLE] = {"/usr/bin/python3", script, stage};
    int64_t people[DEMO_PEOPLE];
    const size_t n = demo_people(a, &r->row, people);
    int status;
    if (!url)
        return false;
    argv[3] = arena_printf(a, "%lld", (long long)object_int(&r->row, "project_id"));
    for (size_t i = 0; i < n; i++)
        argv[4 + i] = arena_printf(a, "%lld", (long long)people[i]);
    const char *const env[] = {"INGOT_FOLLOWED=1",
                               "INGOT_PROJECT=",
                               arena_printf(a, "INGOT_CONFIG=%s/cache/demo.none",
                                            r->task->core->data), /* no file: nobody's sign-in */
                               arena_printf(a, "INGOT_URL=%s", url),
                               arena_printf(a, "INGOT_TOKEN=" STR_FMT, STR_ARG(token)),
                               arena_printf(a, "INGOT_PROGRAM=%s", own_program(a)),
                               NULL};
    const struct proc_follow p = {
        .argv = (char *const *)argv, .env = env, .log = log, .line = take_line, .go_on = go_on, .ctx = r};
    if (!proc_follow(&p, &status, err))
        return false;
    struct str why = log_last_line(a, log_path);
    return status == 0 || err_message(err, ERR_UPSTREAM, NULL, MESSAGE_DEMO_STEP, (int)strlen(r->step),
                                      r->step, STR_ARG(why));
}

static bool run_program(struct running *r, const char *stage, struct err *err)
{
    struct task *t = r->task;
    const char *script = proc_beside(t->arena, "../share/ingot/demo/demo.py", "../../scripts/demo/demo.py"),
               *path = arena_printf(t->arena, "%s/cache/demo.log", t->core->data);
    struct str token;
    if (!script)
        return err_message(err, ERR_CONFLICT, NULL, MESSAGE_DEMO_NO_PROGRAM);
    if (!fs_mkdirs(arena_printf(t->arena, "%s/cache", t->core->data), 0755, err))
        return false;
    auto_fd int log = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (log < 0)
        return err_errno(err, errno, "cannot write %s", path);
    bool ok = make_token(r, &token, err) && follow(r, script, stage, token, path, log, err);
    end_token(r, r->token);
    return ok;
}

static bool load_row(struct op *op, void *ctx, struct err *err)
{
    return demo_load_row(op, ctx, err);
}

static bool begin(struct task *t, struct running *r, struct err *err)
{
    *r = (struct running){.task = t};
    return engine_write(t->core, &caller_system, t->arena, load_row, &r->row, err);
}

/* One that the server's end interrupts goes on later; one that a person cancelled is only not done. */
static bool failed(struct running *r, const struct err *why)
{
    struct err ignored = {0};
    const bool cancelled = why->id && strcmp(why->id, "task-cancelled") == 0;
    if (why->code == ERR_UNAVAILABLE && !cancelled)
        return false;
    set_row(r,
            ENGINE_STATUSES(status_set("doing", db_textz("")), status_set("token", db_int(0)),
                            status_set("reason", db_textz(why->message)),
                            status_set("reason_zh", db_textz(err_zh(why)))),
            &ignored);
    return false;
}

static bool run_load(struct task *t, struct err *err)
{
    struct running r;
    const char *stage = yyjson_get_str(yyjson_obj_get(t->params, "stage"));
    if (!begin(t, &r, err))
        return false;
    if (!stage || !run_program(&r, stage, err))
        return failed(&r, err);
    /* Loading again completes what is there; it does not take the model away. */
    const bool keeps = str_is(object_text(&r.row, "loaded"), "train");
    return set_row(&r,
                   ENGINE_STATUSES(status_set("doing", db_textz("")), status_set("token", db_int(0)),
                                   status_set("step", db_textz("")),
                                   status_set("loaded", db_textz(keeps ? "train" : stage))),
                   err);
}

static bool run_remove(struct task *t, struct err *err)
{
    struct running r;
    if (!begin(t, &r, err))
        return false;
    if (!run_program(&r, "remove", err))
        return failed(&r, err);
    return set_row(&r,
                   ENGINE_STATUSES(status_set("doing", db_textz("")), status_set("token", db_int(0)),
                                   status_set("step", db_textz("")), status_set("loaded", db_textz("")),
                                   status_set("project_id", db_int(0)),
                                   status_set("people_ids", db_textz(""))),
                   err);
}

static void undo(struct task *t)
{
    struct running r;
    struct err ignored = {0};
    if (begin(t, &r, &ignored) && object_int(&r.row, "task") == t->id)
        set_row(&r, ENGINE_STATUSES(status_set("doing", db_textz(""))), &ignored);
}

const struct task_type task_demo_load = {.name = "demo_load",
                                         .title = {"Load the demo project", "加载示例项目"},
                                         .run = run_load,
                                         .undo = undo,
                                         .undo_always = true,
                                         .at_once = 1,
                                         .hours = 2};
const struct task_type task_demo_remove = {.name = "demo_remove",
                                           .title = {"Remove the demo project", "移除示例项目"},
                                           .run = run_remove,
                                           .undo = undo,
                                           .undo_always = true,
                                           .at_once = 1,
                                           .hours = 2};
