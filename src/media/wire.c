#include "media/wire.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

static bool send_all(int sock, const void *p, size_t n, struct err *err)
{
    for (const char *at = p; n > 0;) {
        ssize_t sent = send(sock, at, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return err_errno(err, errno, "cannot send to a media worker");
        at += sent;
        n -= (size_t)sent;
    }
    return true;
}

static bool send_sizes(int sock, const struct wire_sizes *s, int fd, struct err *err)
{
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    memset(&control, 0, sizeof control);
    struct iovec iov = {(void *)s, sizeof *s};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    if (fd >= 0) {
        msg.msg_control = control.space;
        msg.msg_controllen = sizeof control.space;
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    ssize_t n;
    do
        n = sendmsg(sock, &msg, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_errno(err, errno, "cannot send to a media worker");
    return send_all(sock, (const char *)s + n, sizeof *s - (size_t)n, err);
}

bool wire_send(int sock, struct str text, struct str data, int fd, struct err *err)
{
    struct wire_sizes s = {text.n, data.n};
    return send_sizes(sock, &s, fd, err) && send_all(sock, text.p, text.n, err) &&
           send_all(sock, data.p, data.n, err);
}

static bool wait_readable(int sock, int timeout_ms, struct err *err)
{
    struct pollfd p = {.fd = sock, .events = POLLIN};
    int n;
    do
        n = poll(&p, 1, timeout_ms);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_errno(err, errno, "cannot wait for a media worker");
    return n > 0 || err_set(err, ERR_UNAVAILABLE, NULL, "no answer within %d s", timeout_ms / 1000);
}

static bool receive_all(int sock, int timeout_ms, char *p, size_t n, bool *end, struct err *err)
{
    while (n > 0) {
        if (!wait_readable(sock, timeout_ms, err))
            return false;
        ssize_t got = recv(sock, p, n, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno != ECONNRESET)
            return err_errno(err, errno, "cannot hear a media worker");
        if (got <= 0) {
            *end = true;
            return false;
        }
        p += got;
        n -= (size_t)got;
    }
    return true;
}

static void take_fd(struct msghdr *msg, int *ret_fd)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
            memcpy(ret_fd, CMSG_DATA(c), sizeof *ret_fd);
}

static bool receive_sizes(int sock, int timeout_ms, struct wire_sizes *s, int *ret_fd, bool *end,
                          struct err *err)
{
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec iov = {s, sizeof *s};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control.space,
                         .msg_controllen = sizeof control.space};
    if (!wait_readable(sock, timeout_ms, err))
        return false;
    ssize_t n;
    do
        n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno != ECONNRESET)
        return err_errno(err, errno, "cannot hear a media worker");
    if (n <= 0) {
        *end = true;
        return false;
    }
    take_fd(&msg, ret_fd);
    return receive_all(sock, timeout_ms, (char *)s + n, sizeof *s - (size_t)n, end, err);
}

bool wire_receive(int sock, int timeout_ms, struct buf *text, struct buf *data, int *ret_fd, bool *ret_end,
                  struct err *err)
{
    struct wire_sizes s = {0};
    int fd = -1;
    *ret_end = false;
    bool ok = receive_sizes(sock, timeout_ms, &s, &fd, ret_end, err);
    if (ok && (s.text > WIRE_MAX_TEXT || s.data > WIRE_MAX_DATA))
        ok = err_set(err, ERR_INTERNAL, NULL, "a media worker sent a frame of %llu bytes",
                     (unsigned long long)s.data);
    if (ok) {
        buf_clear(text);
        buf_reserve(text, s.text + 1);
        buf_clear(data);
        buf_reserve(data, s.data + 1);
        ok = receive_all(sock, timeout_ms, text->p, s.text, ret_end, err) &&
             receive_all(sock, timeout_ms, data->p, s.data, ret_end, err);
    }
    if (ok) {
        text->n = s.text;
        data->n = s.data;
    }
    if (ok && ret_fd)
        *ret_fd = fd;
    else
        base_close_fd(&fd);
    return ok;
}
