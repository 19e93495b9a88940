#include "exec/local/local.h"

#include "base/fs.h"
#include "exec/local/cgroup.h"
#include "exec/local/own.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#define REMOVE_WAIT_S 60

static bool check_machine(const struct exec_spec *spec, struct err *err)
{
    struct stat st;
    for (size_t i = 0; i < spec->n_layers; i++) {
        if (stat(spec->layers[i], &st) != 0 || !S_ISDIR(st.st_mode))
            return err_set(err, ERR_INVALID, "layers", "there is no folder '%.200s'", spec->layers[i]);
    }
    for (size_t i = 0; i < spec->n_mounts; i++) {
        if (lstat(spec->mounts[i].source, &st) != 0 || !(S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)))
            return err_set(err, ERR_INVALID, "mounts", "there is no folder '%.200s'", spec->mounts[i].source);
    }
    for (size_t i = 0; i < spec->n_devices; i++) {
        if (stat(spec->devices[i], &st) != 0 || !(S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)))
            return err_set(err, ERR_INVALID, "devices", "there is no device '%.200s'", spec->devices[i]);
    }
    return true;
}

static bool new_room(struct local *l, struct container *c, const struct exec_spec *spec, int cwd, int ctl,
                     int crun, struct err *err)
{
    char *argv[] = {"ingot-shim", "supervise", NULL};
    int end = -1;
    pthread_mutex_lock(&l->lock);
    struct supervisor *supervisor = c->supervisor = supervisors_new(l, spec, &end, err);
    pthread_mutex_unlock(&l->lock);
    auto_fd int socket = end;
    if (!supervisor)
        return false;
    const int fds[] = {ctl, crun, socket};
    pid_t pid = spawn_shim(l, cwd, argv, fds, countof(fds), err);
    pthread_mutex_lock(&l->lock);
    supervisors_started(supervisor, pid);
    pthread_mutex_unlock(&l->lock);
    return pid > 0;
}

/* By the supervisor that was taken for it; false when its supervisor has just ended. */
static bool old_room(struct local *l, struct container *c, int cwd, int ctl, int crun)
{
    pthread_mutex_lock(&l->lock);
    struct supervisor *supervisor = c->supervisor;
    bool ok = supervisor && supervisors_send(supervisor, cwd, ctl, crun);
    if (supervisor && !ok) {
        supervisors_leave(l, supervisor, (struct exec_id){0}); /* the address stays the container's */
        c->supervisor = NULL;
    }
    pthread_mutex_unlock(&l->lock);
    return ok;
}

static bool start_shim(struct local *l, struct container *c, const struct exec_spec *spec, const char *dir,
                       struct err *err)
{
    auto_fd int cwd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    auto_fd int ctl = cwd < 0 ? -1 : openat(cwd, "ctl", O_RDWR | O_CLOEXEC);
    if (ctl < 0)
        return err_errno(err, errno, "cannot open %s", dir);
    auto_fd int crun = spawn_crun(l, err);
    if (crun < 0)
        return false;
    pthread_mutex_lock(&l->lock);
    c->watch = inotify_add_watch(l->inotify, dir, IN_MOVED_TO);
    pthread_mutex_unlock(&l->lock);
    if (!old_room(l, c, cwd, ctl, crun) && !new_room(l, c, spec, cwd, ctl, crun, err))
        return false;
    pthread_mutex_lock(&l->lock);
    c->spawned = true;
    pthread_mutex_unlock(&l->lock);
    return true;
}

static void forget(struct local *l, struct container *c)
{
    container_ended(l, c);
    map_remove(l->containers, str_of(c->name));
    container_free(c);
    pthread_cond_broadcast(&l->moved);
}

