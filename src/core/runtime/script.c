/* Running scripts/runtimes/fetch.py: what it is told, what it answers. */
#include "base/fs.h"
#include "base/json.h"
#include "base/messages_runtime.h"
#include "base/proc.h"
#include "core/runtime/runtime_own.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define PLAN_MAX (1 << 20)

static const char *find_script(struct arena *a, struct err *err)
{
    const char *path = proc_beside(a, "../share/ingot/runtimes/fetch.py", "../../scripts/runtimes/fetch.py");
    if (!path)
        err_message(err, ERR_CONFLICT, NULL, MESSAGE_RUNTIME_NO_SCRIPTS);
    return path;
}

/* What is fetched stays for the next build, in the data folder or where $INGOT_RUNTIMES_CACHE says. */
static const char *cache_folder(const struct core *core, struct arena *a)
{
    const char *given = getenv("INGOT_RUNTIMES_CACHE");
    return given && *given == '/' ? given : arena_printf(a, "%s/cache/runtimes", core->data);
}

const char *runtime_folder(const struct core *core, struct arena *a, int64_t runtime)
{
    return arena_printf(a, "%s/runtimes/%lld", core->data, (long long)runtime);
}

const char *runtime_log_path(const struct core *core, struct arena *a, int64_t runtime)
{
    return arena_printf(a, "%s/runtimes/%lld.log", core->data, (long long)runtime);
}

/* --- what it says --- */

struct following {
    struct task *task;
    int64_t done, total;
    yyjson_val *last; /* the line with the plan or the error */
};

static void take_line(void *ctx, struct str line)
{
    struct following *f = ctx;
    struct err ignored = {0};
    yyjson_val *v = json_parse(f->task->arena, arena_str(f->task->arena, line), &ignored);
    if (yyjson_obj_get(v, "done")) {
        f->done = yyjson_get_sint(yyjson_obj_get(v, "done"));
        f->total = yyjson_get_sint(yyjson_obj_get(v, "total"));
    } else if (v) {
        f->last = v;
    }
}

static bool go_on(void *ctx, struct err *err)
{
    struct following *f = ctx;
    return task_progress(f->task, f->done, f->total, err);
}

/* Errors have a word, for the sentence in both languages, and what it is about. */
static bool say_why(yyjson_val *v, int status, struct err *err)
{
    struct str word = json_str(yyjson_obj_get(v, "error")), about = json_str(yyjson_obj_get(v, "about"));
    about.n = about.n > 200 ? 200 : about.n;
    if (str_is(word, "no-debian"))
        return err_message(err, ERR_INVALID, "packages", MESSAGE_RUNTIME_NO_DEBIAN, STR_ARG(about));
    if (str_is(word, "no-python"))
        return err_message(err, ERR_INVALID, "python", MESSAGE_RUNTIME_NO_PYTHON, STR_ARG(about));
    if (str_is(word, "no-program"))
        return err_message(err, ERR_CONFLICT, NULL, MESSAGE_RUNTIME_NO_PROGRAM, STR_ARG(about));
    if (str_is(word, "no-network"))
        return err_message(err, ERR_UPSTREAM, NULL, MESSAGE_RUNTIME_NO_NETWORK, STR_ARG(about));
    if (str_is(word, "no-room"))
        return err_message(err, ERR_QUOTA, NULL, MESSAGE_RUNTIME_FULL);
    if (word.n)
        return err_message(err, ERR_UPSTREAM, NULL, MESSAGE_RUNTIME_FETCH, STR_ARG(about));
    return err_message(err, ERR_INTERNAL, NULL, MESSAGE_RUNTIME_SCRIPT, status);
}

static void read_plan(struct arena *a, yyjson_val *v, struct runtime_plan *ret)
{
    *ret = (struct runtime_plan){
        .bytes = yyjson_get_sint(yyjson_obj_get(v, "bytes")),
        .debs = yyjson_get_sint(yyjson_obj_get(v, "debs")),
        .wheels = yyjson_get_sint(yyjson_obj_get(v, "wheels")),
        .fingerprint = arena_strz(a, json_str(yyjson_obj_get(v, "fingerprint"))),
        .same = yyjson_get_bool(yyjson_obj_get(v, "same")),
    };
}

/* --- running it --- */

static bool write_recipe(const struct object *o, struct str have, const char *folder, struct arena *a,
                         struct err *err)
{
    auto_buf struct buf text = {0};
    struct json_out out;
    json_begin(&out, &text);
    json_object(&out);
    json_key(&out, "packages");
    json_raw(&out, object_text(o, "packages"));
    json_key(&out, "python");
    json_raw(&out, object_text(o, "python"));
    json_kstr(&out, "have", have);
    json_object_end(&out);
    return fs_write_atomic(arena_printf(a, "%s/recipe.json", folder), buf_view(&text), 0644, err);
}

bool runtime_script(struct task *t, const char *verb, const struct object *o, struct str have, int log,
                    struct runtime_plan *ret, struct err *err)
{
    struct following f = {.task = t};
    const char *folder = arena_printf(t->arena, "%s%s", runtime_folder(t->core, t->arena, o->id),
                                      strcmp(verb, "fetch") == 0 ? "" : RUNTIME_ASIDE);
    const char *script = find_script(t->arena, err);
    int status;
    if (!script || !fs_remove_tree(AT_FDCWD, folder, err) || !fs_mkdirs(folder, 0755, err) ||
        !write_recipe(o, have, folder, t->arena, err))
        return false;
    const char *argv[] = {"/usr/bin/python3", script, verb, cache_folder(t->core, t->arena), folder, NULL};
    const struct proc_follow p = {
        .argv = (char *const *)argv, .log = log, .line = take_line, .go_on = go_on, .ctx = &f};
    if (!proc_follow(&p, &status, err))
        return false;
    yyjson_val *plan = yyjson_obj_get(f.last, "plan");
    if (status != 0 || !plan)
        return say_why(f.last, status, err);
    read_plan(t->arena, plan, ret);
    return true;
}

bool runtime_read_plan(struct task *t, struct runtime_plan *ret, struct err *err)
{
    struct str text;
    const char *folder = runtime_folder(t->core, t->arena, t->subject);
    if (!fs_read(t->arena, arena_printf(t->arena, "%s/plan.json", folder), PLAN_MAX, &text, err))
        return false;
    yyjson_val *v = json_parse(t->arena, text, err);
    if (!v)
        return false;
    read_plan(t->arena, v, ret);
    return true;
}
