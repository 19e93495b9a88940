#include "core/folder/walk.h"

#include "base/messages.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#define MAX_DEPTH 64
#define MAX_FILES 100000

static bool is_dots(const char *name)
{
    return name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0));
}

static bool skip(struct walk *w, const char *path, const struct err *why)
{
    if (w->skipped)
        w->skipped(w->ctx, path, why);
    return true;
}

static bool list_folder(struct walk *w, int dirfd, const char *path, int depth, struct err *err);

static bool enter(struct walk *w, int dirfd, const char *name, const char *path, int depth, struct err *err)
{
    struct err why = {0};
    if (depth == MAX_DEPTH)
        return err_message(&why, ERR_INVALID, NULL, MESSAGE_FOLDERS_DEEP, MAX_DEPTH) || skip(w, path, &why);
    auto_fd int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        return list_folder(w, fd, path, depth + 1, err);
    if (errno == EACCES || errno == EPERM)
        return err_message(&why, ERR_FORBIDDEN, NULL, MESSAGE_FOLDER_FORBIDDEN) || skip(w, path, &why);
    return errno == ENOENT || err_errno(err, errno, "cannot open %s", path);
}

static bool walk_one(struct walk *w, int dirfd, const char *path, const char *name, int depth,
                     struct err *err)
{
    struct stat st;
    char *full;
    if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT || err_errno(err, errno, "cannot look at %s", name);
    if (asprintf(&full, "%s%s%s", path, *path ? "/" : "", name) < 0)
        abort();
    auto_free char *owned = full;
    if (S_ISDIR(st.st_mode))
        return enter(w, dirfd, name, owned, depth, err);
    struct err why = {0};
    if (S_ISLNK(st.st_mode))
        return err_message(&why, ERR_INVALID, NULL, MESSAGE_FILE_LINK) || skip(w, owned, &why);
    if (!S_ISREG(st.st_mode))
        return err_message(&why, ERR_INVALID, NULL, MESSAGE_NO_PLAIN_FILE) || skip(w, owned, &why);
    if (++w->files > MAX_FILES)
        return err_message(err, ERR_TOO_LARGE, NULL, MESSAGE_FILES_MANY, MAX_FILES);
    struct walk_file f = {owned, dirfd, name, st.st_size, st.st_mode & 0777};
    return w->file(w->ctx, &f, err);
}

static bool list_folder(struct walk *w, int dirfd, const char *path, int depth, struct err *err)
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

bool walk_folder(struct walk *w, int dirfd, struct err *err)
{
    return list_folder(w, dirfd, "", 0, err);
}

bool walk_path(struct walk *w, const char *folder, struct err *err)
{
    auto_fd int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || err_errno(err, errno, "cannot open %s", folder);
    return walk_folder(w, fd, err);
}
