#include "core/image/layer.h"

#include "base/fs.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#define BLOCK (256 << 10)

struct unpack {
    int dir;
    const struct layer_limits *limits;
    int64_t bytes, entries, since_look;
    struct archive *archive;
};

/* The folder is the root for every link, also absolute ones: as in the container. */
static int open_inside(int dir, const char *path, int flags)
{
    struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC),
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    return (int)syscall(SYS_openat2, dir, *path ? path : ".", &how, sizeof how);
}

/* "./usr//bin/" to "usr/bin"; false for "..", empty names (the root is "") and paths that are too long. */
static bool clean(const char *raw, char ret[PATH_MAX])
{
    size_t n = 0;
    while (*raw) {
        size_t k = strcspn(raw, "/");
        bool dot = k == 1 && raw[0] == '.';
        if (k == 2 && raw[0] == '.' && raw[1] == '.')
            return false;
        if (k > NAME_MAX || n + k + 2 > PATH_MAX)
            return false;
        if (k && !dot) {
            if (n)
                ret[n++] = '/';
            memcpy(ret + n, raw, k);
            n += k;
        }
        raw += k;
        raw += *raw == '/';
    }
    ret[n] = 0;
    return true;
}

static int make_parents(struct unpack *u, const char *path, struct err *err)
{
    int at = open_inside(u->dir, path, O_RDONLY | O_DIRECTORY);
    if (at >= 0 || errno != ENOENT) {
        if (at < 0)
            err_errno(err, errno, "the layer's folder \"%.100s\" cannot be opened", path);
        return at;
    }
    char part[PATH_MAX];
    for (const char *from = path; from; from = strchr(from, '/')) {
        from += *from == '/';
        const char *end = strchrnul(from, '/');
        snprintf(part, sizeof part, "%.*s", from > path ? (int)(from - path - 1) : 0, path);
        auto_fd int parent = open_inside(u->dir, part, O_RDONLY | O_DIRECTORY);
        snprintf(part, sizeof part, "%.*s", (int)(end - from), from);
        if (parent < 0 || (mkdirat(parent, part, 0755) != 0 && errno != EEXIST))
            return err_errno(err, errno, "the layer's folder \"%.100s\" cannot be made", path), -1;
    }
    at = open_inside(u->dir, path, O_RDONLY | O_DIRECTORY);
    if (at < 0)
        err_errno(err, errno, "the layer's folder \"%.100s\" cannot be opened", path);
    return at;
}

/* --- owners, modes, times --- */

static void set_xattrs(int fd, struct archive_entry *e)
{
    const char *name;
    const void *value;
    size_t n;
    archive_entry_xattr_reset(e);
    /* Others are the platform's own (trusted.overlay.*) or another system's. */
    while (archive_entry_xattr_next(e, &name, &value, &n) == ARCHIVE_OK)
        if (name && (strcmp(name, "security.capability") == 0 || strncmp(name, "user.", 5) == 0))
            fsetxattr(fd, name, value, n, 0);
}

/* The owner first: it clears the bits that the mode sets. */
static bool set_facts(int fd, struct archive_entry *e, struct err *err)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = archive_entry_mtime(e)}};
    if (fchown(fd, (uid_t)archive_entry_uid(e), (gid_t)archive_entry_gid(e)) != 0 ||
        fchmod(fd, archive_entry_perm(e) & 07777) != 0)
        return err_errno(err, errno, "the owner of a layer's file cannot be set");
    set_xattrs(fd, e);
    if (archive_entry_mtime_is_set(e))
        futimens(fd, times);
    return true;
}

/* --- one entry --- */

static bool remove_old(int parent, const char *name, struct err *err)
{
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
        return true;
    if (errno == EISDIR || errno == EPERM || errno == ENOTEMPTY)
        return fs_remove_tree(parent, name, err);
    return err_errno(err, errno, "\"%.100s\" of the layer cannot be replaced", name);
}

static bool make_dir(int parent, const char *name, struct archive_entry *e, struct err *err)
{
    struct stat st;
    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(st.st_mode) &&
        !remove_old(parent, name, err))
        return false;
    if (mkdirat(parent, name, 0755) != 0 && errno != EEXIST)
        return err_errno(err, errno, "the layer's folder \"%.100s\" cannot be made", name);
    auto_fd int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "the layer's folder \"%.100s\" cannot be opened", name);
    return set_facts(fd, e, err);
}

