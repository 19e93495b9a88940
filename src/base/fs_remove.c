/* fs_remove_tree: one folder open at a time and the way back kept on the heap, so neither a deep tree nor a
 * wide one runs out of stack or descriptors. */
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

struct level {
    dev_t dev; /* of the parent, to notice when the tree is moved meanwhile */
    ino_t ino;
    char *name; /* in the parent */
};

struct walk {
    struct level *levels;
    size_t n, cap;
};

static bool push(struct walk *w, int parent, const char *name, struct err *err)
{
    struct stat st;
    if (fstat(parent, &st) < 0)
        return err_errno(err, errno, "removing \"%s\"", name);
    if (w->n == w->cap) {
        w->cap = w->cap ? w->cap * 2 : 16;
        w->levels = base_realloc(w->levels, w->cap * sizeof *w->levels);
    }
    w->levels[w->n++] = (struct level){st.st_dev, st.st_ino, base_strdup(name)};
    return true;
}

enum found { FOUND_NOTHING, FOUND_FOLDER, FOUND_ERROR };

static bool is_dots(const char *name)
{
    return name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0));
}

/* Removes what is no folder from fd; stops at the first folder, whose name is given back. */
static enum found empty_of_files(int fd, char ret_name[256], struct err *err)
{
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy < 0 ? NULL : fdopendir(copy);
    if (!d) {
        err_errno(err, errno, "reading a folder");
        if (copy >= 0)
            close(copy);
        return FOUND_ERROR;
    }
    enum found found = FOUND_NOTHING;
    struct dirent *e;
    while (found == FOUND_NOTHING && (errno = 0, e = readdir(d))) {
        if (is_dots(e->d_name))
            continue;
        if (e->d_type != DT_DIR && (unlinkat(fd, e->d_name, 0) == 0 || errno == ENOENT))
            continue;
        if (e->d_type == DT_DIR || errno == EISDIR) {
            strcpy(ret_name, e->d_name);
            found = FOUND_FOLDER;
        } else {
            err_errno(err, errno, "removing \"%s\"", e->d_name);
            found = FOUND_ERROR;
        }
    }
    if (found == FOUND_NOTHING && errno) {
        err_errno(err, errno, "reading a folder");
        found = FOUND_ERROR;
    }
    closedir(d);
    return found;
}

/* From the empty folder *fd to its parent, removing it there. top is the folder where all began. */
static bool ascend(struct walk *w, int top, int *fd, struct err *err)
{
    struct level l = w->levels[--w->n];
    auto_free char *name = l.name;
    int up = w->n == 0 ? openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                       : openat(*fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat st;
    if (up < 0 || fstat(up, &st) < 0) {
        err_errno(err, errno, "removing \"%s\"", name);
    } else if (st.st_dev != l.dev || st.st_ino != l.ino) {
        err_set(err, ERR_CONFLICT, NULL, "\"%s\" was moved while it was removed", name);
    } else if (unlinkat(up, name, AT_REMOVEDIR) < 0 && errno != ENOENT && errno != ENOTEMPTY) {
        err_errno(err, errno, "removing \"%s\"", name);
    } else {
        close(*fd);
        *fd = up;
        return true;
    }
    if (up >= 0)
        close(up);
    return false;
}

static bool walk_tree(struct walk *w, int dirfd, const char *name, struct err *err)
{
    auto_fd int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "removing \"%s\"", name);
    char child[256];
    if (strlen(name) >= sizeof child)
        return err_set(err, ERR_INVALID, NULL, "the name \"%s\" is too long", name);
    strcpy(child, name);
    for (;;) {
        int down = openat(fd, child, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (down < 0 && errno != ENOENT)
            return err_errno(err, errno, "removing \"%s\"", child);
        if (down >= 0) {
            if (!push(w, fd, child, err)) {
                close(down);
                return false;
            }
            close(fd);
            fd = down;
        }
        enum found found = FOUND_NOTHING;
        while (w->n && (found = empty_of_files(fd, child, err)) == FOUND_NOTHING)
            if (!ascend(w, dirfd, &fd, err))
                return false;
        if (w->n == 0)
            return true;
        if (found == FOUND_ERROR)
            return false;
    }
}

bool fs_remove_tree(int dirfd, const char *name, struct err *err)
{
    if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
        return true;
    if (errno != EISDIR)
        return err_errno(err, errno, "removing \"%s\"", name);
    struct walk w = {0};
    bool ok = walk_tree(&w, dirfd, name, err);
    for (size_t i = 0; i < w.n; i++)
        free(w.levels[i].name);
    free(w.levels);
    return ok;
}
