#include "core/data/folder_in.h"

#include "base/fs.h"
#include "base/messages.h"
#include "store/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#define BLOCK     (1 << 20)
#define MAX_DEPTH 64

static bool below(struct str path, const char *root)
{
    size_t n = strlen(root);
    while (n > 1 && root[n - 1] == '/')
        n--;
    return path.n >= n && memcmp(path.p, root, n) == 0 && (path.n == n || path.p[n] == '/');
}

/* The root that holds the path, and what follows it ("." when nothing does). */
static const char *find_root(struct core *core, struct str path, struct str *ret_rest)
{
    for (size_t i = 0; i < core->import_roots.n; i++) {
        const char *root = core->import_roots.items[i];
        if (!below(path, root))
            continue;
        size_t n = strlen(root);
        struct str rest = {path.p + n, path.n - n};
        while (rest.n && rest.p[0] == '/') {
            rest.p++;
            rest.n--;
        }
        *ret_rest = rest.n ? rest : STR(".");
        return root;
    }
    return NULL;
}

bool folder_in_check(struct core *core, struct str path, struct err *err)
{
    struct str rest;
    if (find_root(core, path, &rest))
        return true;
    return err_set(err, ERR_FORBIDDEN, NULL,
                   "directory: \"" STR_FMT
                   "\" is below none of the folders that the administrator allows (import_roots)",
                   STR_ARG(path));
}

/* --- how much there is, before anything is copied --- */

static bool count_dir(struct task *t, int fd, int depth, int64_t *bytes, struct err *err);

static bool count_entry(struct task *t, int fd, const char *name, int depth, int64_t *bytes, struct err *err)
{
    struct stat st;
    struct err why = {0};
    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return true;
    if (S_ISREG(st.st_mode))
        *bytes += st.st_size;
    if (!S_ISDIR(st.st_mode) || depth == MAX_DEPTH)
        return true;
    int sub = fs_open_beneath(fd, name, O_RDONLY | O_DIRECTORY, 0, &why);
    return sub < 0 || count_dir(t, sub, depth + 1, bytes, err);
}

/* Owns fd. What cannot be read is reported when its turn comes to be copied. */
static bool count_dir(struct task *t, int fd, int depth, int64_t *bytes, struct err *err)
{
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return true;
    }
    bool ok = task_progress(t, 0, 0, err);
    for (const struct dirent *e; ok && (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            ok = count_entry(t, fd, e->d_name, depth, bytes, err);
    closedir(dir);
    return ok;
}

/* --- copying --- */

struct walk {
    struct task *task;
    struct unpacked *out;
    char *block;
    int64_t copied, bytes; /* of all files; bytes 0: not counted */
};

/* Reading the source is the first half of an import, as it is of an archive. */
static bool keep_copied(struct walk *w, int64_t more, struct err *err)
{
    if (w->bytes)
        w->copied += more;
    return task_progress(w->task, w->bytes ? w->copied / 2 : w->copied, w->bytes, err);
}

static bool copy_file(struct walk *w, int fd, struct str path, struct err *err)
{
    ssize_t n;
    bool ok = true;
    while (ok && (n = read(fd, w->block, BLOCK)) > 0)
        ok = unpack_piece(w->out, (struct str){w->block, (size_t)n}, err) && keep_copied(w, n, err);
    if (!ok || n < 0) {
        unpack_drop(w->out);
        return ok ? err_errno(err, errno, "cannot read a file of the folder") : false;
    }
    return unpack_file(w->out, path, err);
}

static bool take_file(struct walk *w, int dirfd, const char *name, struct str path, struct err *err)
{
    struct err why = {0};
    auto_fd int fd = fs_open_beneath(dirfd, name, O_RDONLY | O_NONBLOCK, 0, &why);
    if (fd < 0) {
        unpack_left_out(w->task, path, NULL, &why);
        return true;
    }
    return copy_file(w, fd, path, err) && unpack_keep(w->task, w->out, err) && keep_copied(w, 0, err);
}

static bool walk_dir(struct walk *w, int fd, struct str prefix, int depth, struct err *err);

static bool take_entry(struct walk *w, int fd, const struct dirent *e, struct str prefix, int depth,
                       struct err *err)
{
    struct stat st;
    struct err why = {0};
    const char *path = prefix.n ? arena_printf(w->task->arena, STR_FMT "/%s", STR_ARG(prefix), e->d_name)
                                : arena_strdup(w->task->arena, e->d_name);
    if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !manifest_check_path(str_of(path), &why)) {
        if (!why.code)
            err_message(&why, ERR_INVALID, NULL, MESSAGE_CANNOT_READ);
        unpack_left_out(w->task, str_of(e->d_name), NULL, &why);
        return true;
    }
    if (S_ISREG(st.st_mode))
        return take_file(w, fd, e->d_name, str_of(path), err);
    if (!S_ISDIR(st.st_mode)) {
        err_message(&why, ERR_INVALID, NULL, MESSAGE_LINK_OR_DEVICE);
        unpack_left_out(w->task, str_of(path), NULL, &why);
        return true;
    }
    int sub = fs_open_beneath(fd, e->d_name, O_RDONLY | O_DIRECTORY, 0, &why);
    if (sub < 0 || depth == MAX_DEPTH) {
        if (sub >= 0)
            err_message(&why, ERR_INVALID, NULL, MESSAGE_TOO_DEEP);
        unpack_left_out(w->task, str_of(path), NULL, &why);
        base_close_fd(&sub);
        return true;
    }
    return walk_dir(w, sub, str_of(path), depth + 1, err);
}

