#include "cli/handed.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST 3

static const char *address_of(struct arena *a, int fd, struct err *err)
{
    struct sockaddr_storage at = {0};
    socklen_t n = sizeof at;
    char host[INET6_ADDRSTRLEN], port[8];
    if (getsockname(fd, (struct sockaddr *)&at, &n) != 0) {
        err_errno(err, errno, "the handed descriptor %d", fd);
        return NULL;
    }
    if (getnameinfo((struct sockaddr *)&at, n, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0 ||
        (at.ss_family != AF_INET && at.ss_family != AF_INET6)) {
        err_set(err, ERR_INVALID, "LISTEN_FDS", "LISTEN_FDS: descriptor %d is no TCP socket", fd);
        return NULL;
    }
    return arena_printf(a, at.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

bool handed_take(struct arena *a, struct handed *ret, struct err *err)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    uint64_t n = 0, whose = 0;
    *ret = (struct handed){0};
    if (!pid || !count || !str_to_u64(str_of(pid), &whose) || whose != (uint64_t)getpid())
        return true;
    if (!str_to_u64(str_of(count), &n) || n > HANDED_MAX)
        return err_set(
            err, ERR_INVALID, "LISTEN_FDS",
            "LISTEN_FDS: %s sockets; at most %d are known: the platform's, the tools', the gateway's", count,
            HANDED_MAX);
    for (uint64_t i = 0; i < n; i++) {
        ret->socket[i] = FIRST + (int)i;
        ret->address[i] = address_of(a, ret->socket[i], err);
        if (!ret->address[i])
            return false;
        fcntl(ret->socket[i], F_SETFD, FD_CLOEXEC);
    }
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    return true;
}