static bool room(struct unpack *u, size_t more, struct err *err)
{
    u->bytes += (int64_t)more;
    u->since_look += (int64_t)more;
    if (u->bytes > u->limits->bytes)
        return err_set(err, ERR_INVALID, NULL, "the layer unpacks to more than %lld bytes",
                       (long long)u->limits->bytes);
    if (u->limits->stop && atomic_load(u->limits->stop))
        return err_set(err, ERR_UNAVAILABLE, NULL, "the server is ending");
    if (u->since_look < 64 << 20)
        return true;
    u->since_look = 0;
    struct statvfs v;
    if (fstatvfs(u->dir, &v) == 0 && (int64_t)(v.f_bavail * v.f_frsize) < u->limits->free_bytes)
        return err_set(err, ERR_UNAVAILABLE, NULL, "the disk is too full to unpack the image");
    return true;
}

static bool write_data(struct unpack *u, int fd, struct err *err)
{
    const void *p;
    size_t n;
    la_int64_t offset;
    int rc;
    while ((rc = archive_read_data_block(u->archive, &p, &n, &offset)) == ARCHIVE_OK) {
        if (!room(u, n, err))
            return false;
        for (size_t done = 0; done < n;) {
            ssize_t k = pwrite(fd, (const char *)p + done, n - done, offset + (la_int64_t)done);
            if (k < 0)
                return err_errno(err, errno, "the layer cannot be unpacked");
            done += (size_t)k;
        }
    }
    return rc == ARCHIVE_EOF ||
           err_set(err, ERR_INVALID, NULL, "the layer is broken: %.100s", archive_error_string(u->archive));
}

static bool make_file(struct unpack *u, int parent, const char *name, struct archive_entry *e,
                      struct err *err)
{
    if (!remove_old(parent, name, err))
        return false;
    auto_fd int fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, errno, "the layer's file \"%.100s\" cannot be made", name);
    int64_t size = archive_entry_size(e);
    if (!write_data(u, fd, err))
        return false;
    if (size > u->limits->bytes || ftruncate(fd, size) != 0) /* a hole at its end */
        return err_errno(err, errno, "the layer's file \"%.100s\" cannot have its size", name);
    return set_facts(fd, e, err);
}

static bool make_link(struct unpack *u, int parent, const char *name, const char *to, struct err *err)
{
    char target[PATH_MAX];
    if (!clean(to, target) || !*target)
        return err_set(err, ERR_INVALID, NULL, "the layer links \"%.80s\" to \"%.80s\"", name, to);
    char *last = strrchr(target, '/');
    if (last)
        *last = 0;
    auto_fd int from = open_inside(u->dir, last ? target : "", O_RDONLY | O_DIRECTORY);
    const char *base = last ? last + 1 : target;
    if (from < 0)
        return err_errno(err, errno, "the layer links \"%.80s\" to a file that is not there", name);
    if (linkat(from, base, parent, name, 0) == 0)
        return true;
    if (errno == EEXIST)
        return remove_old(parent, name, err) && (linkat(from, base, parent, name, 0) == 0 ||
                                                 err_errno(err, errno, "\"%.80s\" cannot be linked", name));
    return err_errno(err, errno, "the layer links \"%.80s\" to a file that is not there", name);
}

/* Names in a pax header are UTF-8, those in the old one plain bytes. */
static const char *name_of(const char *bytes, const char *utf8)
{
    return bytes ? bytes : utf8;
}

static bool make_other(struct unpack *u, int parent, const char *name, struct archive_entry *e,
                       struct err *err)
{
    (void)u;
    uid_t uid = (uid_t)archive_entry_uid(e);
    gid_t gid = (gid_t)archive_entry_gid(e);
    const char *to = name_of(archive_entry_symlink(e), archive_entry_symlink_utf8(e));
    bool made;
    if (archive_entry_filetype(e) == AE_IFLNK && !to)
        return err_set(err, ERR_INVALID, NULL, "the layer has a link to nowhere");
    if (!remove_old(parent, name, err))
        return false;
    if (archive_entry_filetype(e) == AE_IFLNK)
        made = symlinkat(to, parent, name) == 0;
    else
        made = mknodat(parent, name, S_IFIFO | (archive_entry_perm(e) & 0777), 0) == 0;
    if (!made || fchownat(parent, name, uid, gid, AT_SYMLINK_NOFOLLOW) != 0)
        return err_errno(err, errno, "\"%.100s\" of the layer cannot be made", name);
    return true;
}

