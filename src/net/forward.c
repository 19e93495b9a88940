#include "net/forward.h"

#include "base/thread.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#define PIECE    (64 * 1024)
#define JOINS    128 /* connections of one port */
#define EVENTS   64
#define ATTEMPTS 16 /* accepted in one go */

/* What an event is about: a port (join NULL), one side of a connection, or (both NULL) the call to end. */
struct watch {
    struct forward *port;
    struct join *join;
    int side;
};

/* Bytes from one side to the other. */
struct flow {
    size_t at, n;
    bool eof, shut;
    char data[PIECE];
};

struct join {
    struct forward *owner;
    struct join *next, *prev;
    int fd[2];
    uint32_t mask[2];
    struct watch watch[2];
    uint64_t memory[FORWARD_MEMORY / sizeof(uint64_t)];
    struct flow flow[2]; /* from side i to side 1 - i */
};

struct forward {
    struct forward *next, *prev;
    struct forward_target t;
    int fd;
    uint16_t port;
    unsigned count;
    struct join *joins;
    struct watch watch;
};

struct forwards {
    pthread_t thread;
    pthread_mutex_t lock; /* of all below; held by the thread while it handles events */
    struct forward *ports;
    uint64_t closed; /* counts what was freed: events that were fetched before are not looked at */
    int epoll, wake;
    bool stop;
};

/* --- one connection --- */

static void set_mask(struct forwards *f, struct join *j, int side)
{
    const struct flow *in = &j->flow[side], *out = &j->flow[1 - side];
    uint32_t mask = (!in->eof && in->n == 0 ? EPOLLIN : 0) | (out->n ? EPOLLOUT : 0);
    struct epoll_event e = {.events = mask, .data.ptr = &j->watch[side]};
    if (mask == j->mask[side])
        return;
    /* One that nothing is wanted of would still tell of its end, again and again. */
    int what = !mask ? EPOLL_CTL_DEL : j->mask[side] ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(f->epoll, what, j->fd[side], &e) == 0)
        j->mask[side] = mask;
}

static void join_free(struct join *j)
{
    close(j->fd[0]);
    close(j->fd[1]);
    free(j);
}

static void join_close(struct join *j)
{
    struct forward *w = j->owner;
    *(j->prev ? &j->prev->next : &w->joins) = j->next;
    if (j->next)
        j->next->prev = j->prev;
    w->count--;
    join_free(j);
}

