/* What a container changed: the upper folders of its overlays as an image layer. The supervisor's mount
 * namespace has them; its working folder is the stage. */
#include "base/fs.h"
#include "base/json.h"
#include "exec/local/cgroup.h"
#include "exec/local/own.h"
#include "exec/tar.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#define MAX_DEPTH   256
#define MAX_ENTRIES 1000000
#define PIECE       (256 << 10)

struct changes {
    struct tar tar;
    struct arena *arena;
    struct map *skip;  /* paths that are mounts, without their first slash */
    struct map *links; /* "device:inode" of files with several names -> the first name */
    char *space;
    int64_t entries;
};

static bool walk(struct changes *x, int dir, const char *path, int depth, struct err *err);

static const char *join(struct changes *x, const char *path, const char *name)
{
    return *path ? arena_printf(x->arena, "%s/%s", path, name) : arena_strdup(x->arena, name);
}

static struct tar_entry entry_of(const struct stat *st, const char *path, char type)
{
    return (struct tar_entry){.path = path,
                              .type = type,
                              .mode = st->st_mode & 07777,
                              .uid = st->st_uid,
                              .gid = st->st_gid,
                              .mtime = st->st_mtime};
}

static bool hide(struct changes *x, const char *path, const char *name, struct err *err)
{
    struct tar_entry e = {
        .path = join(x, path, arena_printf(x->arena, ".wh.%s", name)), .type = '0', .mode = 0644};
    return tar_header(&x->tar, &e, err);
}

static bool has_attribute(int fd, const char *name, char *value, size_t n)
{
    ssize_t got = fgetxattr(fd, name, value, n);
    return got > 0;
}

static bool write_dir(struct changes *x, int parent, const char *name, const struct stat *st,
                      const char *path, int depth, struct err *err)
{
    char value[PATH_MAX];
    auto_fd int dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return errno == ENOENT || err_errno(err, errno, "cannot open /%s of the container", path);
    if (has_attribute(dir, "trusted.overlay.redirect", value, sizeof value))
        return err_set(err, ERR_CONFLICT, NULL, "/%s was moved as a whole, which cannot be saved", path);
    struct tar_entry e = entry_of(st, path, '5');
    if (!tar_header(&x->tar, &e, err))
        return false;
    if (has_attribute(dir, "trusted.overlay.opaque", value, sizeof value) && value[0] == 'y' &&
        !hide(x, path, ".wh..opq", err))
        return false;
    return walk(x, dir, path, depth + 1, err);
}

/* As long as the header said, whatever happens to the file meanwhile. */
static bool write_content(struct changes *x, int fd, int64_t size, struct err *err)
{
    for (int64_t left = size; left > 0;) {
        size_t want = left < PIECE ? (size_t)left : PIECE;
        ssize_t n = read(fd, x->space, want);
        if (n < 0)
            return err_errno(err, errno, "cannot read a file of the container");
        if (n == 0) {
            memset(x->space, 0, want);
            n = (ssize_t)want;
        }
        if (!tar_data(&x->tar, x->space, (size_t)n, err))
            return false;
        left -= n;
    }
    return tar_pad(&x->tar, size, err);
}

/* The first name of a file with several; NULL: this is it. */
static const char *former_name(struct changes *x, const struct stat *st, const char *path)
{
    char key[48];
    if (st->st_nlink < 2)
        return NULL;
    snprintf(key, sizeof key, "%llx:%llx", (unsigned long long)st->st_dev, (unsigned long long)st->st_ino);
    const char *former = map_get(x->links, str_of(key));
    if (!former)
        map_set(x->links, str_of(key), (void *)path);
    return former;
}

static bool write_file(struct changes *x, int parent, const char *name, const char *path, struct err *err)
{
    struct stat st;
    char capability[256];
    auto_fd int fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0)
        return errno == ENOENT || err_errno(err, errno, "cannot open /%s of the container", path);
    struct tar_entry e = entry_of(&st, path, '0');
    e.link = former_name(x, &st, path);
    if (e.link) {
        e.type = '1';
        return tar_header(&x->tar, &e, err);
    }
    ssize_t n = fgetxattr(fd, "security.capability", capability, sizeof capability);
    if (n > 0)
        e.capability = (struct str){capability, (size_t)n};
    e.size = st.st_size;
    return tar_header(&x->tar, &e, err) && write_content(x, fd, e.size, err);
}

static bool write_link(struct changes *x, int parent, const char *name, const struct stat *st,
                       const char *path, struct err *err)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(parent, name, target, sizeof target - 1);
    if (n < 0)
        return errno == ENOENT || err_errno(err, errno, "cannot read the link /%s of the container", path);
    target[n] = 0;
    struct tar_entry e = entry_of(st, path, '2');
    e.link = target;
    return tar_header(&x->tar, &e, err);
}

