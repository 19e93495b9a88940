/* Copies of blobs that are in the bucket: any of them may vanish at any time without a loss. */
#include "base/clock.h"
#include "base/fs.h"
#include "store/bucket.h"
#include "store/store_own.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>

#define TOUCH_AFTER_S 60

struct bucket_cache {
    int fd; /* <data>/cache/blobs */
    int64_t max;
    pthread_mutex_t lock; /* of bytes, and held while room is made */
    int64_t bytes;
};

struct cached {
    char path[BLOB_PATH_MAX];
    int64_t size;
    struct timespec used;
};

struct listing {
    struct cached *item;
    size_t n, cap;
    int64_t bytes;
};

static void list_folder(struct bucket_cache *c, const char *folder, struct listing *l)
{
    int fd = openat(c->fd, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *e;
    struct stat st;
    if (!dir)
        return;
    while ((e = readdir(dir))) {
        if (strlen(e->d_name) != SHA256_HEX || fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (l->n == l->cap) {
            l->cap = l->cap ? l->cap * 2 : 256;
            l->item = base_realloc(l->item, l->cap * sizeof *l->item);
        }
        struct cached *x = &l->item[l->n++];
        snprintf(x->path, sizeof x->path, "%.2s/%.64s", folder, e->d_name);
        x->size = st.st_size;
        x->used = st.st_mtim;
        l->bytes += st.st_size;
    }
    closedir(dir);
}

static void list_all(struct bucket_cache *c, struct listing *l)
{
    for (unsigned i = 0; i < 256; i++) {
        char folder[3];
        uint8_t first = (uint8_t)i;
        hex_encode(&first, 1, folder);
        list_folder(c, folder, l);
    }
}

static int longest_ago_first(const void *a, const void *b)
{
    const struct cached *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

/* Under the lock. Down to nine tenths, so that it is not done for every file. */
static void make_room(struct bucket_cache *c)
{
    struct listing l = {0};
    list_all(c, &l);
    c->bytes = l.bytes;
    if (l.n)
        qsort(l.item, l.n, sizeof *l.item, longest_ago_first);
    for (size_t i = 0; i < l.n && c->bytes > c->max / 10 * 9; i++)
        if (unlinkat(c->fd, l.item[i].path, 0) == 0)
            c->bytes -= l.item[i].size;
    free(l.item);
}

struct bucket_cache *bucket_cache_open(int cache_fd, int64_t max_bytes, struct err *err)
{
    if (mkdirat(cache_fd, "blobs", 0750) != 0 && errno != EEXIST)
        return err_errno(err, errno, "cannot make the cache of blobs"), NULL;
    int fd = openat(cache_fd, "blobs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "cannot open the cache of blobs"), NULL;
    struct bucket_cache *c = base_zalloc(sizeof *c);
    struct listing l = {0};
    c->fd = fd;
    c->max = max_bytes;
    pthread_mutex_init(&c->lock, NULL);
    list_all(c, &l);
    c->bytes = l.bytes;
    free(l.item);
    return c;
}

void bucket_cache_close(struct bucket_cache *c)
{
    if (!c)
        return;
    close(c->fd);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* A file's time says when it was last used; a minute is exact enough and spares most of the writing. */
int bucket_cache_get(struct bucket_cache *c, const struct digest *d)
{
    char path[BLOB_PATH_MAX];
    struct stat st;
    blob_path(d, path);
    int fd = openat(c->fd, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && clock_now() / 1000000 - st.st_mtim.tv_sec > TOUCH_AFTER_S)
        futimens(fd, NULL);
    return fd;
}

bool bucket_cache_add(struct bucket_cache *c, int dirfd, const char *name, const struct digest *d,
                      int64_t size, struct err *err)
{
    char path[BLOB_PATH_MAX];
    blob_path(d, path);
    char folder[3] = {path[0], path[1], 0};
    if (mkdirat(c->fd, folder, 0750) != 0 && errno != EEXIST)
        return err_errno(err, errno, "cannot make a folder for blobs");
    struct stat st;
    bool there = fstatat(c->fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (renameat(dirfd, name, c->fd, path) != 0)
        return err_errno(err, errno, "cannot move a blob to the cache");
    pthread_mutex_lock(&c->lock);
    c->bytes += there ? 0 : size;
    if (c->bytes > c->max)
        make_room(c);
    pthread_mutex_unlock(&c->lock);
    return true;
}

bool bucket_cache_link(struct bucket_cache *c, const struct digest *d, int dirfd, const char *path)
{
    char from[BLOB_PATH_MAX];
    blob_path(d, from);
    return linkat(c->fd, from, dirfd, path, 0) == 0;
}

void bucket_cache_drop(struct bucket_cache *c, const struct digest *d)
{
    char path[BLOB_PATH_MAX];
    struct stat st;
    blob_path(d, path);
    bool there = fstatat(c->fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (!there || unlinkat(c->fd, path, 0) != 0)
        return;
    pthread_mutex_lock(&c->lock);
    c->bytes -= st.st_size;
    pthread_mutex_unlock(&c->lock);
}

int64_t bucket_cache_bytes(struct bucket_cache *c)
{
    pthread_mutex_lock(&c->lock);
    int64_t n = c->bytes;
    pthread_mutex_unlock(&c->lock);
    return n;
}

int64_t bucket_cache_max(const struct bucket_cache *c)
{
    return c->max;
}
