#include "core/serve/health.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define TIME_NS  UINT64_C(2000000000)
#define HEAD     12 /* "HTTP/1.1 200" */
#define TEXT_MAX 1024

struct talk {
    struct health_question *q;
    int fd; /* -1: it is over */
    bool sent;
    char head[HEAD];
    size_t n;
};

static void end(struct talk *t, bool well, const char *reason)
{
    t->q->well = well;
    snprintf(t->q->reason, sizeof t->q->reason, "%.*s", (int)sizeof t->q->reason - 1, reason);
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
}

static void begin(struct exec *x, struct talk *t)
{
    struct err err = {0};
    t->fd = x ? x->ops->connect(x, t->q->container, t->q->port, &err) : -1;
    if (t->fd < 0)
        end(t, false, x ? err.message : "this server runs no containers");
}

static void ask(struct talk *t)
{
    char text[TEXT_MAX];
    int n = snprintf(text, sizeof text,
                     "GET %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: ingot-health\r\nConnection: "
                     "close\r\n\r\n",
                     t->q->path);
    if (n < 0 || n >= (int)sizeof text || send(t->fd, text, (size_t)n, MSG_NOSIGNAL) != n)
        end(t, false, "it took no request");
    t->sent = true;
}

static void judge(struct talk *t)
{
    int64_t status;
    char reason[64];
    if (memcmp(t->head, "HTTP/1.", 7) != 0 || !str_to_i64((struct str){t->head + 9, 3}, &status)) {
        end(t, false, "what it answered is no HTTP");
        return;
    }
    snprintf(reason, sizeof reason, "GET answered %lld", (long long)status);
    end(t, status >= 200 && status < 400, reason);
}

static void hear(struct talk *t)
{
    ssize_t n = recv(t->fd, t->head + t->n, HEAD - t->n, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        end(t, false, "it ended the connection without an answer");
        return;
    }
    t->n += (size_t)n;
    if (t->n == HEAD)
        judge(t);
}

/* False: nobody is left, or the time is over. */
static bool go_on(struct talk *talks, size_t n, struct pollfd *fds, uint64_t until)
{
    size_t open = 0;
    uint64_t now = clock_mono();
    for (size_t i = 0; i < n; i++) {
        fds[i] = (struct pollfd){.fd = talks[i].fd, .events = talks[i].sent ? POLLIN : POLLOUT};
        open += talks[i].fd >= 0;
    }
    if (!open || now >= until || poll(fds, n, (int)((until - now) / 1000000) + 1) < 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (talks[i].fd < 0 || !fds[i].revents)
            continue;
        if (talks[i].sent)
            hear(&talks[i]);
        else
            ask(&talks[i]);
    }
    return true;
}

void health_ask(struct core *core, struct health_question *q, size_t n)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct exec *x = jobs_exec(core->jobs);
    struct talk *talks = arena_array(&a, struct talk, n + 1);
    struct pollfd *fds = arena_array(&a, struct pollfd, n + 1);
    uint64_t until = clock_mono() + TIME_NS;
    for (size_t i = 0; i < n; i++) {
        talks[i] = (struct talk){.q = &q[i], .fd = -1};
        begin(x, &talks[i]);
    }
    while (go_on(talks, n, fds, until)) {
    }
    for (size_t i = 0; i < n; i++)
        if (talks[i].fd >= 0)
            end(&talks[i], false, "it did not answer within two seconds");
}
