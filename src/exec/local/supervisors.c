/* Supervisors that have ended a container and wait for the next one of the same project (shim/reuse.c): its
 * namespaces, its address and its disk are there already. One is busy while its container lives. When this
 * process ends, the sockets close and idle supervisors end too; busy ones end with their containers. */
#include "exec/local/own.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define IDLE_MAX 16

struct supervisor {
    struct supervisor *next;
    int fd;            /* -1 once its supervisor has ended or shall end */
    pid_t pid;         /* -1 while it is being started, 0 once it was reaped */
    struct exec_id id; /* whose lease the address is while it waits */
    int64_t network, disk;
    uint16_t port; /* platform_port */
    bool busy;
};

bool supervisors_suit(const struct exec_spec *spec)
{
    return spec->n_peers == 0 && spec->disk > 0;
}

struct supervisor *supervisors_new(struct local *l, const struct exec_spec *spec, int *ret_fd,
                                   struct err *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        err_errno(err, errno, "cannot make a socket");
        return NULL;
    }
    struct supervisor *r = base_zalloc(sizeof *r);
    *r = (struct supervisor){.fd = pair[0],
                             .pid = -1,
                             .id = {.job = -++l->supervisors_made},
                             .network = spec->network,
                             .disk = spec->disk,
                             .port = spec->platform_port,
                             .busy = true,
                             .next = l->supervisors};
    l->supervisors = r;
    *ret_fd = pair[1];
    return r;
}

void supervisors_started(struct supervisor *r, pid_t pid)
{
    r->pid = pid > 0 ? pid : 0;
}

static void drop(struct local *l, struct supervisor *r)
{
    struct supervisor **at = &l->supervisors;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    network_drop(l, r->id);
    base_close_fd(&r->fd);
    free(r);
}

/* An idle one whose supervisor has ended is gone; what is reaped later is reaped by supervisors_sweep. */
static bool is_ready(struct supervisor *r)
{
    char byte;
    if (r->fd < 0)
        return false;
    ssize_t n = recv(r->fd, &byte, 1, MSG_DONTWAIT);
    if (n == 1)
        return true;
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        base_close_fd(&r->fd);
        r->fd = -1;
    }
    return false;
}

struct supervisor *supervisors_take(struct local *l, const struct exec_spec *spec)
{
    for (struct supervisor *r = l->supervisors; supervisors_suit(spec) && r; r = r->next) {
        if (r->busy || r->network != spec->network || r->disk != spec->disk ||
            r->port != spec->platform_port || !is_ready(r))
            continue;
        r->busy = true;
        network_give(l, r->id, spec->id);
        return r;
    }
    return NULL;
}

bool supervisors_send(struct supervisor *r, int folder, int ctl, int crun)
{
    const int fds[] = {folder, ctl, crun};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof fds)];
    } c = {0};
    struct iovec iov = {"N", 1};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c};
    struct cmsghdr *h = CMSG_FIRSTHDR(&m);
    h->cmsg_level = SOL_SOCKET;
    h->cmsg_type = SCM_RIGHTS;
    h->cmsg_len = CMSG_LEN(sizeof fds);
    memcpy(CMSG_DATA(h), fds, sizeof fds);
    return sendmsg(r->fd, &m, MSG_NOSIGNAL) == 1;
}

void supervisors_leave(struct local *l, struct supervisor *r, struct exec_id id)
{
    int idle = 0;
    for (struct supervisor *i = l->supervisors; i; i = i->next)
        idle += !i->busy && i->fd >= 0;
    r->busy = false;
    network_give(l, id, r->id);
    if (idle >= IDLE_MAX && r->fd >= 0) {
        base_close_fd(&r->fd);
        r->fd = -1;
    }
    if (r->pid == 0)
        drop(l, r);
}

void supervisors_sweep(struct local *l)
{
    for (struct supervisor *r = l->supervisors, *next; r; r = next) {
        next = r->next;
        if (r->pid > 0 && waitpid(r->pid, NULL, WNOHANG) != 0)
            r->pid = 0;
        if (r->pid == 0 && !r->busy)
            drop(l, r);
    }
}

void supervisors_end(struct local *l)
{
    while (l->supervisors) {
        struct supervisor *r = l->supervisors;
        base_close_fd(&r->fd);
        r->fd = -1;
        while (r->pid > 0 && !r->busy && waitpid(r->pid, NULL, 0) < 0 && errno == EINTR) {
        }
        drop(l, r);
    }
}
