/* Blobs as files of a folder, for mounting. */
#include "base/fs.h"
#include "base/thread.h"
#include "store/bucket.h"
#include "store/store_own.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>

#define FETCHERS 8

static bool make_folders(int dirfd, const char *path, struct err *err)
{
    char part[PATH_MAX];
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        int n = snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        if (n < 0 || n >= (int)sizeof part)
            return err_set(err, ERR_INVALID, "path", "a path of %zu bytes is too long", strlen(path));
        if (mkdirat(dirfd, part, 0755) != 0 && errno != EEXIST)
            return err_errno(err, errno, "cannot make folder %s", part);
    }
    return true;
}

/* Links share the inode's mode, so an executable file is a copy: scripts are few and small. */
static bool copy(int from, int dirfd, const char *path, int64_t size, bool executable, struct err *err)
{
    mode_t mode = executable ? 0555 : 0444;
    auto_fd int to = openat(dirfd, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (to < 0)
        return err_errno(err, errno, "cannot make %s", path);
    while (size > 0) {
        ssize_t n = copy_file_range(from, NULL, to, NULL, (size_t)size, 0);
        if (n <= 0)
            return err_errno(err, n < 0 ? errno : EIO, "cannot copy to %s", path);
        size -= n;
    }
    return true;
}

/* false with errno; ENOENT also when a folder of the path is missing. */
static bool try_link(struct store *s, const struct digest *d, int dirfd, const char *path)
{
    char from[BLOB_PATH_MAX];
    blob_path(d, from);
    return linkat(s->blobs_fd, from, dirfd, path, 0) == 0 ||
           (s->bucket && errno == ENOENT && bucket_link(s, d, dirfd, path));
}

/* Without fetching: most folders are there already, so they are only made when a link fails. */
static bool link_here(struct store *s, const struct blob_to_link *x, int dirfd, bool *ret_done,
                      struct err *err)
{
    *ret_done = !x->executable && try_link(s, x->blob, dirfd, x->path);
    if (*ret_done)
        return true;
    if (!x->executable && errno != ENOENT && errno != EMLINK)
        return err_errno(err, errno, "cannot link %s", x->path);
    if (!make_folders(dirfd, x->path, err))
        return false;
    *ret_done = !x->executable && try_link(s, x->blob, dirfd, x->path);
    return true;
}

/* What could not be linked as it was: fetched first, or copied. A file has at most 65,000 names, and one of
 * the cache may leave it again before it is linked. */
static bool link_fetched(struct store *s, const struct blob_to_link *x, int dirfd, struct err *err)
{
    int64_t size;
    auto_fd int fd = blob_open(s, x->blob, &size, err);
    if (fd < 0)
        return false;
    if (x->executable)
        return copy(fd, dirfd, x->path, size, true, err);
    if (try_link(s, x->blob, dirfd, x->path))
        return true;
    if (errno == EMLINK || (s->bucket && errno == ENOENT))
        return copy(fd, dirfd, x->path, size, false, err);
    return err_errno(err, errno, "cannot link %s", x->path);
}

bool blob_link(struct store *s, const struct digest *d, int dirfd, const char *path, bool executable,
               struct err *err)
{
    struct blob_to_link x = {d, path, executable};
    bool done;
    return link_here(s, &x, dirfd, &done, err) && (done || link_fetched(s, &x, dirfd, err));
}

/* --- many --- */

struct linking {
    struct store *store;
    const struct blob_to_link **item; /* those that are left */
    size_t n;
    int dirfd;
    atomic_size_t next;
    atomic_bool failed;
    pthread_mutex_t lock;
    struct err err; /* the first */
};

static void *link_thread(void *arg)
{
    struct linking *l = arg;
    struct err err = {0};
    for (size_t i; !atomic_load(&l->failed) && (i = atomic_fetch_add(&l->next, 1)) < l->n;)
        if (!link_fetched(l->store, l->item[i], l->dirfd, &err)) {
            pthread_mutex_lock(&l->lock);
            if (!l->err.code)
                l->err = err;
            pthread_mutex_unlock(&l->lock);
            atomic_store(&l->failed, true);
        }
    return NULL;
}

static bool link_left(struct linking *l, struct err *err)
{
    pthread_t thread[FETCHERS];
    size_t threads = !l->store->bucket ? 0 : l->n < FETCHERS ? l->n : FETCHERS;
    pthread_mutex_init(&l->lock, NULL);
    for (size_t i = 1; i < threads; i++)
        thread[i] = thread_start("link", link_thread, l);
    link_thread(l);
    for (size_t i = 1; i < threads; i++)
        pthread_join(thread[i], NULL);
    pthread_mutex_destroy(&l->lock);
    if (l->err.code)
        *err = l->err;
    return !l->err.code;
}

bool blob_link_all(struct store *s, const struct blob_to_link *item, size_t n, int dirfd, struct err *err)
{
    auto_free const struct blob_to_link **left = base_alloc((n + 1) * sizeof *left);
    struct linking l = {.store = s, .item = left, .dirfd = dirfd};
    for (size_t i = 0; i < n; i++) {
        bool done;
        if (!link_here(s, &item[i], dirfd, &done, err))
            return false;
        if (!done)
            left[l.n++] = &item[i];
    }
    return link_left(&l, err);
}
