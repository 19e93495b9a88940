/* The tasks that install tools: scripts/tools.sh, followed. It begins anew when it is run again, and has one
 * running at a time, so that a server that was killed in the middle just runs it once more. */
#include "base/fs.h"
#include "base/messages_runtime.h"
#include "base/proc.h"
#include "core/environment/tool_own.h"
#include "core/environment/tools.h"
#include "core/task/log_page.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

const char *tool_log_path(const struct core *core, struct arena *a, const char *of)
{
    return arena_printf(a, "%s/cache/tools/%s.log", core->data, of);
}

struct following {
    struct task *task;
    int log;
    int64_t done, total;
};

/* "packages 91", then pip's own lines: one for each package, then one for installing them all, which takes
 * about as long as a third of them. */
static void take_line(void *ctx, struct str line)
{
    struct following *f = ctx;
    struct str rest = line;
    dprintf(f->log, STR_FMT "\n", STR_ARG(line));
    if (str_is(str_cut(rest, ' ', &rest), "packages") && str_to_i64(rest, &f->total))
        f->total += f->total / 3 + 1;
    else if (str_starts(line, "Collecting ") && f->done < f->total)
        f->done++;
    else if (str_starts(line, "Successfully installed"))
        f->done = f->total;
}

static bool go_on(void *ctx, struct err *err)
{
    struct following *f = ctx;
    return task_progress(f->task, f->done, f->total, err);
}

/* anew: the log of the run before is over. */
static bool run_script(struct task *t, const char *of, bool anew, const char *word, const char *more,
                       struct err *err)
{
    const char *script = proc_beside(t->arena, "../share/ingot/tools.sh", "../../scripts/tools.sh"),
               *path = tool_log_path(t->core, t->arena, of);
    int status;
    if (!script)
        return err_message(err, ERR_CONFLICT, NULL, MESSAGE_TOOL_NO_SCRIPT);
    if (!fs_mkdirs(arena_printf(t->arena, "%s/cache/tools", t->core->data), 0755, err))
        return false;
    auto_fd int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (anew ? O_TRUNC : 0), 0600);
    if (log < 0)
        return err_errno(err, errno, "cannot write %s", path);
    struct following f = {.task = t, .log = log};
    const char *argv[] = {
        "/usr/bin/env", "INGOT_FOLLOWED=1", "/bin/sh", script, tools_dir(t->core->tools), word, more, NULL};
    const struct proc_follow p = {
        .argv = (char *const *)argv, .log = log, .line = take_line, .go_on = go_on, .ctx = &f};
    if (!proc_follow(&p, &status, err))
        return false;
    return status == 0 ||
           err_message(err, ERR_UPSTREAM, NULL, MESSAGE_TOOL_FETCH, STR_ARG(log_last_line(t->arena, path)));
}

static bool has_room(struct task *t, const struct tool *tool, struct err *err)
{
    const char *dir = tools_dir(t->core->tools);
    if (!fs_mkdirs(dir, 0755, err))
        return false;
    const int64_t wanted = tool->installed * 2, there = (int64_t)fs_free_bytes(dir);
    return there >= wanted ||
           err_message(err, ERR_QUOTA, NULL, MESSAGE_TOOL_ROOM, (double)wanted / 1e9, (double)there / 1e9);
}

static bool end_row(struct task *t, int64_t id, const char *doing, const struct err *why, struct err *err)
{
    return engine_write_status(t->core, &kind_tool, id,
                               ENGINE_STATUSES(status_set("doing", db_textz(doing)),
                                               status_set("reason", db_textz(why ? why->message : "")),
                                               status_set("reason_zh", db_textz(why ? err_zh(why) : ""))),
                               err);
}

static bool run_fetch(struct task *t, struct err *err)
{
    struct object o;
    struct err ignored = {0};
    if (!engine_get(t->core, &caller_system, &kind_tool, 0, t->subject, t->arena, &o, err))
        return false;
    const struct tool *tool = tool_find(object_text(&o, "name"));
    if (!tool)
        return err_set(err, ERR_NOT_FOUND, NULL, "this program has no such tool");
    if (has_room(t, tool, err) &&
        run_script(t, tool->name, !tool_installed(t->core, tool, t->arena), tool->name, NULL, err))
        return end_row(t, o.id, "", NULL, err);
    /* One that the server's end interrupts goes on later; one that a person cancelled is only not there. */
    if (err->code != ERR_UNAVAILABLE && !(err->id && strcmp(err->id, "task-cancelled") == 0))
        end_row(t, o.id, "failed", err, &ignored);
    return false;
}

/* A half installed one is removed, and nothing is fetched any more. */
static void undo_fetch(struct task *t)
{
    struct object o;
    struct err ignored = {0};
    if (!engine_get(t->core, &caller_system, &kind_tool, 0, t->subject, t->arena, &o, &ignored))
        return;
    const struct tool *tool = tool_find(object_text(&o, "name"));
    if (tool && !tool_installed(t->core, tool, t->arena))
        fs_remove_tree(AT_FDCWD, arena_printf(t->arena, "%s/%s", tools_dir(t->core->tools), tool->name),
                       &ignored);
    if (str_is(object_text(&o, "doing"), "fetching"))
        end_row(t, o.id, "", NULL, &ignored);
}

const struct task_type task_tool_fetch = {.name = "tool_fetch",
                                          .title = {"Install a tool", "安装工具"},
                                          .run = run_fetch,
                                          .undo = undo_fetch,
                                          .undo_always = true,
                                          .at_once = 1};

static bool run_import(struct task *t, struct err *err)
{
    struct digest blob;
    int64_t size;
    if (!digest_parse(json_str(yyjson_obj_get(t->params, "blob")), &blob))
        return err_set(err, ERR_INTERNAL, NULL, "the task names no file");
    auto_fd int fd = blob_open(t->core->store, &blob, &size, err);
    if (fd < 0 || !fs_mkdirs(tools_dir(t->core->tools), 0755, err))
        return false;
    return run_script(t, "import", true, "--from",
                      arena_printf(t->arena, "/proc/%d/fd/%d", (int)getpid(), fd), err);
}

const struct task_type task_tool_import = {
    .name = "tool_import", .title = {"Import tools", "导入工具"}, .run = run_import, .at_once = 1};
