#include "exec/shim/shim.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define IDLE_MS 5000
#define TURNS   100 /* containers one after the other */

bool reuse_clear(const struct plan *p)
{
    static int turns;
    return !fail_reason[0] && *plan_get(p, "keep") && ++turns < TURNS && wire_unused() &&
           (stage_keep(p) || (stage_clear(p) && disk_clear()));
}

enum { FOLDER, CTL, CRUN, FDS };

/* The server's order: a byte, and the descriptors of the next container. */
static bool take(int flags)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * FDS)];
    } c;
    char byte;
    struct iovec iov = {&byte, 1};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c};
    if (recvmsg(SHIM_REUSE_FD, &m, flags | MSG_CMSG_CLOEXEC) != 1)
        return false;
    struct cmsghdr *h = CMSG_FIRSTHDR(&m);
    int fds[FDS];
    if (!h || h->cmsg_type != SCM_RIGHTS || h->cmsg_len != CMSG_LEN(sizeof fds))
        return false;
    memcpy(fds, CMSG_DATA(h), sizeof fds);
    job_dir = fds[FOLDER];
    bool ok = dup3(fds[CTL], SHIM_CTL_FD, O_CLOEXEC) >= 0 && dup3(fds[CRUN], SHIM_CRUN_FD, O_CLOEXEC) >= 0;
    close(fds[CTL]);
    close(fds[CRUN]);
    return ok;
}

bool reuse_is_alone(void)
{
    struct pollfd p = {.fd = SHIM_REUSE_FD, .events = POLLIN};
    return poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR | POLLNVAL);
}

bool reuse_next(void)
{
    close(job_dir);
    job_dir = -1;
    dup3(0, SHIM_CTL_FD, O_CLOEXEC); /* /dev/null: the former container's pipe is not read any more */
    if (send(SHIM_REUSE_FD, "R", 1, MSG_NOSIGNAL) != 1)
        return false;
    struct pollfd p = {.fd = SHIM_REUSE_FD, .events = POLLIN};
    if (poll(&p, 1, IDLE_MS) > 0)
        return take(0);
    /* From here on the server cannot send any more; what it has sent is still done. */
    shutdown(SHIM_REUSE_FD, SHUT_RD);
    return take(MSG_DONTWAIT);
}
