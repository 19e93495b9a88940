#include "exec/local/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOT "/sys/fs/cgroup"

bool cgroup_is_hybrid(void)
{
    return access(ROOT "/unified/cgroup.procs", F_OK) == 0;
}

int cgroup_version(void)
{
    if (access(ROOT "/cgroup.controllers", F_OK) == 0)
        return 2;
    return access(ROOT "/memory/cgroup.procs", F_OK) == 0 ? 1 : 0;
}

/* The whole small file; the length, or -1. */
static ssize_t slurp(const char *controller, const char *path, const char *name, char *ret, size_t cap)
{
    char file[PATH_MAX];
    if (cgroup_version() == 2)
        snprintf(file, sizeof file, ROOT "%s/%s", path, name);
    else
        snprintf(file, sizeof file, ROOT "/%s%s/%s", controller, path, name);
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, ret, cap - 1);
    ret[n > 0 ? n : 0] = 0;
    close(fd);
    return n;
}

/* The number after a word at the start of a line. */
static int64_t field(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, word, n) == 0 && line[n] == ' ')
            return strtoll(line + n, NULL, 10);
    }
    return 0;
}

bool cgroup_oom(const char *path)
{
    char text[4096];
    bool two = cgroup_version() == 2;
    return slurp("memory", path, two ? "memory.events" : "memory.oom_control", text, sizeof text) > 0 &&
           field(text, "oom_kill") > 0;
}

bool cgroup_forks_refused(const char *path)
{
    char text[256];
    return slurp("pids", path, "pids.events", text, sizeof text) > 0 && field(text, "max") > 0;
}

static bool read_two(const char *path, struct cgroup_use *u)
{
    char text[16384];
    if (slurp("", path, "cpu.stat", text, sizeof text) <= 0)
        return false;
    u->cpu_ns = field(text, "usage_usec") * 1000;
    if (slurp("", path, "memory.current", text, sizeof text) > 0)
        u->memory = strtoll(text, NULL, 10);
    if (slurp("", path, "memory.stat", text, sizeof text) > 0)
        u->memory -= field(text, "inactive_file");
    return true;
}

static bool read_one(const char *path, struct cgroup_use *u)
{
    char text[16384];
    if (slurp("cpuacct", path, "cpuacct.usage", text, sizeof text) <= 0)
        return false;
    u->cpu_ns = strtoll(text, NULL, 10);
    if (slurp("memory", path, "memory.usage_in_bytes", text, sizeof text) > 0)
        u->memory = strtoll(text, NULL, 10);
    if (slurp("memory", path, "memory.stat", text, sizeof text) > 0)
        u->memory -= field(text, "total_inactive_file");
    return true;
}

bool cgroup_read(const char *path, struct cgroup_use *ret)
{
    struct cgroup_use u = {0};
    char text[64];
    if (!(cgroup_version() == 2 ? read_two : read_one)(path, &u))
        return false;
    if (slurp("pids", path, "pids.current", text, sizeof text) > 0)
        u.pids = strtoll(text, NULL, 10);
    if (u.memory < 0)
        u.memory = 0;
    *ret = u;
    return true;
}

static bool spill(const char *controller, const char *path, const char *name, const char *text)
{
    char file[PATH_MAX];
    if (cgroup_version() == 2)
        snprintf(file, sizeof file, ROOT "%s/%s", path, name);
    else
        snprintf(file, sizeof file, ROOT "/%s%s/%s", controller, path, name);
    int fd = open(file, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return ok;
}

bool cgroup_freeze(const char *path, bool frozen)
{
    char text[4096];
    bool two = cgroup_version() == 2;
    if (two ? !spill("", path, "cgroup.freeze", frozen ? "1" : "0")
            : !spill("freezer", path, "freezer.state", frozen ? "FROZEN" : "THAWED"))
        return false;
    for (int tries = 0; frozen && tries < 400; tries++) {
        if (slurp("freezer", path, two ? "cgroup.events" : "freezer.state", text, sizeof text) <= 0)
            return false;
        if (two ? field(text, "frozen") == 1 : strncmp(text, "FROZEN", 6) == 0)
            return true;
        usleep(5000);
    }
    return !frozen;
}

void cgroup_unthrottle(const char *path)
{
    if (cgroup_version() == 2)
        spill("", path, "cpu.max", "max");
    else
        spill("cpu", path, "cpu.cfs_quota_us", "-1");
}

void cgroup_kill(const char *path)
{
    char text[65536], *end;
    cgroup_unthrottle(path);
    ssize_t n = slurp("pids", path, "cgroup.procs", text, sizeof text);
    for (char *at = text; n > 0 && *at; at = end + 1) {
        long pid = strtol(at, &end, 10);
        if (end == at)
            break;
        if (pid > 1)
            kill((pid_t)pid, SIGKILL);
    }
}

static bool drop(const char *controller, const char *path)
{
    char dir[PATH_MAX];
    snprintf(dir, sizeof dir, ROOT "%s%s%s", *controller ? "/" : "", controller, path);
    return rmdir(dir) == 0 || errno == ENOENT || errno == ENOTDIR;
}

static bool drop_all(const char *path)
{
    if (cgroup_version() == 2)
        return drop("", path);
    DIR *d = opendir(ROOT);
    bool ok = d != NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] != '.' && strcmp(e->d_name, "unified") != 0)
            ok = drop(e->d_name, path) && ok;
    }
    if (d)
        closedir(d);
    return ok;
}

bool cgroup_remove(const char *path)
{
    /* The last process may still be on its way out. */
    for (int tries = 0; tries < 200; tries++) {
        if (drop_all(path))
            return true;
        usleep(5000);
    }
    return false;
}

void cgroup_clear(const char *path)
{
    char dir[PATH_MAX], child[512];
    snprintf(dir, sizeof dir, ROOT "%s%s", cgroup_version() == 2 ? "" : "/pids", path);
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_type != DT_DIR || e->d_name[0] == '.')
            continue;
        snprintf(child, sizeof child, "%s/%s", path, e->d_name);
        cgroup_kill(child);
        cgroup_remove(child);
    }
    if (d)
        closedir(d);
    cgroup_remove(path);
}
