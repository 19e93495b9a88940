#include "net/loop.h"

#include "base/log.h"
#include "base/thread.h"
#include "net/accesslog.h"
#include "net/conn.h"
#include "net/server.h"
#include "net/upstream.h"

#define STOP_TURNS 32 /* of accepting; more than the kernel keeps */

static _Thread_local struct loop *current;

struct loop *loop_current(void)
{
    return current;
}

void loop_post(struct loop *l, struct task *t)
{
    t->next = NULL;
    pthread_mutex_lock(&l->lock);
    *l->tail = t;
    l->tail = &t->next;
    bool wake = !l->woken;
    l->woken = true;
    /* Under the lock, so that the handle cannot be closed in between. */
    if (wake)
        uv_async_send(&l->wake);
    pthread_mutex_unlock(&l->lock);
}

static void run_posted(struct loop *l)
{
    pthread_mutex_lock(&l->lock);
    struct task *t = l->head;
    l->head = NULL;
    l->tail = &l->head;
    l->woken = false;
    pthread_mutex_unlock(&l->lock);
    while (t) {
        struct task *next = t->next;
        t->run(t);
        t = next;
    }
}

static void end_if_drained(struct loop *l)
{
    if (!l->stopping || l->conn_count || l->exchanges)
        return;
    uv_stop(&l->uv);
}

static void on_wake(uv_async_t *h)
{
    run_posted(h->data);
}

static void on_before(uv_prepare_t *h)
{
    struct loop *l = h->data;
    accesslog_flush(l);
    end_if_drained(l);
}

static void on_listen(uv_poll_t *h, int status, int events);

static void close_all(struct loop *l)
{
    l->expired = true;
    for (struct conn *c = l->conns, *next; c; c = next) {
        next = c->next;
        conn_fail(c);
    }
}

static void check_stop(struct loop *l, uint64_t now)
{
    if (!l->stopping)
        return;
    if (now >= l->stop_at && !l->expired)
        close_all(l);
    if (l->expired && l->exchanges && now >= l->warned_at) {
        log_warn("stopping waits for %u requests that were not answered", l->exchanges);
        l->warned_at = now + 10000;
    }
}

static void on_tick(uv_timer_t *h)
{
    struct loop *l = h->data;
    uint64_t now = uv_now(&l->uv);
    if (l->accept_paused) {
        l->accept_paused = false;
        if (l->listening)
            uv_poll_start(&l->listener, UV_READABLE, on_listen);
        server_accept(l);
    }
    for (struct conn *c = l->conns, *next; c; c = next) {
        next = c->next;
        conn_check_time(c, now);
    }
    check_stop(l, now);
    if (!l->conn_count && !l->stopping && !l->accept_paused)
        uv_timer_stop(&l->tick);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

void loop_tick_start(struct loop *l)
{
    if (uv_is_active((uv_handle_t *)&l->tick))
        return;
    const struct http_limits *m = &l->server->limits;
    unsigned ms = least(least(m->header_timeout_ms, m->idle_timeout_ms),
                        least(m->body_timeout_ms, m->write_timeout_ms)) /
                  8;
    ms = ms < 10 ? 10 : least(ms, 1000);
    uv_timer_start(&l->tick, on_tick, ms, ms);
}

static void on_listen(uv_poll_t *h, int status, int events)
{
    (void)events;
    if (status == 0)
        server_accept(h->data);
}

struct loop *loop_new(struct http_server *server, int listen_fd)
{
    struct loop *l = base_zalloc(sizeof *l);
    l->server = server;
    l->listen_fd = listen_fd;
    l->tail = &l->head;
    l->upstreams = upstream_pool_new();
    pthread_mutex_init(&l->lock, NULL);
    buf_init(&l->cork);
    buf_init(&l->log);
    uv_loop_init(&l->uv);
    uv_async_init(&l->uv, &l->wake, on_wake);
    uv_timer_init(&l->uv, &l->tick);
    uv_prepare_init(&l->uv, &l->before);
    uv_poll_init(&l->uv, &l->listener, listen_fd);
    l->wake.data = l->tick.data = l->before.data = l->listener.data = l;
    uv_prepare_start(&l->before, on_before);
    uv_poll_start(&l->listener, UV_READABLE, on_listen);
    l->listening = true;
    return l;
}

static void *run(void *arg)
{
    struct loop *l = arg;
    current = l;
    uv_run(&l->uv, UV_RUN_DEFAULT);
    uv_close((uv_handle_t *)&l->wake, NULL);
    uv_close((uv_handle_t *)&l->tick, NULL);
    uv_close((uv_handle_t *)&l->before, NULL);
    if (l->listening)
        uv_close((uv_handle_t *)&l->listener, NULL);
    uv_run(&l->uv, UV_RUN_DEFAULT);
    accesslog_flush(l);
    current = NULL;
    return NULL;
}

void loop_start(struct loop *l)
{
    l->thread = thread_start("net", run, l);
}

struct stop_task {
    struct task task;
    struct loop *loop;
    unsigned timeout_ms;
};

static void stop_listening(struct loop *l)
{
    if (!l->listening)
        return;
    /* Clients whose connection the kernel has made already would see it reset. Sockets that were handed to us
     * stay open, and those clients are the next program's. */
    for (int turns = 0; !l->server->handed && turns < STOP_TURNS && server_accept(l);)
        turns++;
    l->listening = false;
    uv_close((uv_handle_t *)&l->listener, NULL);
    close(l->listen_fd);
}

static void run_stop(struct task *t)
{
    struct stop_task *s = container_of(t, struct stop_task, task);
    struct loop *l = s->loop;
    l->stopping = true;
    uv_update_time(&l->uv);
    l->stop_at = uv_now(&l->uv) + s->timeout_ms;
    free(s);
    stop_listening(l);
    upstream_pool_clear(l->upstreams);
    for (struct conn *c = l->conns, *next; c; c = next) {
        next = c->next;
        if (!c->closing && !c->failed && c->ev->drain)
            c->ev->drain(c);
    }
    loop_tick_start(l);
}

void loop_stop(struct loop *l, unsigned timeout_ms)
{
    struct stop_task *s = base_zalloc(sizeof *s);
    s->task.run = run_stop;
    s->loop = l;
    s->timeout_ms = timeout_ms;
    loop_post(l, &s->task);
}

void loop_join(struct loop *l)
{
    pthread_join(l->thread, NULL);
    uv_loop_close(&l->uv);
    upstream_pool_free(l->upstreams);
    arena_spares_release(&l->spares);
    pthread_mutex_destroy(&l->lock);
    buf_release(&l->cork);
    buf_release(&l->log);
    free(l);
}