/* A side that breaks ends what comes from it like one that closes: what came before still goes on. */
static void take(struct flow *w, int fd)
{
    ssize_t n = recv(fd, w->data, PIECE, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    w->eof = n <= 0;
    w->at = 0;
    w->n = n > 0 ? (size_t)n : 0;
}

/* What a broken side does not take is dropped. */
static void give(struct flow *w, int fd)
{
    ssize_t n = send(fd, w->data + w->at, w->n, MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n < 0)
        w->eof = true;
    w->at += n > 0 ? (size_t)n : 0;
    w->n = n > 0 ? w->n - (size_t)n : 0;
}

static void pump(struct join *j, int side)
{
    struct flow *w = &j->flow[side];
    size_t fresh = 0;
    if (!w->n && !w->eof) {
        take(w, j->fd[side]);
        fresh = w->n;
    }
    if (w->n)
        give(w, j->fd[1 - side]);
    if (w->eof && !w->n && !w->shut) {
        shutdown(j->fd[1 - side], SHUT_WR);
        w->shut = true;
    }
    if (fresh && j->owner->t.passing)
        j->owner->t.passing(j->owner->t.ctx, j->memory, side == 0, fresh);
}

static void join_event(struct forwards *f, struct join *j, int side, uint32_t events)
{
    struct flow *back = &j->flow[1 - side];
    if (events & EPOLLERR) { /* nothing reaches it any more */
        back->n = 0;
        back->eof = true;
    }
    pump(j, side);
    pump(j, 1 - side);
    if (j->flow[0].shut && j->flow[1].shut) {
        join_close(j);
        f->closed++;
        return;
    }
    set_mask(f, j, 0);
    set_mask(f, j, 1);
}

/* --- ports --- */

static void join_open(struct forwards *f, struct forward *w, int client)
{
    int one = 1, there = w->count < JOINS ? w->t.connect(w->t.ctx) : -1;
    if (there < 0) {
        close(client);
        return;
    }
    struct join *j = base_alloc(sizeof *j);
    memset(j, 0, offsetof(struct join, flow));
    for (int i = 0; i < 2; i++) {
        j->fd[i] = i ? there : client;
        j->watch[i] = (struct watch){.join = j, .side = i};
        j->flow[i].at = j->flow[i].n = 0;
        j->flow[i].eof = j->flow[i].shut = false;
        fcntl(j->fd[i], F_SETFL, O_NONBLOCK);
        setsockopt(j->fd[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        setsockopt(j->fd[i], SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
    }
    j->owner = w;
    j->next = w->joins;
    if (j->next)
        j->next->prev = j;
    w->joins = j;
    w->count++;
    set_mask(f, j, 0);
    set_mask(f, j, 1);
}

static void port_event(struct forwards *f, struct forward *w)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        int client = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC);
        if (client < 0)
            return;
        join_open(f, w, client);
    }
}

static void handle(struct forwards *f, const struct epoll_event *e, int n)
{
    uint64_t closed = f->closed;
    for (int i = 0; i < n; i++) {
        struct watch *w = e[i].data.ptr;
        if (!w)
            continue;
        if (w->port)
            port_event(f, w->port);
        else
            join_event(f, w->join, w->side, e[i].events);
        if (f->closed != closed)
            return; /* a later event may be of what is gone; it comes again */
    }
}

static void *forwards_thread(void *arg)
{
    struct forwards *f = arg;
    struct epoll_event e[EVENTS];
    pthread_mutex_lock(&f->lock);
    while (!f->stop) {
        uint64_t closed = f->closed;
        pthread_mutex_unlock(&f->lock);
        int n = epoll_wait(f->epoll, e, EVENTS, -1);
        pthread_mutex_lock(&f->lock);
        if (f->closed == closed)
            handle(f, e, n);
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

static int listen_on(const char *host, uint16_t port, uint16_t *ret, struct err *err)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    bool v4 = inet_pton(AF_INET, host, &four.sin_addr) == 1;
    struct sockaddr *to = v4 ? (struct sockaddr *)&four : (struct sockaddr *)&six;
    socklen_t size = v4 ? sizeof four : sizeof six;
    int one = 1, fd = -1;
    if (!v4 && inet_pton(AF_INET6, host, &six.sin6_addr) != 1) {
        err_set(err, ERR_INVALID, NULL, "%s is no address", host);
        return -1;
    }
    fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (fd < 0 || bind(fd, to, size) != 0 || listen(fd, 64) != 0 || getsockname(fd, to, &size) != 0) {
        int saved = errno;
        base_close_fd(&fd);
        err_errno(err, saved, "cannot listen on %s port %u", host, port);
        if (saved == EADDRINUSE && err)
            err->code = ERR_EXISTS;
        return -1;
    }
    *ret = ntohs(v4 ? four.sin_port : six.sin6_port);
    return fd;
}

struct forward *forward_open(struct forwards *f, const char *host, uint16_t port,
                             const struct forward_target *t, struct err *err)
{
    uint16_t got;
    int fd = listen_on(host, port, &got, err);
    if (fd < 0)
        return NULL;
    struct forward *w = base_zalloc(sizeof *w);
    *w = (struct forward){.t = *t, .fd = fd, .port = got, .watch = {.port = w}};
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = &w->watch};
    pthread_mutex_lock(&f->lock);
    w->next = f->ports;
    if (w->next)
        w->next->prev = w;
    f->ports = w;
    epoll_ctl(f->epoll, EPOLL_CTL_ADD, fd, &e);
    pthread_mutex_unlock(&f->lock);
    return w;
}

uint16_t forward_port(const struct forward *w)
{
    return w->port;
}

void forward_close(struct forwards *f, struct forward *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&f->lock);
    for (struct join *j = w->joins, *next; j; j = next) {
        next = j->next;
        join_free(j);
    }
    *(w->prev ? &w->prev->next : &f->ports) = w->next;
    if (w->next)
        w->next->prev = w->prev;
    close(w->fd);
    f->closed++;
    pthread_mutex_unlock(&f->lock);
    free(w);
}

struct forwards *forwards_new(void)
{
    struct forwards *f = base_zalloc(sizeof *f);
    pthread_mutex_init(&f->lock, NULL);
    f->epoll = epoll_create1(EPOLL_CLOEXEC);
    f->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event e = {.events = EPOLLIN};
    epoll_ctl(f->epoll, EPOLL_CTL_ADD, f->wake, &e);
    f->thread = thread_start("forward", forwards_thread, f);
    return f;
}

void forwards_free(struct forwards *f)
{
    if (!f)
        return;
    pthread_mutex_lock(&f->lock);
    f->stop = true;
    pthread_mutex_unlock(&f->lock);
    eventfd_write(f->wake, 1);
    pthread_join(f->thread, NULL);
    while (f->ports)
        forward_close(f, f->ports);
    close(f->epoll);
    close(f->wake);
    pthread_mutex_destroy(&f->lock);
    free(f);
}