static bool write_one(struct changes *x, int parent, const char *name, const char *above, int depth,
                      struct err *err)
{
    struct stat st;
    const char *path = join(x, above, name);
    if (map_get(x->skip, str_of(path)))
        return true;
    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT || err_errno(err, errno, "cannot look at /%s of the container", path);
    if (++x->entries > MAX_ENTRIES || depth > MAX_DEPTH)
        return err_set(err, ERR_TOO_LARGE, NULL,
                       "the container changed more than %d files, or deeper than %d folders", MAX_ENTRIES,
                       MAX_DEPTH);
    struct tar_entry e = entry_of(&st, path, '6');
    switch (st.st_mode & S_IFMT) {
    case S_IFDIR:
        return write_dir(x, parent, name, &st, path, depth, err);
    case S_IFREG:
        return write_file(x, parent, name, path, err);
    case S_IFLNK:
        return write_link(x, parent, name, &st, path, err);
    case S_IFCHR:
        return st.st_rdev != 0 || hide(x, above, name, err);
    case S_IFIFO:
        return tar_header(&x->tar, &e, err);
    default:
        return true;
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* In order of names: the same changes make the same image layer. */
static bool walk(struct changes *x, int dir, const char *path, int depth, struct err *err)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d)
        return err_errno(err, errno, "cannot read /%s of the container", path);
    size_t n = 0, cap = 0;
    const char **names = NULL;
    for (struct dirent *e; (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (n == cap) {
            cap = cap ? cap * 2 : 64;
            names = base_realloc(names, cap * sizeof *names);
        }
        names[n++] = arena_strdup(x->arena, e->d_name);
    }
    closedir(d);
    if (n > 1)
        qsort(names, n, sizeof *names, by_name);
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++)
        ok = write_one(x, dir, names[i], path, depth, err);
    free(names);
    return ok;
}

/* The targets of its mounts, as crun was told. */
static bool find_mounts(struct changes *x, struct str plan, struct err *err)
{
    size_t i, max, at = 0;
    yyjson_val *v;
    const char *text = container_plan_next(plan, "config", &at);
    yyjson_val *doc = json_parse(x->arena, str_of(text ? text : ""), err),
               *list = doc ? yyjson_obj_get(doc, "mounts") : NULL;
    if (!yyjson_is_arr(list))
        return doc ? err_set(err, ERR_INTERNAL, NULL, "the container's configuration has no mounts") : false;
    yyjson_arr_foreach(list, i, max, v)
    {
        struct str target = json_str(yyjson_obj_get(v, "destination"));
        while (target.n && target.p[0] == '/')
            target = (struct str){target.p + 1, target.n - 1};
        if (target.n)
            map_set(x->skip, target, x);
    }
    return true;
}

static bool write_upper(struct changes *x, int base, const char *upper, const char *path, struct err *err)
{
    struct stat st;
    auto_fd int dir = openat(base, upper, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0 || fstat(dir, &st) != 0)
        return err_errno(err, errno, "cannot open the container's changes");
    return walk(x, dir, path, 0, err);
}

static bool write_all_changes(struct changes *x, pid_t shim, struct str plan, struct err *err)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/cwd/disk/c", (int)shim);
    auto_fd int base = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (base < 0)
        return err_errno(err, errno, "cannot open the container's changes");
    /* Of the image host /usr is an overlay of its own. */
    return find_mounts(x, plan, err) && write_upper(x, base, "upper", "", err) &&
           write_upper(x, base, "usr", "usr", err) && tar_end(&x->tar, err);
}

/* Nothing moves while it is read, so that files belong together. A container that cannot be frozen is read as
 * it runs. */
static void hold(struct local *l, struct exec_id id, const char *name, bool frozen)
{
    char cgroup[96];
    container_cgroup(l, name, cgroup);
    pthread_mutex_lock(&l->lock);
    struct container *c = container_find(l, id);
    if (c)
        c->frozen += frozen ? 1 : -1;
    bool first = c && c->frozen == 1, last = !c || c->frozen == 0;
    pthread_mutex_unlock(&l->lock);
    if (frozen ? first && !cgroup_freeze(cgroup, true) : last)
        cgroup_freeze(cgroup, false);
}

static bool is_running(struct local *l, struct exec_id id)
{
    pthread_mutex_lock(&l->lock);
    struct container *c = container_find(l, id);
    bool runs = c && !container_has_ended(l, c);
    pthread_mutex_unlock(&l->lock);
    return runs;
}

bool changes_write(struct exec *exec, struct exec_id id, exec_sink_fn *sink, void *ctx, struct err *err)
{
    struct local *l = local_of(exec);
    char name[EXEC_ID_MAX];
    auto_arena struct arena a;
    arena_init(&a);
    exec_id_format(id, name);
    pthread_mutex_lock(&l->lock);
    struct container *c = container_find(l, id);
    pid_t shim = c && c->status.state == EXEC_RUNNING ? c->shim : 0;
    pthread_mutex_unlock(&l->lock);
    if (!c)
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no container %s", name);
    if (!shim)
        return err_set(err, ERR_CONFLICT, NULL, "container %s is not running", name);
    struct changes x = {
        .tar = {sink, ctx}, .arena = &a, .skip = map_new(), .links = map_new(), .space = base_alloc(PIECE)};
    hold(l, id, name, true);
    struct str plan = container_plan(l, &a, name, err);
    bool ok = plan.p && write_all_changes(&x, shim, plan, err);
    hold(l, id, name, false);
    if (ok && !is_running(l, id)) /* its supervisor clears up what it changed */
        ok = err_set(err, ERR_CONFLICT, NULL, "container %s has ended meanwhile", name);
    map_free(x.skip);
    map_free(x.links);
    free(x.space);
    return ok;
}
