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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

uint64_t wire_netns;

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

static bool keep_namespace(pid_t pid, const char *name)
{
    char from[64], to[16];
    snprintf(from, sizeof from, "/proc/%d/ns/%s", (int)pid, name);
    snprintf(to, sizeof to, "ns/%s", name);
    if (mknod(to, S_IFREG | 0600, 0) != 0 || mount(from, to, NULL, MS_BIND, NULL) != 0)
        return fail_errno("cannot keep the %s namespace", name);
    return true;
}

/* A process that only waits, in new namespaces; they are kept by name and it ends. */
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
        ok =
            write_map(pid, "uid_map", base) && write_map(pid, "gid_map", base) && keep_namespace(pid, "user");
    ok = ok && keep_namespace(pid, "net");
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    close(ready[0]);
    close(ready[1]);
    return ok;
}

static bool inside(const struct plan *p, bool connected)
{
    int failed = netlink_up("lo");
    if (failed == 0 && connected)
        failed = netlink_address("eth0", inet_addr(plan_get(p, "address")), 22);
    if (failed == 0 && connected)
        failed = netlink_up("eth0");
    if (failed == 0 && *plan_get(p, "gateway"))
        failed = netlink_default_route(inet_addr(plan_get(p, "gateway")));
    errno = failed;
    return failed == 0 || fail_errno("cannot set the container's network up");
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

bool wire_build(const struct plan *p)
{
    if (!make_namespaces((uint32_t)plan_int(p, "uid_base")))
        return false;
    bool connected = *plan_get(p, "bridge") != 0;
    int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    int there = open("ns/net", O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (here < 0 || there < 0 || fstat(there, &st) != 0)
        return fail_errno("cannot open the network namespaces");
    wire_netns = st.st_ino;
    if (connected && !connect_bridge(p, there))
        return false;
    if (setns(there, CLONE_NEWNET) != 0)
        return fail_errno("cannot enter the container's network");
    bool ok = inside(p, connected);
    if (setns(here, CLONE_NEWNET) != 0)
        return fail_errno("cannot leave the container's network");
    close(here);
    close(there);
    return ok;
}
