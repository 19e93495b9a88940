/* A shell in a job's container, over a WebSocket: binary messages are the terminal's bytes both ways, a text
 * message
 * {"rows":24,"cols":80} resizes it. */
#include "api/auth.h"
#include "api/jobs.h"
#include "base/pool.h"
#include "core/job/job.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>

#define PIECE   (32 << 10)
#define PENDING (1 << 20)

struct terminal {
    struct exec *exec;
    struct exec_attach attach;
    pthread_mutex_t lock;
    pthread_cond_t drained;
    struct ws *ws; /* NULL once it is closed */
    bool full;
};

static void on_message(struct ws *w, bool text, struct str data, void *ctx)
{
    (void)w;
    struct terminal *t = ctx;
    struct err err = {0};
    if (!text) {
        /* A terminal that takes nothing loses keys, as a real one does. */
        while (data.n > 0) {
            ssize_t n = write(t->attach.fd, data.p, data.n);
            if (n <= 0)
                return;
            data.p += n;
            data.n -= (size_t)n;
        }
        return;
    }
    auto_arena struct arena a;
    arena_init(&a);
    yyjson_val *v = json_parse(&a, data, &err);
    int64_t rows = yyjson_get_sint(yyjson_obj_get(v, "rows")),
            cols = yyjson_get_sint(yyjson_obj_get(v, "cols"));
    if (rows > 0 && rows < 1000 && cols > 0 && cols < 1000)
        t->exec->ops->attach_resize(&t->attach, (unsigned)rows, (unsigned)cols, &err);
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
    t->ws = NULL;
    pthread_cond_signal(&t->drained);
    pthread_mutex_unlock(&t->lock);
}

/* false when the other side is gone. */
static bool send_piece(struct terminal *t, const char *p, size_t n)
{
    pthread_mutex_lock(&t->lock);
    while (t->ws && t->full)
        pthread_cond_wait(&t->drained, &t->lock);
    bool open = t->ws != NULL;
    if (open && n)
        t->full = ws_send(t->ws, false, (struct str){p, n}) > PENDING;
    pthread_mutex_unlock(&t->lock);
    return open;
}

static void *terminal_thread(void *arg)
{
    struct terminal *t = arg;
    char *space = base_alloc(PIECE);
    bool open = true;
    while (open) {
        struct pollfd p = {.fd = t->attach.fd, .events = POLLIN};
        int ready = poll(&p, 1, 500);
        ssize_t n = ready > 0 ? read(t->attach.fd, space, PIECE) : -1;
        bool ended = ready > 0 && (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR));
        open = send_piece(t, space, n > 0 ? (size_t)n : 0) && !ended;
    }
    pthread_mutex_lock(&t->lock);
    if (t->ws)
        ws_close(t->ws, 1000, "the shell ended");
    while (t->ws)
        pthread_cond_wait(&t->drained, &t->lock);
    pthread_mutex_unlock(&t->lock);
    t->exec->ops->attach_close(&t->attach);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->drained);
    free(space);
    free(t);
    return NULL;
}

/* A page of another site must not open a shell with the cookie of whoever looks at it. */
static bool same_site(struct api_call *call, struct err *err)
{
    struct str origin = request_header(call->request, "origin");
    if (call->caller.token || !origin.p)
        return call->caller.token ||
               err_set(err, ERR_FORBIDDEN, NULL, "a terminal needs the page's own Origin");
    struct str host = origin;
    ptrdiff_t at = str_find(origin, STR("://"));
    if (at >= 0)
        host = (struct str){origin.p + at + 3, origin.n - (size_t)at - 3};
    return str_eq(host, call->request->host) ||
           err_set(err, ERR_FORBIDDEN, NULL, "the Origin is another site's");
}

static bool open_terminal(struct api_call *call, struct terminal *t, struct err *err)
{
    static const char *const argv[] = {"/bin/sh", "-c",
                                       "command -v bash >/dev/null && exec bash -i || exec sh -i"};
    static const char *const env[] = {"TERM=xterm-256color"};
    struct object job;
    struct exec_id id;
    if (!same_site(call, err) || !jobs_find(call, "job.create", &job, err) ||
        !jobs_container(call, &job, &id, err))
        return false;
    t->exec = jobs_exec(call->core->jobs);
    struct exec_attach_spec spec = {
        .argv = argv, .n_argv = countof(argv), .env = env, .n_env = 1, .tty = true};
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
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->drained, NULL);
    pthread_mutex_lock(&t->lock);
    t->ws = respond_ws(call->request, &(struct ws_options){.max_message = 64 << 10}, &events, t);
    pthread_mutex_unlock(&t->lock);
    pthread_detach(thread_start("terminal", terminal_thread, t));
}

const struct route terminal_routes[] = {
    {"GET", "/api/v1/jobs/{job}/terminal", NULL, run_terminal,
     .summary = "A shell in a job's container (WebSocket)", .query = "rank attempt", .status = 101},
    {0},
};
