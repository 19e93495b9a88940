/* The files that containers leave: nothing here follows a link or waits for a pipe. */
#include "base/fs.h"
#include "core/training/training.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#define MAX_DEPTH 64
#define MAX_FILES 100000
#define PIECE     (8 << 20)

static bool is_dots(const char *name)
{
    return name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0));
}

static void skip(struct training_walk *w, const char *path, const char *why)
{
    if (w->skipped)
        w->skipped(w->ctx, path, why);
}

static bool walk_folder(struct training_walk *w, int dirfd, const char *path, int depth, struct err *err);

static bool walk_one(struct training_walk *w, int dirfd, const char *path, const char *name, int depth,
                     struct err *err)
{
    struct stat st;
    char *full;
    if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT || err_errno(err, errno, "cannot look at %s", name);
    if (asprintf(&full, "%s%s%s", path, *path ? "/" : "", name) < 0)
        abort();
    auto_free char *owned = full;
    if (S_ISDIR(st.st_mode)) {
        if (depth == MAX_DEPTH)
            return skip(w, owned, "more than 64 folders deep"), true;
        auto_fd int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? err_errno(err, errno, "cannot open %s", owned)
                      : walk_folder(w, fd, owned, depth + 1, err);
    }
    if (!S_ISREG(st.st_mode))
        return skip(w, owned, S_ISLNK(st.st_mode) ? "a link" : "no plain file"), true;
    if (++w->files > MAX_FILES)
        return err_set(err, ERR_TOO_LARGE, NULL, "there are more than %d files", MAX_FILES);
    struct training_file f = {owned, dirfd, name, st.st_size, st.st_mode & 0777};
    return w->file(w->ctx, &f, err);
}

static bool walk_folder(struct training_walk *w, int dirfd, const char *path, int depth, struct err *err)
{
    int copy = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy < 0 ? NULL : fdopendir(copy);
    if (!d) {
        if (copy >= 0)
            close(copy);
        return err_errno(err, errno, "cannot read the folder %s", path);
    }
    bool ok = true;
    for (struct dirent *e; ok && (e = readdir(d));)
        if (!is_dots(e->d_name))
            ok = walk_one(w, dirfd, path, e->d_name, depth, err);
    closedir(d);
    return ok;
}

bool training_walk(struct training_walk *w, const char *folder, struct err *err)
{
    auto_fd int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || err_errno(err, errno, "cannot open %s", folder);
    return walk_folder(w, fd, "", 0, err);
}

/* --- copying --- */

struct copying {
    struct task *task;
    const char *to;
    int64_t bytes;
};

static bool copy_bytes(struct copying *c, int in, int out, const char *path, struct err *err)
{
    for (;;) {
        ssize_t n = sendfile(out, in, NULL, PIECE);
        if (n < 0)
            return err_errno(err, errno, "cannot copy %s", path);
        if (n == 0)
            return true;
        c->bytes += n;
        if (!task_progress(c->task, c->bytes, 0, err))
            return false;
    }
}

/* Whoever the next container runs as goes on with these files: all of it is open to everybody inside. */
static bool make_folders(char *path, size_t from, struct err *err)
{
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        bool made = mkdir(path, 0777) == 0 ? chmod(path, 0777) == 0 : errno == EEXIST;
        if (!made)
            return err_errno(err, errno, "cannot make %s", path);
        *slash = '/';
    }
    return true;
}

static bool copy_file(void *ctx, const struct training_file *f, struct err *err)
{
    struct copying *c = ctx;
    auto_arena struct arena a;
    arena_init(&a);
    char *path = arena_printf(&a, "%s/%s", c->to, f->path);
    if (!make_folders(path, strlen(c->to) + 1, err))
        return false;
    auto_fd int in = openat(f->dirfd, f->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    auto_fd int out = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (in < 0 || out < 0 || fchmod(out, f->mode | 0666) != 0)
        return err_errno(err, errno, "cannot copy %s", f->path);
    return copy_bytes(c, in, out, f->path, err);
}

static void copy_skipped(void *ctx, const char *path, const char *why)
{
    struct copying *c = ctx;
    task_problem(c->task, str_of(path), NULL, "%s", why);
}

bool training_copy(const char *from, const char *to, struct task *t, struct err *err)
{
    struct stat st;
    struct copying c = {.task = t, .to = arena_printf(t->arena, "%s.part", to)};
    struct training_walk w = {copy_file, copy_skipped, &c, 0};
    if (stat(to, &st) == 0)
        return true; /* whole, by an earlier run */
    if (!fs_remove_tree(AT_FDCWD, c.to, err) || !fs_mkdirs(c.to, 0755, err) || !training_walk(&w, from, err))
        return false;
    return rename(c.to, to) == 0 || err_errno(err, errno, "cannot name %s", to);
}

/* --- folders of deleted instances --- */

static bool swept_write(struct db_conn *c, void *ctx, struct err *err)
{
    return conn_exec(c, "DELETE FROM training_purges WHERE instance = ?", db_args(db_int(*(int64_t *)ctx)),
                     NULL, err);
}

bool training_sweep(struct core *core, struct err *err)
{
    auto_arena struct arena a;
    struct db_rows rows;
    arena_init(&a);
    if (!db_query(core->db, &a, "SELECT instance, created_at FROM training_purges LIMIT 100", DB_NO_ARGS,
                  &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        int64_t id = rows.row[i].v[0].i;
        const struct object gone = {.id = id, .created_at = rows.row[i].v[1].i};
        if (!fs_remove_tree(AT_FDCWD, training_path(core, &a, &gone, ""), err) ||
            !db_write(core->db, swept_write, &id, err))
            return false;
    }
    return true;
}