/* Owns fd. */
static bool walk_dir(struct walk *w, int fd, struct str prefix, int depth, struct err *err)
{
    struct dirent **names;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return err_errno(err, errno, "cannot read a folder");
    }
    int n = scandirat(fd, ".", &names, NULL, alphasort);
    bool ok = n >= 0 || err_errno(err, errno, "cannot read a folder");
    for (int i = 0; i < n; i++) {
        bool self = strcmp(names[i]->d_name, ".") == 0 || strcmp(names[i]->d_name, "..") == 0;
        ok = ok && (self || take_entry(w, fd, names[i], prefix, depth, err));
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    closedir(dir);
    return ok;
}

/* -1: an error. */
static int open_allowed(struct task *t, struct str path, int flags, struct err *err)
{
    struct str rest;
    const char *root = find_root(t->core, path, &rest);
    if (!root)
        return folder_in_check(t->core, path, err), -1;
    auto_fd int root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root_fd < 0)
        return err_errno(err, errno, "cannot open %s", root), -1;
    return fs_open_beneath(root_fd, arena_strz(t->arena, rest), O_RDONLY | flags, 0, err);
}

bool folder_in(struct task *t, struct str path, struct unpacked *out, struct err *err)
{
    int counted = open_allowed(t, path, O_DIRECTORY, err);
    struct walk w = {.task = t, .out = out};
    if (counted < 0 || !count_dir(t, counted, 0, &w.bytes, err))
        return false;
    int fd = open_allowed(t, path, O_DIRECTORY, err);
    if (fd < 0)
        return false;
    w.block = base_alloc(BLOCK);
    bool ok = walk_dir(&w, fd, STR_NULL, 0, err);
    free(w.block);
    return ok;
}

bool folder_in_file(struct task *t, struct str path, struct str name, struct unpacked *out, int64_t done,
                    struct err *err)
{
    struct stat st;
    auto_fd int fd = open_allowed(t, path, O_NONBLOCK, err);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return err_set(err, ERR_INVALID, NULL, "\"" STR_FMT "\" is no file", STR_ARG(path));
    auto_free char *block = base_alloc(BLOCK);
    return copy_file(&(struct walk){.task = t, .out = out, .block = block, .copied = done}, fd, name, err);
}