static bool start(struct exec *x, const struct exec_spec *spec, struct err *err)
{
    struct local *l = local_of(x);
    auto_arena struct arena a;
    arena_init(&a);
    struct lease *leases = NULL;
    size_t n = 0;
    char id[EXEC_ID_MAX];
    if (!exec_spec_check(spec, err))
        return false;
    pthread_mutex_lock(&l->lock);
    bool known = container_find(l, spec->id) != NULL;
    bool fits = !known && check_machine(spec, err) && host_follow(l, err);
    struct supervisor *supervisor = fits ? supervisors_take(l, spec) : NULL;
    bool leased = fits && network_lease(l, spec, &a, &leases, &n, err);
    struct container *c = leased ? container_add(l, spec->id) : NULL;
    if (supervisor && !c)
        supervisors_leave(l, supervisor, spec->id);
    for (size_t i = 0; c && i < n; i++) {
        if (exec_id_equal(leases[i].id, spec->id))
            network_text(leases[i].address, c->address);
    }
    if (c) {
        c->supervisor = supervisor;
        strcpy(c->host, l->host);
        c->memory_limit = spec->memory;
        c->disk_limit = spec->disk;
        for (size_t i = 0; i < spec->n_devices; i++)
            container_device(c, spec->devices[i]);
    }
    pthread_mutex_unlock(&l->lock);
    if (!c)
        return known;
    char *dir = arena_printf(&a, "%s/%s", l->dir, exec_id_format(spec->id, id));
    if (config_write(l, c, spec, leases, n, err) && start_shim(l, c, spec, dir, err))
        return true;
    pthread_mutex_lock(&l->lock);
    forget(l, c);
    pthread_mutex_unlock(&l->lock);
    fs_remove_tree(l->dir_fd, id, NULL);
    return false;
}

static bool command(struct exec *x, struct exec_id id, const char *text, struct err *err)
{
    struct local *l = local_of(x);
    char name[EXEC_ID_MAX];
    exec_id_format(id, name);
    pthread_mutex_lock(&l->lock);
    struct container *c = container_find(l, id);
    bool ended = c && c->status.state == EXEC_EXITED;
    pthread_mutex_unlock(&l->lock);
    if (!c)
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no container %s", name);
    return ended || container_command(l, name, text, err);
}

static bool stop(struct exec *x, struct exec_id id, int64_t grace_s, struct err *err)
{
    char text[32];
    if (grace_s < -1 || grace_s > 86400)
        return err_set(err, ERR_INVALID, "grace_s", "%lld is not between 0 and 86400 seconds",
                       (long long)grace_s);
    snprintf(text, sizeof text, "T %lld\n", (long long)grace_s);
    return command(x, id, text, err);
}

static bool kill_container(struct exec *x, struct exec_id id, struct err *err)
{
    return command(x, id, "K\n", err);
}

/* Under the lock. */
static bool await_end(struct local *l, struct exec_id id, struct err *err)
{
    uint64_t until = thread_in(REMOVE_WAIT_S);
    char name[EXEC_ID_MAX];
    for (struct container *c; (c = container_find(l, id)) && c->status.state != EXEC_EXITED;) {
        if (!thread_wait(&l->moved, &l->lock, until))
            return err_set(err, ERR_UNAVAILABLE, NULL, "container %s does not end", exec_id_format(id, name));
    }
    return true;
}

static bool delete_files(struct local *l, const char *name, struct err *err)
{
    char gone[EXEC_ID_MAX + 8];
    /* The supervisor leaves the container right after its last word. */
    for (int i = 0; i < REMOVE_WAIT_S * 500 && container_alive(l, name); i++)
        usleep(2000);
    snprintf(gone, sizeof gone, "gone-%s", name);
    if (renameat(l->dir_fd, name, l->dir_fd, gone) != 0 && errno != ENOENT)
        return err_errno(err, errno, "cannot remove container %s", name);
    return fs_remove_tree(l->dir_fd, gone, err);
}

static bool remove_container(struct exec *x, struct exec_id id, struct err *err)
{
    struct local *l = local_of(x);
    char name[EXEC_ID_MAX];
    exec_id_format(id, name);
    pthread_mutex_lock(&l->lock);
    struct container *c = container_find(l, id);
    if (c && c->status.state != EXEC_EXITED)
        container_command(l, name, "K\n", NULL);
    bool ended = await_end(l, id, err);
    c = container_find(l, id);
    bool mine = ended && c && !c->removing;
    if (mine) {
        c->removing = true;
    } else if (!c) {
        network_drop(l, id); /* a rank that never started */
    }
    pthread_mutex_unlock(&l->lock);
    if (!mine)
        return ended;
    bool ok = delete_files(l, name, err);
    pthread_mutex_lock(&l->lock);
    c->removing = false;
    if (ok)
        forget(l, c);
    pthread_mutex_unlock(&l->lock);
    return ok;
}

