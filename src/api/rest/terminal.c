/* A shell or another command in a job's container, over a WebSocket: binary messages are its bytes both ways.
 * Text messages from the client: {"rows":24,"cols":80} resizes the terminal, {"eof":true} ends the input of a
 * command without one. The last message to the client is the text {"exit_code":0}. */
#include "api/auth.h"
#include "api/lasting.h"
#include "api/rest/jobs.h"
#include "base/thread.h"
#include "core/environment/environment.h"
#include "core/environment/tools.h"
#include "core/job/job.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#define PIECE      (32 << 10)
#define PENDING    (1 << 20)
#define INPUT      (16 << 20)
#define PERMISSION "job.create"

struct terminal {
    atomic_uint refs; /* its thread, and the table of what lasts */
    struct core *core;
    struct exec *exec;
    struct exec_attach attach;
    bool tty;
    int64_t job, project;
    bool counts;        /* what is typed and printed is a use of an environment */
    bool administrator; /* opened as one */
    int wake;           /* eventfd: there is input */
    pthread_mutex_t lock;
    pthread_cond_t drained;
    struct ws *ws; /* NULL once it is closed */
    bool full;
    struct buf input; /* not taken by the command yet */
    bool eof;
};

static void wake(struct terminal *t)
{
    uint64_t one = 1;
    ssize_t n = write(t->wake, &one, sizeof one);
    (void)n; /* full: it is awake */
}

static void take_input(struct terminal *t, struct ws *w, struct str data)
{
    pthread_mutex_lock(&t->lock);
    bool fits = t->input.n + data.n <= INPUT;
    if (fits)
        buf_str(&t->input, data);
    pthread_mutex_unlock(&t->lock);
    wake(t);
    if (t->counts)
        tools_touch(t->core->tools, t->job);
    if (!fits)
        ws_close(w, 1009, "the command does not take its input");
}

static void on_message(struct ws *w, bool text, struct str data, void *ctx)
{
    struct terminal *t = ctx;
    struct err err = {0};
    if (!text) {
        take_input(t, w, data);
        return;
    }
    auto_arena struct arena a;
    arena_init(&a);
    yyjson_val *v = json_parse(&a, data, &err);
    int64_t rows = yyjson_get_sint(yyjson_obj_get(v, "rows")),
            cols = yyjson_get_sint(yyjson_obj_get(v, "cols"));
    if (rows > 0 && rows <= 1000 && cols > 0 && cols <= 1000)
        t->exec->ops->attach_resize(&t->attach, (unsigned)rows, (unsigned)cols, &err);
    if (yyjson_get_bool(yyjson_obj_get(v, "eof")) && !t->tty) {
        pthread_mutex_lock(&t->lock);
        t->eof = true;
        pthread_mutex_unlock(&t->lock);
        wake(t);
    }
}

static void on_drained(struct ws *w, void *ctx)
{
    (void)w;
    struct terminal *t = ctx;
    pthread_mutex_lock(&t->lock);
    t->full = false;
    pthread_cond_signal(&t->drained);
    pthread_mutex_unlock(&t->lock);
}

static void on_closed(struct ws *w, int code, void *ctx)
{
    (void)w;
    (void)code;
    struct terminal *t = ctx;
    pthread_mutex_lock(&t->lock);
    t->exec->ops->attach_stop(&t->attach); /* the client, which could end it, is gone */
    t->ws = NULL;
    pthread_cond_signal(&t->drained);
    wake(t);
    pthread_mutex_unlock(&t->lock); /* the thread may free it from here on */
}

/* false when the other side is gone. */
static bool send_piece(struct terminal *t, const char *p, size_t n)
{
    pthread_mutex_lock(&t->lock);
    while (t->ws && t->full)
        pthread_cond_wait(&t->drained, &t->lock);
    bool open = t->ws != NULL;
    if (open && n && t->counts)
        tools_touch(t->core->tools, t->job);
    if (open && n)
        t->full = ws_send(t->ws, false, (struct str){p, n}) > PENDING;
    pthread_mutex_unlock(&t->lock);
    return open;
}

