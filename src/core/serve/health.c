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

struct health_talk {
    int fd; /* -1: it is over */
    uint64_t until;
    bool sent;
    char text[TEXT_MAX];
    size_t n_text;
    char head[HEAD];
    size_t n;
    struct health_answer answer;
};

static void end(struct health_talk *t, bool well, const char *reason)
{
    t->answer.well = well;
    snprintf(t->answer.reason, sizeof t->answer.reason, "%.*s", (int)sizeof t->answer.reason - 1, reason);
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
}

struct health_talk *health_ask(struct core *core, struct exec_id container, uint16_t port, const char *path)
{
    struct health_talk *t = base_zalloc(sizeof *t);
    struct exec *x = jobs_exec(core->jobs);
    struct err err = {0};
    int n = snprintf(t->text, sizeof t->text,
                     "GET %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: ingot-health\r\nConnection: "
                     "close\r\n\r\n",
                     path);
    t->n_text = n > 0 && n < (int)sizeof t->text ? (size_t)n : 0;
    t->until = clock_mono() + TIME_NS;
    t->fd = x && t->n_text ? x->ops->connect(x, container, port, &err) : -1;
    if (t->fd < 0)
        end(t, false, x ? err.message : "this server runs no containers");
    return t;
}

static bool ready(const struct health_talk *t, short what)
{
    struct pollfd p = {.fd = t->fd, .events = what};
    return poll(&p, 1, 0) == 1;
}

static void judge(struct health_talk *t)
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

static void hear(struct health_talk *t)
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

bool health_heard(struct health_talk *t, struct health_answer *ret)
{
    if (t->fd >= 0 && !t->sent && ready(t, POLLOUT)) {
        t->sent = true;
        if (send(t->fd, t->text, t->n_text, MSG_NOSIGNAL) != (ssize_t)t->n_text)
            end(t, false, "it took no request");
    }
    if (t->fd >= 0 && t->sent && ready(t, POLLIN))
        hear(t);
    if (t->fd >= 0 && clock_mono() >= t->until)
        end(t, false, "it did not answer within two seconds");
    if (t->fd >= 0)
        return false;
    *ret = t->answer;
    return true;
}

void health_wait(struct health_talk *const *t, size_t n, int ms)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct pollfd *fds = arena_array(&a, struct pollfd, n + 1);
    size_t open = 0;
    for (size_t i = 0; i < n; i++)
        if (t[i] && t[i]->fd >= 0)
            fds[open++] = (struct pollfd){.fd = t[i]->fd, .events = t[i]->sent ? POLLIN : POLLOUT};
    if (open)
        poll(fds, open, ms);
}

void health_end(struct health_talk *t)
{
    if (t && t->fd >= 0)
        close(t->fd);
    free(t);
}