static struct exec_status copy_status(const struct local *l, const struct container *c, struct arena *a)
{
    struct exec_status s = c->status;
    s.address = arena_strdup(a, c->address);
    s.node = l->node;
    return s;
}

static bool status(struct exec *x, struct arena *a, struct exec_id id, struct exec_status *ret,
                   struct err *err)
{
    struct local *l = local_of(x);
    char name[EXEC_ID_MAX];
    pthread_mutex_lock(&l->lock);
    struct container *c = container_find(l, id);
    if (c)
        *ret = copy_status(l, c, a);
    pthread_mutex_unlock(&l->lock);
    return c ? true : err_set(err, ERR_NOT_FOUND, NULL, "there is no container %s", exec_id_format(id, name));
}

static int compare(const void *a, const void *b)
{
    const struct exec_id *p = &((const struct exec_status *)a)->id, *q = &((const struct exec_status *)b)->id;
    if (p->job != q->job)
        return p->job < q->job ? -1 : 1;
    if (p->attempt != q->attempt)
        return p->attempt < q->attempt ? -1 : 1;
    return p->rank < q->rank ? -1 : p->rank > q->rank;
}

static bool list(struct exec *x, struct arena *a, struct exec_status **ret, size_t *ret_n, struct err *err)
{
    (void)err;
    struct local *l = local_of(x);
    struct str key;
    void *value;
    size_t n = 0;
    pthread_mutex_lock(&l->lock);
    struct exec_status *all = arena_array(a, struct exec_status, map_count(l->containers) + 1);
    for (size_t i = 0; map_next(l->containers, &i, &key, &value);)
        all[n++] = copy_status(l, value, a);
    pthread_mutex_unlock(&l->lock);
    qsort(all, n, sizeof *all, compare);
    *ret = all;
    *ret_n = n;
    return true;
}

static void release(struct local *l)
{
    struct str key;
    void *value;
    for (size_t i = 0; map_next(l->containers, &i, &key, &value);)
        container_free(value);
    map_free(l->containers);
    while (l->leases) {
        struct lease *next = l->leases->next;
        free(l->leases);
        l->leases = next;
    }
    const int fds[] = {l->dir_fd, l->lock_fd, l->program, l->crun, l->inotify, l->wake};
    for (size_t i = 0; i < countof(fds); i++)
        base_close_fd(&fds[i]);
    char *const texts[] = {l->dir, l->name, l->stage, l->dns, l->inventory, l->node};
    for (size_t i = 0; i < countof(texts); i++)
        free(texts[i]);
    pthread_mutex_destroy(&l->lock);
    pthread_cond_destroy(&l->moved);
    free(l);
}

/* Leaves nothing on the machine when nothing runs. */
static void tidy(struct local *l)
{
    struct str key;
    void *value;
    char cgroup[96];
    for (size_t i = 0; map_next(l->containers, &i, &key, &value);) {
        struct container *c = value;
        if (c->status.state != EXEC_EXITED)
            return;
        /* The supervisor ends right after its last word. */
        for (int k = 0; k < 1000 && container_alive(l, c->name); k++)
            usleep(2000);
        if (container_alive(l, c->name))
            return;
    }
    network_end(l);
    snprintf(cgroup, sizeof cgroup, "/%s", l->name);
    cgroup_remove(cgroup);
    rmdir(l->stage);
    leftovers_none(l);
}

static void local_free(struct exec *x)
{
    if (!x)
        return;
    struct local *l = local_of(x);
    pthread_mutex_lock(&l->lock);
    l->ending = true;
    pthread_mutex_unlock(&l->lock);
    watch_wake(l);
    pthread_join(l->thread, NULL);
    supervisors_end(l);
    tidy(l);
    release(l);
}

