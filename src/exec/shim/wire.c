#include "exec/shim/shim.h"

#include "exec/local/netlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BACKLOG 128

uint64_t wire_netns;

static int users = -1, net = -1; /* the namespaces */

static bool write_map(pid_t pid, const char *name, uint32_t base)
{
    char path[64], text[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int n = snprintf(text, sizeof text, "0 %u 65536\n", base);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, text, (size_t)n) == n;
    if (!ok)
        fail_errno("cannot write %s", path);
    if (fd >= 0)
        close(fd);
    return ok;
}

static int open_namespace(pid_t pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fail_errno("cannot open the %s namespace", name);
    return fd;
}

static bool show_namespace(int fd, const char *path)
{
    char from[64];
    snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
    bool made = mknod(path, S_IFREG | 0600, 0) == 0;
    if (!made && errno == EEXIST)
        return true; /* the stage was kept */
    if (!made || mount(from, path, NULL, MS_BIND, NULL) != 0)
        return fail_errno("cannot keep a namespace as %s", path);
    return true;
}

/* A process that only waits, in new namespaces; they are kept by descriptor and it ends. */
static bool make_namespaces(uint32_t base)
{
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) != 0)
        return fail_errno("cannot make a pipe");
    int flags = CLONE_NEWNET | (base > 0 ? CLONE_NEWUSER : 0);
    pid_t pid = fork();
    if (pid == 0) {
        int failed = unshare(flags) == 0 ? 0 : errno;
        if (write(ready[1], &failed, sizeof failed) == sizeof failed)
            pause();
        _exit(0);
    }
    int failed = EIO;
    bool ok = pid > 0 && read(ready[0], &failed, sizeof failed) == sizeof failed && failed == 0;
    if (!ok) {
        errno = failed;
        fail_errno("cannot make namespaces");
    }
    if (ok && base > 0)
        ok = write_map(pid, "uid_map", base) && write_map(pid, "gid_map", base) &&
             (users = open_namespace(pid, "user")) >= 0;
    ok = ok && (net = open_namespace(pid, "net")) >= 0;
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    close(ready[0]);
    close(ready[1]);
    return ok;
}

/* The platform's address inside: connections wait here while no server takes them. */
static bool listen_inside(uint16_t port)
{
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool ok = fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, BACKLOG) == 0 &&
              dup3(fd, SHIM_LISTEN_FD, O_CLOEXEC) >= 0;
    if (!ok)
        fail_errno("cannot listen on port %u inside", port);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool inside(const struct plan *p)
{
    bool connected = *plan_get(p, "bridge") != 0;
    int failed = netlink_up("lo");
    if (failed == 0 && connected)
        failed = netlink_address("eth0", inet_addr(plan_get(p, "address")), 22);
    if (failed == 0 && connected)
        failed = netlink_up("eth0");
    if (failed == 0 && *plan_get(p, "gateway"))
        failed = netlink_default_route(inet_addr(plan_get(p, "gateway")));
    errno = failed;
    if (failed != 0)
        return fail_errno("cannot set the container's network up");
    int64_t port = plan_int(p, "platform_port");
    return !port || listen_inside((uint16_t)port);
}

static bool connect_bridge(const struct plan *p, int netns)
{
    const char *veth = plan_get(p, "veth"), *bridge = plan_get(p, "bridge");
    int failed = netlink_veth(veth, bridge, "eth0", netns);
    if (failed == EEXIST) { /* the former owner of the address is just going */
        netlink_delete(veth);
        failed = netlink_veth(veth, bridge, "eth0", netns);
    }
    errno = failed;
    return failed == 0 || fail_errno("cannot connect the container to bridge %s", bridge);
}

/* In the container's network. */
static bool visit(bool (*what)(const struct plan *p), const struct plan *p)
{
    int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (here < 0 || setns(net, CLONE_NEWNET) != 0)
        return fail_errno("cannot enter the container's network");
    bool ok = what(p);
    if (setns(here, CLONE_NEWNET) != 0)
        return fail_errno("cannot leave the container's network");
    close(here);
    return ok;
}

static bool make(const struct plan *p)
{
    struct stat st;
    if (!make_namespaces((uint32_t)plan_int(p, "uid_base")))
        return false;
    if (fstat(net, &st) != 0)
        return fail_errno("cannot open the network namespace");
    wire_netns = st.st_ino;
    return (!*plan_get(p, "bridge") || connect_bridge(p, net)) && visit(inside, p);
}

bool wire_build(const struct plan *p)
{
    if (net < 0 && !make(p))
        return false;
    return (users < 0 || show_namespace(users, "ns/user")) && show_namespace(net, "ns/net");
}

/* A number of /proc/net/snmp, which has a line of names and one of values for each group; 1 when unknown. */
static long counter(const char *text, const char *group, const char *name)
{
    const char *names = strstr(text, group), *values = names ? strstr(names + 1, group) : NULL;
    char word[64];
    int n, m;
    long value;
    if (!values)
        return 1;
    names += strlen(group);
    values += strlen(group);
    while (sscanf(names, " %63s%n", word, &n) == 1 && sscanf(values, " %ld%n", &value, &m) == 1) {
        if (strcmp(word, name) == 0)
            return value;
        names += n;
        values += m;
    }
    return 1;
}

static bool is_silent(const struct plan *p)
{
    (void)p;
    char text[8192] = "\n";
    int fd = open("/proc/self/net/snmp", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text + 1, sizeof text - 2);
    text[n > 0 ? n + 1 : 0] = 0;
    if (fd >= 0)
        close(fd);
    return counter(text, "\nIp: ", "InDelivers") == 0 && counter(text, "\nIp: ", "OutRequests") == 0 &&
           counter(text, "\nTcp: ", "ActiveOpens") == 0 && counter(text, "\nTcp: ", "PassiveOpens") == 0;
}

bool wire_unused(void)
{
    return net >= 0 && visit(is_silent, NULL);
}
