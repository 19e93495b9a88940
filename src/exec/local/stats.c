#include "exec/local/own.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "exec/local/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#define PROC_MAX (1 << 20) /* bytes of a file of /proc: /proc/stat has a line per processor and interrupt */

static void read_net(pid_t init, struct exec_stats *s)
{
    char path[64], text[8192];
    snprintf(path, sizeof path, "/proc/%d/net/dev", (int)init);
    auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    text[n > 0 ? n : 0] = 0;
    const char *at = strstr(text, "eth0:");
    long long rx, tx;
    if (at && sscanf(at + 5, "%lld %*d %*d %*d %*d %*d %*d %*d %lld", &rx, &tx) == 2) {
        s->net_rx = rx;
        s->net_tx = tx;
    }
}

static void read_disk(const struct local *l, const struct container *c, struct exec_stats *s)
{
    char path[128];
    struct statvfs v;
    s->disk = -1;
    s->disk_limit = c->disk_limit;
    snprintf(path, sizeof path, "/proc/%d/root%s/disk", (int)c->shim, l->stage);
    if (c->disk_limit && statvfs(path, &v) == 0)
        s->disk = (int64_t)(v.f_blocks - v.f_bfree) * (int64_t)v.f_frsize;
}

bool stats_read(struct exec *x, struct exec_id id, struct exec_stats *ret, struct err *err)
{
    struct local *l = local_of(x);
    char cgroup[96];
    pthread_mutex_lock(&l->lock);
    struct container *c = container_find(l, id);
    struct container copy = c ? *c : (struct container){.id = id};
    auto_free char *devices = copy.devices ? base_strdup(copy.devices) : NULL;
    pthread_mutex_unlock(&l->lock);
    if (!c)
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no container %s", exec_id_format(id, copy.name));
    struct cgroup_use use;
    container_cgroup(l, copy.name, cgroup);
    if (copy.status.state != EXEC_RUNNING || !cgroup_read(cgroup, &use))
        return err_set(err, ERR_UNAVAILABLE, NULL, "container %s is not running", copy.name);
    struct exec_stats s = {.at_us = clock_now(),
                           .cpu_ns = use.cpu_ns,
                           .memory = use.memory,
                           .pids = use.pids > 0 ? use.pids - 1 : 0, /* init */
                           .memory_limit = copy.memory_limit};
    read_net(copy.init, &s);
    read_disk(l, &copy, &s);
    meter_read(l, devices ? devices : "", &s);
    *ret = s;
    return true;
}

struct devices {
    struct exec_device list[256];
    size_t n;
};

static void add_device(struct devices *d, const char *kind, const char *path, bool declared)
{
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(d->list[i].path, path) == 0)
            return; /* declared, and detected too */
    if (d->n < countof(d->list))
        d->list[d->n++] = (struct exec_device){kind, path, declared};
}

static void detect(struct devices *d, struct arena *a)
{
    static const struct {
        const char *prefix, *kind;
    } known[] = {{"nvidia", "nvidia"}, {"davinci", "ascend"}};
    DIR *dir = opendir("/dev");
    for (struct dirent *e; dir && (e = readdir(dir));) {
        for (size_t i = 0; i < countof(known); i++) {
            size_t n = strlen(known[i].prefix);
            uint64_t number;
            if (strncmp(e->d_name, known[i].prefix, n) == 0 && str_to_u64(str_of(e->d_name + n), &number))
                add_device(d, known[i].kind, arena_printf(a, "/dev/%s", e->d_name), false);
        }
    }
    if (dir)
        closedir(dir);
}

static bool declared(const char *file, struct devices *d, struct arena *a, struct err *err)
{
    struct str text;
    if (!file)
        return true;
    if (!fs_read(a, file, 1 << 20, &text, err))
        return false;
    yyjson_val *list = json_parse(a, text, err), *item;
    if (!list)
        return false;
    if (!yyjson_is_arr(list))
        return err_set(err, ERR_INVALID, "inventory", "%s must be a list of devices", file);
    size_t i, n;
    yyjson_arr_foreach(list, i, n, item)
    {
        struct str kind = json_str(yyjson_obj_get(item, "kind")),
                   path = json_str(yyjson_obj_get(item, "path"));
        if (!kind.p || !path.p)
            return err_set(err, ERR_INVALID, "inventory", "device %zu of %s needs kind and path", i, file);
        add_device(d, arena_strz(a, kind), arena_strz(a, path), true);
    }
    return true;
}

