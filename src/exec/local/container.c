#include "exec/local/own.h"

#include "base/clock.h"
#include "base/fs.h"
#include "exec/local/cgroup.h"
#include "exec/shim/shim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/wait.h>

struct container *container_find(struct local *l, struct exec_id id)
{
    char name[EXEC_ID_MAX];
    return map_get(l->containers, str_of(exec_id_format(id, name)));
}

struct container *container_add(struct local *l, struct exec_id id)
{
    struct container *c = base_zalloc(sizeof *c);
    c->id = c->status.id = id;
    c->status.code = -1;
    c->watch = -1;
    exec_id_format(id, c->name);
    map_set(l->containers, str_of(c->name), c);
    return c;
}

void container_free(struct container *c)
{
    free(c->devices);
    free(c);
}

void container_device(struct container *c, const char *path)
{
    char *more = NULL;
    if (asprintf(&more, "%s%s\n", c->devices ? c->devices : "", path) < 0)
        return;
    free(c->devices);
    c->devices = more;
}

void container_cgroup(const struct local *l, const char *name, char ret[96])
{
    snprintf(ret, 96, "/%s/%s", l->name, name);
}

static int open_in(const struct local *l, const char *name, const char *file, int flags)
{
    char path[96];
    snprintf(path, sizeof path, "%s/%s", name, file);
    return openat(l->dir_fd, path, flags | O_CLOEXEC | O_NOFOLLOW);
}

static bool read_small(const struct local *l, const char *name, const char *file, char *ret, size_t cap)
{
    auto_fd int fd = open_in(l, name, file, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, ret, cap - 1);
    ret[n > 0 ? n : 0] = 0;
    return n > 0;
}

bool container_alive(struct local *l, const char *name)
{
    auto_fd int fd = open_in(l, name, "ctl", O_WRONLY | O_NONBLOCK);
    return fd >= 0;
}

bool container_command(struct local *l, const char *name, const char *text, struct err *err)
{
    auto_fd int fd = open_in(l, name, "ctl", O_WRONLY | O_NONBLOCK);
    if (fd < 0 && (errno == ENXIO || errno == ENOENT))
        return true; /* its supervisor has ended: that will be seen */
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        return err_errno(err, errno, "cannot reach the supervisor of container %s", name);
    return true;
}

static enum exec_end end_from(const char *word)
{
    for (enum exec_end e = EXEC_END_EXIT; e <= EXEC_END_LOST; e++) {
        if (strcmp(word, exec_end_name(e)) == 0)
            return e;
    }
    return EXEC_END_LOST;
}

static bool read_exit(const struct local *l, struct container *c)
{
    char text[1024], word[16];
    long long started, ended;
    int oom, at = 0;
    struct exec_status *s = &c->status;
    if (!read_small(l, c->name, "exit", text, sizeof text))
        return false;
    /* The first line is that of `run`. */
    const char *words = strchr(text, '\n');
    words = words && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9')) ? words + 1 : text;
    if (sscanf(words, "%15s %d %d %d %lld %lld\n%n", word, &s->code, &s->signal, &oom, &started, &ended,
               &at) < 6)
        return false;
    s->state = EXEC_EXITED;
    s->end = end_from(word);
    s->oom = oom != 0;
    s->started_us = started;
    s->ended_us = ended;
    snprintf(s->reason, sizeof s->reason, "%s", words + at);
    s->reason[strcspn(s->reason, "\n")] = 0;
    return true;
}

static bool read_run(const struct local *l, struct container *c)
{
    char text[256];
    long long started;
    unsigned long long netns;
    int shim, init;
    if (!read_small(l, c->name, "run", text, sizeof text) ||
        sscanf(text, "%d %d %lld %llu", &shim, &init, &started, &netns) != 4)
        return false;
    c->shim = shim;
    c->init = init;
    c->netns = netns;
    c->status.state = EXEC_RUNNING;
    c->status.started_us = started;
    return true;
}

bool container_refresh(struct local *l, struct container *c)
{
    enum exec_state before = c->status.state;
    if (before == EXEC_EXITED)
        return false;
    if (!read_exit(l, c) && before == EXEC_STARTING)
        read_run(l, c);
    return c->status.state != before;
}

bool container_has_ended(struct local *l, const struct container *c)
{
    char path[EXEC_ID_MAX + 8];
    snprintf(path, sizeof path, "%.*s/exit", EXEC_ID_MAX, c->name);
    return c->status.state == EXEC_EXITED || faccessat(l->dir_fd, path, F_OK, 0) == 0;
}

void container_ended(struct local *l, struct container *c)
{
    if (c->watch >= 0)
        inotify_rm_watch(l->inotify, c->watch);
    c->watch = -1;
    if (c->supervisor)
        supervisors_leave(l, c->supervisor, c->id);
    else
        network_drop(l, c->id);
    c->supervisor = NULL;
}

