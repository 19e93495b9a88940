#include "base/fs.h"

#include "base/buf.h"

#include <errno.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

int fs_open_beneath(int dirfd, const char *path, int flags, mode_t mode, struct err *err)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
        .mode = flags & O_CREAT ? mode : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    long fd;
    do {
        fd = syscall(SYS_openat2, dirfd, path, &how, sizeof how);
    } while (fd < 0 && (errno == EINTR || errno == EAGAIN));
    if (fd >= 0)
        return (int)fd;
    if (errno == ENOENT || errno == ENOTDIR)
        err_set(err, ERR_NOT_FOUND, "path", "\"%s\" does not exist", path);
    else if (errno == EXDEV || errno == ELOOP)
        err_set(err, ERR_INVALID, "path", "\"%s\" leads out of its folder or through a link", path);
    else if (errno == EEXIST)
        err_set(err, ERR_EXISTS, "path", "\"%s\" exists", path);
    else if (errno == ENAMETOOLONG)
        err_set(err, ERR_INVALID, "path", "the path is too long");
    else
        err_errno(err, errno, "opening \"%s\"", path);
    return -1;
}

bool fs_mkdirs(const char *path, mode_t mode, struct err *err)
{
    char part[PATH_MAX];
    size_t n = strlen(path);
    if (n == 0 || n >= sizeof part)
        return err_set(err, ERR_INVALID, "path", "a path has 1 to %d bytes", PATH_MAX - 1);
    memcpy(part, path, n + 1);
    for (size_t i = 1; i <= n; i++) {
        if (part[i] != '/' && part[i] != 0)
            continue;
        char c = part[i];
        part[i] = 0;
        if (mkdir(part, mode) < 0 && errno != EEXIST)
            return err_errno(err, errno, "making the folder \"%s\"", part);
        part[i] = c;
    }
    struct stat st;
    if (stat(path, &st) < 0)
        return err_errno(err, errno, "making the folder \"%s\"", path);
    if (!S_ISDIR(st.st_mode))
        return err_errno(err, ENOTDIR, "making the folder \"%s\"", path);
    return true;
}

/* Reads at most max bytes and one more, which shows that there is more. */
static bool read_all(int fd, const char *path, size_t max, struct buf *b, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && (uint64_t)st.st_size <= max)
        buf_reserve(b, (size_t)st.st_size + 1);
    while (b->n <= max) {
        if (b->cap - b->n < 2)
            buf_reserve(b, 4096);
        size_t room = b->cap - b->n - 1;
        if (room > max - b->n + 1)
            room = max - b->n + 1;
        ssize_t got = read(fd, b->p + b->n, room);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(err, errno, "reading \"%s\"", path);
        if (got == 0)
            return true;
        b->n += (size_t)got;
    }
    return err_set(err, ERR_TOO_LARGE, NULL, "\"%s\" is larger than %zu bytes", path, max);
}

bool fs_read(struct arena *a, const char *path, size_t max, struct str *ret, struct err *err)
{
    auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return err_set(err, ERR_NOT_FOUND, NULL, "\"%s\" does not exist", path);
    if (fd < 0)
        return err_errno(err, errno, "opening \"%s\"", path);
    auto_buf struct buf b = {0};
    if (!read_all(fd, path, max, &b, err))
        return false;
    ret->p = arena_strz(a, buf_view(&b));
    ret->n = b.n;
    return true;
}

bool fs_write_all(int fd, const void *p, size_t n, struct err *err)
{
    const char *at = p;
    while (n) {
        ssize_t done = write(fd, at, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return err_errno(err, errno, "writing");
        at += done;
        n -= (size_t)done;
    }
    return true;
}

static bool parent_of(const char *path, char ret[PATH_MAX], struct err *err)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;
    if (n >= PATH_MAX)
        return err_set(err, ERR_INVALID, "path", "the path is too long");
    if (slash == path)
        strcpy(ret, "/");
    else if (!slash)
        strcpy(ret, ".");
    else
        memcpy(ret, path, n), ret[n] = 0;
    return true;
}

bool fs_write_atomic(const char *path, struct str data, mode_t mode, struct err *err)
{
    char temp[PATH_MAX], folder[PATH_MAX];
    int n = snprintf(temp, sizeof temp, "%s.XXXXXX", path);
    if (n < 0 || (size_t)n >= sizeof temp)
        return err_set(err, ERR_INVALID, "path", "the path is too long");
    if (!parent_of(path, folder, err))
        return false;
    auto_fd int fd = mkostemp(temp, O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "writing \"%s\"", path);
    bool ok = fs_write_all(fd, data.p, data.n, err);
    if (ok && (fchmod(fd, mode) < 0 || fsync(fd) < 0 || rename(temp, path) < 0))
        ok = err_errno(err, errno, "writing \"%s\"", path);
    if (!ok) {
        unlink(temp);
        return false;
    }
    return fs_sync_dir(folder, err);
}

bool fs_sync_dir(const char *path, struct err *err)
{
    auto_fd int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) < 0)
        return err_errno(err, errno, "syncing the folder \"%s\"", path);
    return true;
}

uint64_t fs_free_bytes(const char *path)
{
    struct statvfs st;
    return statvfs(path, &st) == 0 ? (uint64_t)st.f_bavail * st.f_frsize : 0;
}
