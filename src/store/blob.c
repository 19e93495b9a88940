/* Writing and reading blobs. */
#include "base/clock.h"
#include "base/fs.h"
#include "store/bucket.h"
#include "store/store_own.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

struct blob_writer {
    struct store *store;
    struct sha256 *hash;
    int fd;
    int64_t size;
    char name[BLOB_NAME_MAX];
};

void blob_path(const struct digest *d, char ret[BLOB_PATH_MAX])
{
    hex_encode(d->b, 1, ret);
    ret[2] = '/';
    digest_hex(d, ret + 3);
}

struct blob_writer *blob_writer_new(struct store *s, struct err *err)
{
    struct blob_writer *w = base_zalloc(sizeof *w);
    uint8_t id[16];
    random_bytes(id, sizeof id);
    hex_encode(id, sizeof id, w->name);
    w->store = s;
    w->fd = openat(s->tmp_fd, w->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0440);
    if (w->fd < 0) {
        err_errno(err, errno, "cannot make a file for a blob");
        free(w);
        return NULL;
    }
    w->hash = sha256_new();
    return w;
}

bool blob_writer_add(struct blob_writer *w, struct str piece, struct err *err)
{
    sha256_add(w->hash, piece.p, piece.n);
    w->size += (int64_t)piece.n;
    return fs_write_all(w->fd, piece.p, piece.n, err);
}

void blob_writer_abort(struct blob_writer *w)
{
    if (!w)
        return;
    sha256_free(w->hash);
    close(w->fd);
    unlinkat(w->store->tmp_fd, w->name, 0);
    free(w);
}

bool blob_writer_finish(struct blob_writer *w, struct digest *ret, int64_t *ret_size, struct err *err)
{
    struct digest d;
    sha256_finish(w->hash, d.b);
    w->hash = NULL;
    bool ok = fsync(w->fd) == 0 || err_errno(err, errno, "cannot make a blob durable");
    ok = ok && blob_adopt(w->store, w->store->tmp_fd, w->name, &d, w->size, err);
    if (ok) {
        *ret = d;
        if (ret_size)
            *ret_size = w->size;
    }
    close(w->fd);
    if (!ok)
        unlinkat(w->store->tmp_fd, w->name, 0);
    free(w);
    return ok;
}

void blob_writer_end(struct blob_writer *w, struct digest *ret, int64_t *ret_size, char name[BLOB_NAME_MAX])
{
    sha256_finish(w->hash, ret->b);
    *ret_size = w->size;
    memcpy(name, w->name, BLOB_NAME_MAX);
    close(w->fd);
    free(w);
}

bool blob_put(struct store *s, struct str data, struct digest *ret, struct err *err)
{
    struct blob_writer *w = blob_writer_new(s, err);
    if (!w)
        return false;
    if (!blob_writer_add(w, data, err)) {
        blob_writer_abort(w);
        return false;
    }
    return blob_writer_finish(w, ret, NULL, err);
}

struct row_write {
    const struct digest *digest;
    int64_t size;
    bool known;
};

static bool write_row(struct db_conn *c, void *ctx, struct err *err)
{
    struct row_write *r = ctx;
    int64_t changed = 0;
    if (!conn_exec(c, "UPDATE blobs SET touched_at = ? WHERE digest = ?",
                   db_args(db_int(clock_now()), digest_arg(r->digest)), &changed, err))
        return false;
    r->known = changed > 0;
    return r->known ||
           conn_exec(c, "INSERT INTO blobs (digest, size, touched_at) VALUES (?, ?, ?)",
                     db_args(digest_arg(r->digest), db_int(r->size), db_int(clock_now())), NULL, err);
}

bool blob_write_row(struct store *s, const struct digest *d, int64_t size, bool *ret_known, struct err *err)
{
    struct row_write r = {d, size, false};
    if (!db_write(s->db, write_row, &r, err))
        return false;
    if (ret_known)
        *ret_known = r.known;
    return true;
}

static bool is_local(struct store *s, const struct digest *d)
{
    char path[BLOB_PATH_MAX];
    blob_path(d, path);
    return faccessat(s->blobs_fd, path, F_OK, 0) == 0;
}