void container_lost(struct local *l, const char *name)
{
    char cgroup[96], path[96], text[256], began[256];
    long long started = 0;
    container_cgroup(l, name, cgroup);
    cgroup_freeze(cgroup, false);
    for (int i = 0; i < 100; i++) {
        cgroup_kill(cgroup);
        struct cgroup_use use;
        if (!cgroup_read(cgroup, &use) || use.pids == 0)
            break;
        usleep(10000);
    }
    cgroup_remove(cgroup);
    if (read_small(l, name, "run", began, sizeof began))
        sscanf(began, "%*d %*d %lld", &started);
    snprintf(text, sizeof text, "-\nlost -1 0 0 %lld %lld\n%s\n", started, (long long)clock_now(),
             started ? "its supervisor has gone: the machine was restarted, or somebody killed it"
                     : "its supervisor has gone before the container could start");
    snprintf(path, sizeof path, "%s/exit.new", name);
    auto_fd int fd = openat(l->dir_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    char final[96];
    snprintf(final, sizeof final, "%s/exit", name);
    if (fd < 0 || !fs_write_all(fd, text, strlen(text), NULL) || fsync(fd) != 0 ||
        renameat(l->dir_fd, path, l->dir_fd, final) != 0)
        return; /* tried again at the next look */
}

struct str container_plan(struct local *l, struct arena *a, const char *name, struct err *err)
{
    struct str text;
    char *path = arena_printf(a, "%s/%s/plan", l->dir, name);
    if (!fs_read(a, path, 64 << 20, &text, err))
        return STR_NULL;
    return text;
}

const char *container_plan_next(struct str plan, const char *key, size_t *at)
{
    while (*at < plan.n) {
        const char *k = plan.p + *at, *value = k + strlen(k) + 1;
        if (value >= plan.p + plan.n)
            break;
        *at = (size_t)(value + strlen(value) + 1 - plan.p);
        if (strcmp(k, key) == 0)
            return value;
    }
    return NULL;
}

static void load_plan(struct local *l, struct container *c, struct str plan)
{
    const char *v;
    size_t at = 0;
    while ((v = container_plan_next(plan, "lease", &at))) {
        struct lease lease = {0};
        char name[EXEC_ID_MAX];
        long long project;
        if (sscanf(v, "%47s %lld %u", name, &project, &lease.address) != 3 ||
            !exec_id_parse(str_of(name), &lease.id))
            continue;
        lease.project = project;
        if (c->status.state != EXEC_EXITED)
            network_keep(l, &lease);
        if (exec_id_equal(lease.id, c->id))
            network_text(lease.address, c->address);
    }
    at = 0;
    while ((v = container_plan_next(plan, "layer", &at))) {
        const char *host = strrchr(v, '/');
        if (host && str_starts(str_of(host + 1), HOST_PREFIX))
            snprintf(c->host, sizeof c->host, "%s", host + 1);
    }
    at = 0;
    if ((v = container_plan_next(plan, "memory", &at)))
        c->memory_limit = strtoll(v, NULL, 10);
    at = 0;
    if ((v = container_plan_next(plan, "disk", &at)))
        c->disk_limit = strtoll(v, NULL, 10);
    at = 0;
    while ((v = container_plan_next(plan, "device", &at)))
        container_device(c, v);
}

/* The first thing that a supervisor does is to mark its pipe. Without that (and without a supervisor) the
 * server was killed before it started one: then the container is as good as unknown, and may be started
 * again. Its address stays held, as others of its gang may know it already. */
static bool has_begun(struct local *l, const char *name)
{
    char path[EXEC_ID_MAX + 8];
    struct stat st;
    snprintf(path, sizeof path, "%.*s/ctl", EXEC_ID_MAX, name);
    return fstatat(l->dir_fd, path, &st, 0) == 0 && (st.st_mode & 0777) == SHIM_BEGUN;
}

static bool load_one(struct local *l, struct exec_id id, const char *name, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct str plan = container_plan(l, &a, name, NULL);
    if (!plan.p) /* the server ended while making it */
        return fs_remove_tree(l->dir_fd, name, err);
    struct container *c = container_add(l, id);
    c->spawned = true;
    container_refresh(l, c);
    load_plan(l, c, plan);
    if (c->status.state == EXEC_EXITED)
        return true;
    char cgroup[96];
    container_cgroup(l, name, cgroup);
    cgroup_freeze(cgroup, false); /* the server ended while it read what the container changed */
    c->watch = inotify_add_watch(l->inotify, arena_printf(&a, "%s/%s", l->dir, name), IN_MOVED_TO);
    container_refresh(l, c); /* what happened before the watch */
    if (c->status.state == EXEC_EXITED)
        container_ended(l, c);
    if (c->status.state == EXEC_EXITED || container_alive(l, name))
        return true;
    if (container_refresh(l, c)) {
        if (c->status.state == EXEC_EXITED)
            container_ended(l, c);
        return true;
    }
    if (!has_begun(l, name)) {
        map_remove(l->containers, str_of(name));
        if (c->watch >= 0)
            inotify_rm_watch(l->inotify, c->watch);
        container_free(c);
        return fs_remove_tree(l->dir_fd, name, err);
    }
    container_lost(l, name);
    if (container_refresh(l, c) && c->status.state == EXEC_EXITED)
        container_ended(l, c);
    return true;
}

bool container_load_all(struct local *l, struct err *err)
{
    DIR *d = opendir(l->dir);
    if (!d)
        return err_errno(err, errno, "cannot read %s", l->dir);
    bool ok = true;
    for (struct dirent *e; ok && (e = readdir(d));) {
        struct exec_id id;
        if (strncmp(e->d_name, "gone-", 5) == 0)
            ok = fs_remove_tree(l->dir_fd, e->d_name, err);
        else if (exec_id_parse(str_of(e->d_name), &id))
            ok = load_one(l, id, e->d_name, err);
    }
    closedir(d);
    return ok;
}