static const struct exec_ops ops = {
    .name = "local",
    .start = start,
    .stop = stop,
    .kill = kill_container,
    .remove = remove_container,
    .status = status,
    .list = list,
    .watch = watch_set,
    .log = logs_info,
    .log_read = logs_read,
    .log_line = logs_line,
    .log_wait = logs_wait,
    .attach = attach_start,
    .attach_resize = attach_resize,
    .attach_wait = attach_wait,
    .attach_stop = attach_stop,
    .attach_close = attach_close,
    .connect = attach_connect,
    .listen = attach_listen,
    .changes = changes_write,
    .folder = attach_folder,
    .stats = stats_read,
    .node_stats = stats_node,
    .nodes = stats_nodes,
    .free = local_free,
};

static struct local *make(const struct local_options *o)
{
    struct local *l = base_zalloc(sizeof *l);
    char stage[32], node[256] = "local";
    gethostname(node, sizeof node - 1);
    l->base.ops = &ops;
    l->name = base_strdup(o->name ? o->name : "ingot");
    snprintf(stage, sizeof stage, "/run/%s-stage", l->name);
    l->stage = base_strdup(stage);
    l->node = base_strdup(node);
    l->dns = o->dns ? base_strdup(o->dns) : NULL;
    l->inventory = o->inventory ? base_strdup(o->inventory) : NULL;
    l->egress = o->egress;
    l->dir_fd = l->lock_fd = l->program = l->crun = l->inotify = l->wake = -1;
    pthread_mutex_init(&l->lock, NULL);
    thread_cond_init(&l->moved);
    l->containers = map_new();
    return l;
}

static bool check_options(struct local *l, const struct local_options *o, struct err *err)
{
    struct in_addr subnet;
    size_t n = strlen(l->name);
    if (geteuid() != 0)
        return err_set(err, ERR_UNAVAILABLE, NULL, "containers need root; this is user %u", geteuid());
    if (n < 1 || n > 6 || strspn(l->name, "abcdefghijklmnopqrstuvwxyz0123456789") != n)
        return err_set(err, ERR_INVALID, "name", "'%s' must be 1 to 6 of a-z and 0-9", l->name);
    const char *text = o->subnet ? o->subnet : "10.200.0.0";
    if (inet_pton(AF_INET, text, &subnet) != 1 || (ntohl(subnet.s_addr) & 0x3ffff))
        return err_set(err, ERR_INVALID, "subnet", "'%s' is not the first address of an IPv4 /14", text);
    l->subnet = ntohl(subnet.s_addr);
    return true;
}

static bool open_folder(struct local *l, const char *dir, struct err *err)
{
    if (!fs_mkdirs(dir, 0700, err))
        return false;
    l->dir = realpath(dir, NULL);
    l->dir_fd = l->dir ? open(l->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    l->lock_fd = l->dir_fd < 0 ? -1 : openat(l->dir_fd, ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    l->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (l->lock_fd < 0 || l->inotify < 0 || l->wake < 0)
        return err_errno(err, errno, "cannot open %s", dir);
    /* Not flock, which a child between fork and exec would hold on when this process is killed. */
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(l->lock_fd, F_SETLK, &whole) != 0)
        return err_set(err, ERR_CONFLICT, "dir", "another server uses %s", dir);
    if (mkdir(l->stage, 0755) != 0 && errno != EEXIST)
        return err_errno(err, errno, "cannot make %s", l->stage);
    return true;
}

struct exec *local_new(const struct local_options *o, struct err *err)
{
    struct local *l = make(o);
    struct err why;
    if (!check_options(l, o, err) || !open_folder(l, o->dir, err) || !container_load_all(l, err) ||
        !host_follow(l, err) || !probe_machine(l, err)) {
        release(l);
        return NULL;
    }
    leftovers_claim(l);
    l->network = network_start(l, &why);
    if (!l->network)
        snprintf(l->network_reason, sizeof l->network_reason, "%.255s", why.message);
    l->thread = thread_start("exec-watch", watch_main, l);
    return &l->base;
}