/* As renameat, but with EEXIST when there is one of the new name; the caller holds its lock. */
static int rename_new(int from, const char *name, int to, const char *path)
{
    if (renameat2(from, name, to, path, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL) /* some network file systems cannot do it */
        return -1;
    if (faccessat(to, path, F_OK, 0) != 0)
        return renameat(from, name, to, path);
    errno = EEXIST;
    return -1;
}

bool blob_move(struct store *s, int dirfd, const char *name, const struct digest *d, struct err *err)
{
    char path[BLOB_PATH_MAX];
    blob_path(d, path);
    char folder[3] = {path[0], path[1], 0};
    int failed = rename_new(dirfd, name, s->blobs_fd, path);
    if (failed && errno == ENOENT) {
        if (mkdirat(s->blobs_fd, folder, 0750) != 0 && errno != EEXIST)
            return err_errno(err, errno, "cannot make a folder for blobs");
        failed = rename_new(dirfd, name, s->blobs_fd, path);
    }
    if (failed && errno == EEXIST)
        return unlinkat(dirfd, name, 0) == 0 ||
               err_errno(err, errno, "cannot remove a second copy of a blob");
    return !failed || err_errno(err, errno, "cannot move a blob into place");
}

static bool move_into_place(struct store *s, int dirfd, const char *name, const struct digest *d,
                            struct err *err)
{
    char folder[3] = "";
    hex_encode(d->b, 1, folder);
    if (!blob_move(s, dirfd, name, d, err))
        return false;
    auto_fd int fd = openat(s->blobs_fd, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0 || fsync(s->blobs_fd) != 0)
        return err_errno(err, errno, "cannot make a blob's name durable");
    return true;
}

/* The row comes first: from then on the collector leaves the digest alone for the grace time, so the file
 * that is moved (or found) in the next step stays. A row whose file is missing is possible after a crash in
 * between; blob_open then says so, and writing the same bytes again mends it. */
bool blob_adopt(struct store *s, int dirfd, const char *name, const struct digest *d, int64_t size,
                struct err *err)
{
    bool known;
    if (!blob_write_row(s, d, size, &known, err))
        return false;
    if (s->bucket && !is_local(s, d))
        return bucket_take(s, dirfd, name, d, size, known, err);
    pthread_mutex_t *lock = &s->lock[d->b[0]];
    pthread_mutex_lock(lock);
    bool ok = move_into_place(s, dirfd, name, d, err);
    pthread_mutex_unlock(lock);
    return ok;
}

bool blob_hash_file(int fd, struct digest *ret, int64_t *ret_size, struct err *err)
{
    struct sha256 *h = sha256_new();
    auto_free char *piece = base_alloc(1 << 18);
    int64_t size = 0;
    ssize_t n;
    while ((n = read(fd, piece, 1 << 18)) > 0) {
        sha256_add(h, piece, (size_t)n);
        size += n;
    }
    if (n < 0) {
        sha256_free(h);
        return err_errno(err, errno, "cannot read the file of a blob");
    }
    sha256_finish(h, ret->b);
    *ret_size = size;
    return true;
}

bool blob_take_file(struct store *s, int dirfd, const char *name, struct digest *ret, int64_t *ret_size,
                    struct err *err)
{
    auto_fd int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct digest d;
    int64_t size;
    if (fd < 0)
        return err_errno(err, errno, "cannot open a file that was uploaded");
    if (!blob_hash_file(fd, &d, &size, err) || !blob_take_hashed(s, dirfd, name, &d, size, err))
        return false;
    *ret = d;
    *ret_size = size;
    return true;
}

bool blob_take_hashed(struct store *s, int dirfd, const char *name, const struct digest *d, int64_t size,
                      struct err *err)
{
    auto_fd int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "cannot open a file that was uploaded");
    if (fchmod(fd, 0440) != 0 || fsync(fd) != 0)
        return err_errno(err, errno, "cannot make a blob durable");
    return blob_adopt(s, dirfd, name, d, size, err);
}

