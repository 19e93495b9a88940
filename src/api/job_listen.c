#include "api/job_listen.h"

#include "api/lasting.h"
#include "base/log.h"
#include "base/thread.h"
#include "core/changes.h"
#include "core/job/job.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define CONNECTIONS 64 /* of one container */
#define LOOK_MS     1000
#define EVENTS      64
#define END_MS      10000

struct inside {
    struct inside *next;
    struct exec_id id;
    int fd;                     /* that listens; -1: it has none, or a server has it */
    struct http_server *server; /* since its first connection */
    bool runs;
    bool called; /* a program inside connects */
};

struct job_listeners {
    struct core *core;
    struct http_options http;
    struct inside *containers;
    int poll, wake; /* wake: eventfd */
    void *changes;
    _Atomic bool ending;
    pthread_t thread;
};

static struct inside *find(struct job_listeners *l, struct exec_id id)
{
    struct inside *c = l->containers;
    while (c && !exec_id_equal(c->id, id))
        c = c->next;
    return c;
}

static void add(struct job_listeners *l, struct exec *x, struct exec_id id)
{
    struct err none = {0};
    struct inside *c = base_zalloc(sizeof *c);
    *c = (struct inside){.next = l->containers, .id = id, .runs = true};
    c->fd = x->ops->listen(x, id, &none);
    l->containers = c;
    struct epoll_event e = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = c};
    if (c->fd >= 0 && epoll_ctl(l->poll, EPOLL_CTL_ADD, c->fd, &e) != 0)
        log_warn("job %lld: its connections cannot be taken: %s", (long long)id.job, strerror(errno));
}

static void end_server(void *server)
{
    http_stop(server, END_MS);
}

/* The supervisor has the socket open too, so that the poll would not notice the end of ours. */
static void let_go(struct job_listeners *l, struct inside *c)
{
    if (c->fd >= 0)
        epoll_ctl(l->poll, EPOLL_CTL_DEL, c->fd, NULL);
}

/* Those that have ended; their servers end on threads of their own, so that what their requests wait for
 * holds up no other container. */
static void sweep(struct job_listeners *l)
{
    for (struct inside **at = &l->containers, *c; (c = *at);) {
        if (c->runs) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        let_go(l, c);
        base_close_fd(&c->fd);
        if (c->server)
            lasting_thread("inside-end", end_server, c->server);
        free(c);
    }
}

/* Makes the list the containers that run. */
static void look(struct job_listeners *l)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct exec *x = jobs_exec(l->core->jobs);
    struct exec_status *list;
    size_t n;
    struct err err = {0};
    if (!x)
        return;
    if (!x->ops->list(x, &a, &list, &n, &err)) {
        log_warn("containers: %s", err.message);
        return;
    }
    for (struct inside *c = l->containers; c; c = c->next)
        c->runs = false;
    for (size_t i = 0; i < n; i++) {
        if (list[i].state != EXEC_RUNNING)
            continue;
        struct inside *c = find(l, list[i].id);
        if (c)
            c->runs = true;
        else
            add(l, x, list[i].id);
    }
    sweep(l);
}

/* From its first connection on. */
static void serve(struct job_listeners *l, struct inside *c)
{
    struct http_options o = l->http;
    struct err err = {0};
    o.socket = c->fd;
    o.tag = c->id.job;
    let_go(l, c);
    c->server = http_start(&o, &err); /* has the descriptor from here on */
    if (!c->server) {
        log_warn("job %lld: its connections cannot be taken: %s", (long long)c->id.job, err.message);
        base_close_fd(&c->fd);
    }
    c->fd = -1;
    c->called = false;
}

/* A supervisor's next container has the socket of the one before: which container runs is looked at after the
 * connection, so that it is not taken for the former's. */
static void serve_callers(struct job_listeners *l)
{
    look(l);
    for (struct inside *c = l->containers; c; c = c->next)
        if (c->called)
            serve(l, c);
}

static void *run(void *arg)
{
    struct job_listeners *l = arg;
    struct epoll_event events[EVENTS];
    uint64_t count;
    while (!l->ending) {
        serve_callers(l);
        int n = epoll_wait(l->poll, events, EVENTS, LOOK_MS);
        for (int i = 0; i < n; i++) {
            struct inside *c = events[i].data.ptr;
            if (c)
                c->called = true;
            else if (read(l->wake, &count, sizeof count) < 0)
                continue;
        }
    }
    return NULL;
}

static void wake(struct job_listeners *l)
{
    uint64_t one = 1;
    while (write(l->wake, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

static void on_change(void *ctx, const struct change *ch)
{
    if (strcmp(ch->kind, kind_job.name) == 0)
        wake(ctx);
}

struct job_listeners *job_listeners_start(struct core *core, const struct http_options *base)
{
    struct job_listeners *l = base_zalloc(sizeof *l);
    struct epoll_event e = {.events = EPOLLIN};
    l->core = core;
    l->http = (struct http_options){.handler = base->handler,
                                    .ctx = base->ctx,
                                    .limits = base->limits,
                                    .access_log_fd = base->access_log_fd,
                                    .threads = 1};
    l->http.limits.max_connections = CONNECTIONS;
    l->poll = epoll_create1(EPOLL_CLOEXEC);
    l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    epoll_ctl(l->poll, EPOLL_CTL_ADD, l->wake, &e);
    l->changes = changes_listen(core->changes, on_change, l);
    l->thread = thread_start("inside", run, l);
    return l;
}

void job_listeners_stop(struct job_listeners *l)
{
    if (!l)
        return;
    changes_drop(l->core->changes, l->changes);
    l->ending = true;
    wake(l);
    pthread_join(l->thread, NULL);
    for (struct inside *c = l->containers, *next; c; c = next) {
        next = c->next;
        base_close_fd(&c->fd);
        if (c->server)
            lasting_thread("inside-end", end_server, c->server); /* all at the same time */
        free(c);
    }
    close(l->poll);
    close(l->wake);
    free(l);
}