/* Others' terminals are for administrators only. */
static bool still_may(void *ctx, const struct caller *now)
{
    const struct terminal *t = ctx;
    return !t->administrator || now->administrator;
}

static void end_terminal(void *ctx)
{
    struct terminal *t = ctx;
    pthread_mutex_lock(&t->lock);
    if (t->ws)
        ws_close(t->ws, 1008, "you may not use this terminal any more");
    pthread_mutex_unlock(&t->lock);
}

/* What the command takes now; true when more waits. */
static bool give_input(struct terminal *t)
{
    pthread_mutex_lock(&t->lock);
    ssize_t n = t->input.n ? write(t->attach.fd, t->input.p, t->input.n) : 0;
    if (n > 0)
        buf_consume(&t->input, (size_t)n);
    else if (n < 0 && errno != EAGAIN && errno != EINTR)
        buf_clear(&t->input); /* it closed its input */
    if (t->input.n == 0 && t->eof) {
        shutdown(t->attach.fd, SHUT_WR);
        t->eof = false;
    }
    bool more = t->input.n > 0;
    pthread_mutex_unlock(&t->lock);
    return more;
}

/* Bytes both ways until the command or the client ends. */
static void pass_bytes(struct terminal *t)
{
    char *space = base_alloc(PIECE);
    for (bool open = true; open;) {
        bool more = give_input(t);
        struct pollfd p[] = {{.fd = t->attach.fd, .events = (short)(more ? POLLIN | POLLOUT : POLLIN)},
                             {.fd = t->wake, .events = POLLIN}};
        int ready = poll(p, countof(p), -1);
        uint64_t ignored;
        if (ready > 0 && p[1].revents && read(t->wake, &ignored, sizeof ignored) < 0)
            ready = 0;
        bool readable = ready > 0 && p[0].revents & (POLLIN | POLLHUP | POLLERR);
        ssize_t n = readable ? read(t->attach.fd, space, PIECE) : -1;
        bool ended = readable && (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR));
        open = send_piece(t, space, n > 0 ? (size_t)n : 0) && !ended;
    }
    free(space);
}