/* -1 with ERR_NOT_FOUND when the data folder does not have it. */
static int open_local(struct store *s, const struct digest *d, int64_t *ret_size, struct err *err)
{
    char path[BLOB_PATH_MAX];
    blob_path(d, path);
    int fd = openat(s->blobs_fd, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    if (fd < 0 && errno == ENOENT)
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no blob %s", path + 3), -1;
    if (fd < 0 || fstat(fd, &st) != 0) {
        err_errno(err, errno, "cannot open blob %s", path + 3);
        base_close_fd(&fd);
        return -1;
    }
    if (ret_size)
        *ret_size = st.st_size;
    return fd;
}

int blob_open(struct store *s, const struct digest *d, int64_t *ret_size, struct err *err)
{
    struct err why = {0};
    int fd = open_local(s, d, ret_size, &why);
    if (fd < 0 && why.code == ERR_NOT_FOUND && s->bucket)
        return bucket_read(s, d, ret_size, err);
    if (fd < 0)
        *err = why;
    return fd;
}

bool blob_begin(struct store *s, const struct digest *d, int *ret_fd, int64_t *ret_size, struct err *err)
{
    struct err why = {0};
    *ret_fd = open_local(s, d, ret_size, &why);
    if (*ret_fd < 0 && why.code == ERR_NOT_FOUND && s->bucket)
        return bucket_begin(s, d, ret_fd, ret_size, err);
    if (*ret_fd < 0)
        *err = why;
    return *ret_fd >= 0;
}

bool blob_send(struct store *s, const struct digest *d, int64_t from, int64_t n, int64_t size,
               const struct blob_sink *sink, struct err *err)
{
    return bucket_send(s, d, from, n, size, sink, err);
}

bool blob_read(struct store *s, struct arena *a, const struct digest *d, size_t max, struct str *ret,
               struct err *err)
{
    int64_t size;
    auto_fd int fd = blob_open(s, d, &size, err);
    if (fd < 0)
        return false;
    if ((uint64_t)size > max)
        return err_set(err, ERR_TOO_LARGE, NULL, "a blob of %lld bytes is over the limit of %zu",
                       (long long)size, max);
    char *p = arena_alloc(a, (size_t)size + 1);
    size_t got = 0;
    while (got < (size_t)size) {
        ssize_t n = read(fd, p + got, (size_t)size - got);
        if (n <= 0)
            return err_errno(err, n < 0 ? errno : EIO, "cannot read a blob");
        got += (size_t)n;
    }
    p[got] = 0;
    *ret = (struct str){p, got};
    return true;
}

struct touch {
    const struct digest *digest;
    int64_t size;
};

static bool touch_row(struct db_conn *c, void *ctx, struct err *err)
{
    struct touch *t = ctx;
    auto_arena struct arena a;
    arena_init(&a);
    struct db_row row;
    bool found;
    if (!conn_query_one(c, &a, "UPDATE blobs SET touched_at = ? WHERE digest = ? RETURNING size",
                        db_args(db_int(clock_now()), digest_arg(t->digest)), &row, &found, err))
        return false;
    t->size = found ? row.v[0].i : -1;
    return true;
}

bool blob_touch(struct store *s, const struct digest *d, int64_t *ret_size, struct err *err)
{
    struct touch t = {d, -1};
    if (!db_write(s->db, touch_row, &t, err))
        return false;
    bool there = t.size >= 0 && is_local(s, d);
    if (t.size >= 0 && !there && s->bucket && !bucket_has(s, d, &there, err))
        return false;
    *ret_size = there ? t.size : -1;
    return true;
}

bool blob_each(struct store *s, bool (*one)(void *ctx, const struct digest *d, struct err *err), void *ctx,
               struct err *err)
{
    struct digest after = {{0}};
    for (;;) {
        auto_arena struct arena a;
        arena_init(&a);
        struct db_rows rows;
        if (!db_query(s->db, &a, "SELECT digest FROM blobs WHERE digest > ? ORDER BY digest LIMIT 1000",
                      db_args(digest_arg(&after)), &rows, err))
            return false;
        for (size_t i = 0; i < rows.n; i++) {
            memcpy(after.b, rows.row[i].v[0].s.p, sizeof after.b);
            if (!one(ctx, &after, err))
                return false;
        }
        if (rows.n == 0)
            return true;
    }
}