/* ".wh.NAME" hides NAME of the layers below; ".wh..wh..opq" hides all of the folder's. */
static bool whiteout(int parent, const char *name, struct err *err)
{
    const char *hidden = name + 4;
    if (strcmp(hidden, ".wh..opq") == 0)
        return fsetxattr(parent, "trusted.overlay.opaque", "y", 1, 0) == 0 ||
               err_errno(err, errno, "a folder of the layer cannot be made opaque");
    if (strncmp(hidden, ".wh.", 4) == 0)
        return true; /* another union file system's own */
    if (!*hidden || strcmp(hidden, ".") == 0 || strcmp(hidden, "..") == 0)
        return err_set(err, ERR_INVALID, NULL, "the layer hides \"%.80s\"", name);
    struct stat st;
    if (fstatat(parent, hidden, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return true; /* the layer itself has it: that is what counts */
    return mknodat(parent, hidden, S_IFCHR, makedev(0, 0)) == 0 ||
           err_errno(err, errno, "\"%.80s\" of the layer cannot be hidden", hidden);
}

static bool entry(struct unpack *u, struct archive_entry *e, struct err *err)
{
    char path[PATH_MAX];
    const char *raw = name_of(archive_entry_pathname(e), archive_entry_pathname_utf8(e));
    const char *hard = name_of(archive_entry_hardlink(e), archive_entry_hardlink_utf8(e));
    if (++u->entries > u->limits->entries)
        return err_set(err, ERR_INVALID, NULL, "the layer has more than %lld files",
                       (long long)u->limits->entries);
    if (!raw || !clean(raw, path))
        return err_set(err, ERR_INVALID, NULL, "the layer has a file with the path \"%.100s\"",
                       raw ? raw : "");
    if (!*path) /* the root: as the lowest layer or the skeleton has it */
        return archive_entry_filetype(e) == AE_IFDIR ? set_facts(u->dir, e, err) : true;
    char *last = strrchr(path, '/');
    const char *name = last ? last + 1 : path;
    if (last)
        *last = 0;
    auto_fd int parent = make_parents(u, last ? path : "", err);
    if (parent < 0)
        return false;
    if (strncmp(name, ".wh.", 4) == 0)
        return whiteout(parent, name, err);
    if (hard)
        return make_link(u, parent, name, hard, err);
    switch (archive_entry_filetype(e)) {
    case AE_IFREG:
        return make_file(u, parent, name, e, err);
    case AE_IFDIR:
        return make_dir(parent, name, e, err);
    case AE_IFLNK:
    case AE_IFIFO:
        return make_other(u, parent, name, e, err);
    default:
        return true;
    }
}

bool layer_unpack(int in, int dir, const struct layer_limits *l, struct err *err)
{
    struct unpack u = {.dir = dir, .limits = l, .archive = archive_read_new()};
    struct archive_entry *e;
    int rc = ARCHIVE_FATAL;
    archive_read_support_format_tar(u.archive);
    archive_read_support_format_empty(u.archive);
    archive_read_support_filter_gzip(u.archive);
    archive_read_support_filter_zstd(u.archive);
    bool ok = archive_read_open_fd(u.archive, in, BLOCK) == ARCHIVE_OK;
    while (ok && ((rc = archive_read_next_header(u.archive, &e)) == ARCHIVE_OK || rc == ARCHIVE_WARN))
        ok = room(&u, 0, err) && entry(&u, e, err);
    if (rc != ARCHIVE_EOF && !err->code)
        ok = err_set(err, ERR_INVALID, NULL, "the layer is no tar: %.100s", archive_error_string(u.archive));
    archive_read_free(u.archive);
    return ok;
}