static void tell_end(struct terminal *t)
{
    char text[64];
    int code;
    struct err err = {0};
    pthread_mutex_lock(&t->lock);
    bool open = t->ws != NULL;
    pthread_mutex_unlock(&t->lock);
    if (!open || !t->exec->ops->attach_wait(&t->attach, &code, &err))
        return;
    int n = snprintf(text, sizeof text, "{\"exit_code\":%d}", code);
    pthread_mutex_lock(&t->lock);
    if (t->ws) {
        ws_send(t->ws, true, (struct str){text, (size_t)n});
        ws_close(t->ws, 1000, "the command ended");
    }
    while (t->ws)
        pthread_cond_wait(&t->drained, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

static void terminal_unref(void *ctx)
{
    struct terminal *t = ctx;
    if (atomic_fetch_sub(&t->refs, 1) != 1)
        return;
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->drained);
    buf_release(&t->input);
    close(t->wake);
    free(t);
}

static void run_all(void *arg)
{
    struct terminal *t = arg;
    pass_bytes(t);
    tell_end(t);
    t->exec->ops->attach_close(&t->attach);
    terminal_unref(t);
}

/* The words of the parameter argv, a JSON list; the default is a shell. */
static bool read_argv(struct api_call *call, const char ***ret, size_t *ret_n, struct err *err)
{
    static const char *shell[] = {"/bin/sh", "-c",
                                  "command -v bash >/dev/null && exec bash -i || exec sh -i"};
    struct str text;
    *ret = shell;
    *ret_n = countof(shell);
    if (!request_param(call->request, "argv", &text, err))
        return !err->code;
    struct err bad = {0};
    yyjson_val *list = json_parse(call->arena, text, &bad), *v;
    size_t i, max;
    if (!yyjson_is_arr(list) || yyjson_arr_size(list) == 0 || yyjson_arr_size(list) > 1000)
        return err_set(err, ERR_INVALID, "argv", "argv: a JSON list of 1 to 1000 words");
    *ret = arena_array(call->arena, const char *, yyjson_arr_size(list));
    *ret_n = yyjson_arr_size(list);
    yyjson_arr_foreach(list, i, max, v)
    {
        struct str word = json_str(v);
        if (!word.p || memchr(word.p, 0, word.n) || (i == 0 && word.n == 0))
            return err_set(err, ERR_INVALID, "argv", "argv: each word is a text, the first not empty");
        (*ret)[i] = word.p;
    }
    return true;
}

static bool read_tty(struct api_call *call, bool *ret, struct err *err)
{
    struct str text;
    *ret = true;
    if (!request_param(call->request, "tty", &text, err))
        return !err->code;
    *ret = str_is(text, "1");
    return *ret || str_is(text, "0") || err_set(err, ERR_INVALID, "tty", "tty: must be 0 or 1");
}

static bool runs(const struct object *job, struct err *err)
{
    return !job_is_over(job_state_of(job)) ||
           err_set(err, ERR_CONFLICT, "state", "the job does not run any more: it is " STR_FMT,
                   STR_ARG(object_text(job, "state")));
}

static bool open_terminal(struct api_call *call, struct terminal *t, struct err *err)
{
    static const char *const env[] = {"TERM=xterm-256color"};
    struct object job;
    struct exec_id id;
    const char **argv;
    size_t n;
    if (!auth_socket_ok(call->core, call->request, &call->caller, err) ||
        !jobs_find(call, PERMISSION, &job, err) ||
        !tools_own(call->core, &call->caller, &job, call->arena, err) || !runs(&job, err) ||
        !jobs_container(call, &job, &id, err) || !read_argv(call, &argv, &n, err) ||
        !read_tty(call, &t->tty, err))
        return false;
    t->core = call->core;
    t->job = job.id;
    t->project = job.project;
    t->counts = str_is(object_text(&job, "owner_kind"), kind_environment.name);
    t->administrator = call->caller.administrator;
    t->exec = jobs_exec(call->core->jobs);
    struct exec_attach_spec spec = {
        .argv = argv, .n_argv = n, .env = env, .n_env = t->tty ? 1 : 0, .tty = t->tty};
    return t->exec->ops->attach(t->exec, id, &spec, &t->attach, err);
}

static void run_terminal(struct api_call *call)
{
    static const struct ws_events events = {on_message, on_drained, on_closed};
    struct terminal *t = base_zalloc(sizeof *t);
    struct err err = {0};
    if (!open_terminal(call, t, &err)) {
        free(t);
        api_problem(call, &err, NULL, 0);
        return;
    }
    atomic_init(&t->refs, 2);
    t->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->drained, NULL);
    lasting_add(call->request, &call->caller,
                &(struct lasting_terms){.permission = PERMISSION,
                                        .project = t->project,
                                        .may = still_may,
                                        .end = end_terminal,
                                        .over = terminal_unref,
                                        .ctx = t});
    pthread_mutex_lock(&t->lock);
    t->ws = respond_ws(call->request, &(struct ws_options){.max_message = 64 << 10}, &events, t);
    bool refused = !t->ws;
    pthread_mutex_unlock(&t->lock);
    if (refused)
        wake(t);
    lasting_thread("terminal", run_all, t);
}

const struct route terminal_routes[] = {
    {"GET", "/api/v1/jobs/{job_id}/terminal", NULL, run_terminal,
     .summary = "A shell or a command in a job's container (WebSocket)",
     .query = "rank:int attempt:int argv tty:int", .status = 101},
    {0},
};