static const char *arch(struct arena *a)
{
    struct utsname u;
    uname(&u);
    if (strcmp(u.machine, "x86_64") == 0)
        return "amd64";
    return strcmp(u.machine, "aarch64") == 0 ? "arm64" : arena_strdup(a, u.machine);
}

static int64_t cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
}

bool stats_nodes(struct exec *x, struct arena *a, struct exec_node **ret, size_t *ret_n, struct err *err)
{
    struct local *l = local_of(x);
    struct devices *d = arena_new(a, struct devices);
    struct exec_node *node = arena_new(a, struct exec_node);
    struct sysinfo info = {0};
    struct statvfs v;
    if (!declared(l->inventory, d, a, err))
        return false;
    detect(d, a);
    sysinfo(&info);
    if (statvfs(l->dir, &v) != 0)
        return err_errno(err, errno, "cannot look at %s", l->dir);
    *node = (struct exec_node){.name = l->node,
                               .arch = arch(a),
                               .cpu_millis = cores() * 1000,
                               .memory = (int64_t)info.totalram * info.mem_unit,
                               .disk = (int64_t)v.f_blocks * (int64_t)v.f_frsize,
                               .devices = d->list,
                               .n_devices = d->n,
                               .ready = true};
    const char *users = l->users ? "" : arena_printf(a, "no user namespaces: %s. ", l->users_reason);
    const char *network = l->network_reason[0] ? arena_printf(a, "network: %s.", l->network_reason) : "";
    node->reason = arena_printf(a, "%s%s", users, network);
    *ret = node;
    *ret_n = 1;
    return true;
}

/* --- what the machine uses --- */

/* Of the line "NAME   123 kB" of /proc/meminfo, in bytes. */
static int64_t meminfo(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtoll(at + strlen(name), NULL, 10) * 1024 : 0;
}

/* Jiffies of all processors in which something ran: all but the fourth and the fifth number (idle, waiting
 * for disks) and those of guests, which are in the first. */
static int64_t busy_ticks(const char *text)
{
    int64_t busy = 0;
    const char *at = strncmp(text, "cpu ", 4) == 0 ? text + 4 : "";
    for (int i = 0; i < 8; i++) {
        char *end;
        int64_t n = strtoll(at, &end, 10);
        busy += i == 3 || i == 4 ? 0 : n;
        at = end;
    }
    return busy;
}

bool stats_node(struct exec *x, const char *node, struct exec_stats *ret, struct err *err)
{
    struct local *l = local_of(x);
    auto_arena struct arena a;
    struct str cpu, memory;
    struct statvfs v;
    arena_init(&a);
    if (strcmp(node, l->node) != 0)
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no node %s", node);
    if (!fs_read(&a, "/proc/stat", PROC_MAX, &cpu, err) ||
        !fs_read(&a, "/proc/meminfo", PROC_MAX, &memory, err))
        return false;
    if (statvfs(l->dir, &v) != 0)
        return err_errno(err, errno, "cannot look at %s", l->dir);
    const char *lines = arena_strz(&a, memory);
    *ret = (struct exec_stats){.at_us = clock_now(),
                               .cpu_ns = busy_ticks(arena_strz(&a, cpu)) *
                                         (INT64_C(1000000000) / sysconf(_SC_CLK_TCK)),
                               .memory = meminfo(lines, "MemTotal:") - meminfo(lines, "MemAvailable:"),
                               .disk = (int64_t)(v.f_blocks - v.f_bfree) * (int64_t)v.f_frsize,
                               .disk_free = (int64_t)v.f_bavail * (int64_t)v.f_frsize};
    return true;
}
