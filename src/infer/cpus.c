#include "infer/cpus.h"

#include "base/fs.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#define FILE_MAX 65536

/* "200000 100000" or "max 100000": processors, 0 for no limit. */
static double quota_of(struct str quota, struct str period)
{
    uint64_t q, p;
    return str_to_u64(str_trim(quota), &q) && str_to_u64(str_trim(period), &p) && q && p
               ? (double)q / (double)p
               : 0;
}

static double limit_v2(struct arena *a, const char *folder)
{
    struct str text, period;
    if (!fs_read(a, arena_printf(a, "%s/cpu.max", folder), FILE_MAX, &text, &(struct err){0}))
        return 0;
    struct str quota = str_cut(text, ' ', &period);
    return quota_of(quota, period);
}

static double limit_v1(struct arena *a, const char *folder)
{
    struct str quota, period;
    struct err ignored;
    if (!fs_read(a, arena_printf(a, "%s/cpu.cfs_quota_us", folder), FILE_MAX, &quota, &ignored) ||
        !fs_read(a, arena_printf(a, "%s/cpu.cfs_period_us", folder), FILE_MAX, &period, &ignored))
        return 0;
    return quota_of(quota, period);
}

/* The least limit of the group and of those above it. */
static double least(struct arena *a, const char *groups, struct str path,
                    double (*limit)(struct arena *, const char *))
{
    double ret = 0;
    for (;;) {
        double one = limit(a, arena_printf(a, "%s" STR_FMT, groups, STR_ARG(path)));
        if (one > 0 && (ret == 0 || one < ret))
            ret = one;
        while (path.n && path.p[path.n - 1] != '/')
            path.n--;
        if (path.n == 0)
            return ret;
        path.n--;
    }
}

static bool has_cpu(struct str controllers)
{
    while (controllers.n)
        if (str_is(str_cut(controllers, ',', &controllers), "cpu"))
            return true;
    return false;
}

unsigned cpus_limit(const char *proc_cgroup, const char *groups, unsigned affinity)
{
    auto_arena struct arena a;
    struct str text;
    double limit = 0;
    arena_init(&a);
    if (!fs_read(&a, proc_cgroup, FILE_MAX, &text, &(struct err){0}))
        return affinity;
    while (text.n) {
        struct str path, rest, line = str_cut(text, '\n', &text), number = str_cut(line, ':', &rest);
        struct str controllers = str_cut(rest, ':', &path);
        double one = 0;
        if (str_is(number, "0") && controllers.n == 0)
            one = least(&a, groups, path, limit_v2);
        else if (has_cpu(controllers))
            one = least(&a, arena_printf(&a, "%s/" STR_FMT, groups, STR_ARG(controllers)), path, limit_v1);
        if (one > 0 && (limit == 0 || one < limit))
            limit = one;
    }
    unsigned whole = (unsigned)limit + (limit > (unsigned)limit);
    return whole && whole < affinity ? whole : affinity;
}

unsigned cpus_count(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return cpus_limit("/proc/self/cgroup", "/sys/fs/cgroup", n > 0 ? (unsigned)n : 1);
}

const char *cpus_name(char *to, size_t size)
{
    char text[4096];
    auto_fd int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
    struct str rest = {text, n > 0 ? (size_t)n : 0};
    *to = 0;
    while (rest.n && !*to) {
        struct str value, name = str_cut(str_cut(rest, '\n', &rest), ':', &value);
        if (str_is(str_trim(name), "model name"))
            snprintf(to, size, STR_FMT, STR_ARG(str_trim(value)));
    }
    return *to ? to : NULL;
}
