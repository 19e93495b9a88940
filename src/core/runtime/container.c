/* The job that installs a runtime's packages. When its script has ended well it reads a pipe, which the task
 * takes for "save me" and answers when the version is there; a server that was killed meanwhile finds it
 * waiting. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/messages_runtime.h"
#include "core/runtime/runtime_own.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK_US   200000
#define ANSWER_MS 60000
#define PIECE     (64 << 10)
#define LOG_MAX   (8 << 20) /* of the container's log, beside what was fetched */

/* The shell's own commands only, but for the script. */
static const char wrapper[] = "/bin/sh " RUNTIME_PLACE "/configure.sh </dev/null || exit $?\n"
                              "until read -r word <" RUNTIME_PLACE "/" RUNTIME_PIPE "; do :; done\n"
                              "[ \"$word\" = saved ] || { echo 'the image could not be saved'; exit 1; }\n"
                              "echo 'the image is saved'\n";

static const char *pipe_of(const struct core *core, struct arena *a, int64_t runtime)
{
    return arena_printf(a, "%s/" RUNTIME_PIPE, runtime_folder(core, a, runtime));
}

static bool prepare(struct launch *u, struct err *err)
{
    const int64_t runtime = object_int(launch_job(u), "owner");
    const char *pipe = pipe_of(launch_core(u), launch_arena(u), runtime);
    if (mkfifo(pipe, 0644) != 0 && errno != EEXIST)
        return err_errno(err, errno, "cannot make %s", pipe);
    if (chmod(pipe, 0644) != 0)
        return err_errno(err, errno, "cannot make %s readable", pipe);
    static const char *const argv[] = {"/bin/sh", "-c", wrapper, "runtime"};
    launch_argv(u, argv, countof(argv));
    launch_mount(u, runtime_folder(launch_core(u), launch_arena(u), runtime), RUNTIME_PLACE, true);
    launch_env(u, "HOME", "/root");
    launch_root(u);
    launch_alone(u);
    return true;
}

const struct job_owner runtime_owner = {.kind = "runtime", .no_platform = true, .prepare = prepare};

/* --- while it works --- */

struct watching {
    struct task *task;
    const struct runtime_plan *plan;
    int log;
    int64_t offset, copied;
    int64_t steps;  /* packages that were unpacked, and those that were configured */
    char last[200]; /* line of its output */
};

static void take_line(struct watching *w, struct str line)
{
    struct err ignored = {0};
    if (line.n < EXEC_LOG_HEAD)
        return;
    struct str text = {line.p + EXEC_LOG_HEAD, line.n - EXEC_LOG_HEAD};
    w->steps += str_starts(text, "Unpacking ") || str_starts(text, "Setting up ");
    if (text.n && line.p[EXEC_LOG_HEAD - 2] != 'i')
        snprintf(w->last, sizeof w->last, STR_FMT, (int)(text.n > 190 ? 190 : text.n), text.p);
    if ((w->copied += (int64_t)text.n + 1) > LOG_MAX)
        return;
    fs_write_all(w->log, text.p, text.n, &ignored);
    fs_write_all(w->log, "\n", 1, &ignored);
}

static void follow_log(struct watching *w, struct exec_id id)
{
    struct exec *x = jobs_exec(w->task->core->jobs);
    auto_free char *space = base_alloc(PIECE);
    for (size_t n = 1; x && n;) {
        struct err ignored = {0};
        int64_t at = w->offset;
        size_t done = 0;
        n = 0;
        if (!x->ops->log_read(x, id, &at, space, PIECE, &n, &ignored))
            return;
        for (char *end; n > done && (end = memchr(space + done, '\n', n - done));) {
            take_line(w, (struct str){space + done, (size_t)(end - space) - done});
            done = (size_t)(end - space) + 1;
        }
        w->offset = at - (int64_t)n + (int64_t)done;
        n = done;
    }
}

/* The first half is what was fetched. */
static bool tell(struct watching *w, struct err *err)
{
    const int64_t all = w->plan->bytes, steps = 2 * w->plan->debs + 1;
    const int64_t part = w->steps < steps ? all / steps * w->steps : all;
    return task_progress(w->task, all + part, 2 * all, err);
}

static bool ended(const struct watching *w, const struct object *job, struct err *err)
{
    struct str reason = object_text(job, "reason");
    if (w->last[0])
        return err_message(err, ERR_CONFLICT, NULL, MESSAGE_RUNTIME_CONFIGURE, w->last);
    return err_message(err, ERR_CONFLICT, NULL, MESSAGE_RUNTIME_JOB, STR_ARG(reason));
}

bool runtime_await(struct task *t, int64_t id, const struct runtime_plan *plan, int log, struct err *err)
{
    struct watching w = {.task = t, .plan = plan, .log = log};
    const char *pipe = pipe_of(t->core, t->arena, t->subject);
    for (;; usleep(LOOK_US)) {
        auto_arena struct arena a;
        arena_init(&a);
        struct object job;
        if (!engine_get(t->core, &caller_system, &kind_job, 0, id, &a, &job, err))
            return false;
        const enum job_state state = job_state_of(&job);
        const struct exec_id container = {id, (int32_t)object_int(&job, "attempt"), 0};
        if (state != JOB_QUEUED && state != JOB_STARTING)
            follow_log(&w, container);
        if (job_is_over(state))
            return ended(&w, &job, err);
        auto_fd int fd = state == JOB_RUNNING ? open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC) : -1;
        if (fd >= 0)
            return true;
        if (!tell(&w, err))
            return false;
    }
}

/* --- its end --- */

static bool is_over(struct task *t, int64_t id)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct object job;
    struct err ignored = {0};
    return !engine_get(t->core, &caller_system, &kind_job, 0, id, &a, &job, &ignored) ||
           job_is_over(job_state_of(&job));
}

static bool stop_write(struct op *op, void *ctx, struct err *err)
{
    return job_stop(op, *(const int64_t *)ctx, "the runtime is not built", err);
}

void runtime_release(struct task *t, int64_t id, bool saved)
{
    static const char word[] = "saved\n";
    struct err ignored = {0};
    const char *pipe = pipe_of(t->core, t->arena, t->subject);
    const uint64_t until = clock_mono() + ANSWER_MS * UINT64_C(1000000);
    bool told = false;
    if (!saved) {
        engine_write(t->core, &caller_system, t->arena, stop_write, &id, &ignored);
        jobs_wake(t->core->jobs);
    }
    while (!is_over(t, id) && clock_mono() < until) {
        auto_fd int fd = saved && !told ? open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC) : -1;
        told = told || (fd >= 0 && write(fd, word, strlen(word)) == (ssize_t)strlen(word));
        usleep(LOOK_US / 4);
    }
}
