#include "store/upload.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/map.h"
#include "store/store_own.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define KEEP_US    (INT64_C(24) * 3600 * 1000000)
#define RESERVE_US (INT64_C(3600) * 1000000) /* what got no byte for so long holds up no other */

#define MAX_HASHES 256

struct upload_appender {
    struct store *store;
    struct upload upload;
    int fd;
    int64_t offset;
    struct sha256 *hash; /* of all before offset, or NULL: then the file is read again at its end */
};

/* The hash of what an upload has so far, kept from one append to the next: an upload in pieces is then read
 * once. Losing one costs time only. */
struct upload_hash {
    struct sha256 *hash;
    int64_t offset;
};

static struct sha256 *hash_take(struct store *s, const char *id, int64_t offset)
{
    pthread_mutex_lock(&s->appenders_lock);
    struct upload_hash *h = map_remove(s->hashes, str_of(id));
    pthread_mutex_unlock(&s->appenders_lock);
    struct sha256 *hash = h && h->offset == offset ? h->hash : NULL;
    if (h && !hash)
        sha256_free(h->hash);
    free(h);
    return hash || offset > 0 ? hash : sha256_new();
}

static void hash_keep(struct store *s, const char *id, struct sha256 *hash, int64_t offset)
{
    if (!hash)
        return;
    struct upload_hash *h = base_alloc(sizeof *h);
    *h = (struct upload_hash){hash, offset};
    pthread_mutex_lock(&s->appenders_lock);
    bool room = map_count(s->hashes) < MAX_HASHES;
    struct upload_hash *old = room ? map_set(s->hashes, str_of(id), h) : h;
    pthread_mutex_unlock(&s->appenders_lock);
    if (old)
        sha256_free(old->hash);
    free(old);
}

void upload_hashes_free(struct store *s)
{
    struct str key;
    void *value;
    for (size_t i = 0; map_next(s->hashes, &i, &key, &value);) {
        struct upload_hash *h = value;
        sha256_free(h->hash);
        free(h);
    }
    map_free(s->hashes);
}

struct row_change {
    struct db_args args;
    const char *sql;
};

static bool change_row(struct db_conn *c, void *ctx, struct err *err)
{
    const struct row_change *r = ctx;
    return conn_exec(c, r->sql, r->args, NULL, err);
}

/* Inside the write that made the upload's row: `bytes` more, beside what is stored and reserved. */
static bool reserve(struct db_conn *c, const struct upload *u, int64_t bytes, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct db_row row;
    bool found;
    return conn_exec(c, "INSERT INTO upload_room (id, project, bytes) VALUES (?, ?, ?)",
                     db_args(db_textz(u->id), db_int(u->project), db_int(bytes)), NULL, err) &&
           conn_query_one(c, &a,
                          "SELECT CAST(COALESCE(SUM(r.bytes), 0) AS BIGINT) FROM upload_room r"
                          " JOIN uploads u ON u.id = r.id WHERE r.project = ? AND u.expires_at > ?",
                          db_args(db_int(u->project), db_int(clock_now() + KEEP_US - RESERVE_US)), &row,
                          &found, err) &&
           store_within_limit(c, u->project, bytes, row.v[0].i, err);
}

struct creation {
    const struct upload *upload;
    int64_t room;
};

static bool create_row(struct db_conn *c, void *ctx, struct err *err)
{
    const struct creation *k = ctx;
    const struct upload *u = k->upload;
    return conn_exec(c,
                     "INSERT INTO uploads (id, user_id, project, length, metadata, expires_at)"
                     " VALUES (?, ?, ?, ?, ?, ?)",
                     db_args(db_textz(u->id), db_int(u->user), db_int(u->project), db_int(u->length),
                             db_text(u->metadata), db_int(u->expires_at)),
                     NULL, err) &&
           (k->room == 0 || reserve(c, u, k->room, err));
}

bool upload_create(struct store *s, int64_t user, int64_t project, int64_t length, int64_t room,
                   struct str metadata, struct arena *a, struct upload *ret, struct err *err)
{
    struct upload u = {
        .user = user, .project = project, .length = length, .metadata = arena_str(a, metadata)};
    uint8_t id[16];
    random_bytes(id, sizeof id);
    hex_encode(id, sizeof id, u.id);
    u.expires_at = clock_now() + KEEP_US;
    auto_fd int fd = openat(s->uploads_fd, u.id, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (fd < 0 || fsync(s->uploads_fd) != 0)
        return err_errno(err, errno, "cannot make a file for the upload");
    if (!db_write(s->db, create_row, &(struct creation){&u, room}, err)) {
        unlinkat(s->uploads_fd, u.id, 0);
        return false;
    }
    *ret = u;
    return true;
}

static bool no_upload(struct str id, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, NULL, "there is no upload " STR_FMT, STR_ARG(id));
}

bool upload_get(struct store *s, struct str id, int64_t user, struct arena *a, struct upload *ret,
                struct err *err)
{
    struct db_row row;
    bool found;
    uint8_t raw[16];
    if (!hex_decode(id, raw, sizeof raw))
        return no_upload(id, err);
    if (!db_query_one(
            s->db, a,
            "SELECT user_id, project, length, metadata, expires_at, digest FROM uploads WHERE id = ?",
            db_args(db_text(id)), &row, &found, err))
        return false;
    if (!found || row.v[0].i != user || row.v[4].i < clock_now())
        return no_upload(id, err);
    struct upload u = {.user = user,
                       .project = row.v[1].i,
                       .length = row.v[2].i,
                       .metadata = row.v[3].s,
                       .expires_at = row.v[4].i,
                       .finished = row.v[5].type == DB_BYTES};
    memcpy(u.id, id.p, id.n);
    struct stat st;
    if (u.finished) {
        u.offset = u.length;
        memcpy(u.blob.b, row.v[5].s.p, sizeof u.blob.b);
    } else if (fstatat(s->uploads_fd, u.id, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return err_errno(err, errno, "the upload's file is gone");
    } else {
        u.offset = st.st_size;
    }
    *ret = u;
    return true;
}

static bool free_room(struct store *s, const char *id, struct err *err)
{
    struct row_change r = {db_args(db_textz(id)), "DELETE FROM upload_room WHERE id = ?"};
    return db_write(s->db, change_row, &r, err);
}

bool upload_take(struct store *s, struct str id, int64_t user, int64_t project, const char *field,
                 struct arena *a, struct upload *ret, struct err *err)
{
    struct upload u;
    if (!upload_get(s, id, user, a, &u, err))
        return false;
    if (!u.finished || u.project != project)
        return err_set(err, ERR_CONFLICT, field, "upload " STR_FMT " is not finished, or of another project",
                       STR_ARG(id));
    if (!free_room(s, u.id, err))
        return false;
    *ret = u;
    return true;
}

static bool claim(struct store *s, const char *id)
{
    pthread_mutex_lock(&s->appenders_lock);
    bool is_free = !map_get(s->appenders, str_of(id));
    if (is_free)
        map_set(s->appenders, str_of(id), s);
    pthread_mutex_unlock(&s->appenders_lock);
    return is_free;
}

static void release(struct store *s, const char *id)
{
    pthread_mutex_lock(&s->appenders_lock);
    map_remove(s->appenders, str_of(id));
    pthread_mutex_unlock(&s->appenders_lock);
}

/* The size is looked at once the upload is ours: another appender may have moved it since upload_get. */
static int open_at(struct store *s, const struct upload *u, int64_t offset, struct err *err)
{
    auto_fd int fd = openat(s->uploads_fd, u->id, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return err_errno(err, errno, "cannot open the upload's file"), -1;
    if (st.st_size != offset)
        return err_set(err, ERR_CONFLICT, "offset", "the upload is at %lld, not at %lld",
                       (long long)st.st_size, (long long)offset),
               -1;
    int ret = fd;
    fd = -1;
    return ret;
}

struct upload_appender *upload_append_begin(struct store *s, const struct upload *u, int64_t offset,
                                            struct err *err)
{
    if (u->finished || offset != u->offset) {
        err_set(err, ERR_CONFLICT, "offset", "the upload is at %lld, not at %lld", (long long)u->offset,
                (long long)offset);
        return NULL;
    }
    if (!claim(s, u->id)) {
        err_set(err, ERR_CONFLICT, NULL, "another request is appending to this upload already");
        return NULL;
    }
    int fd = open_at(s, u, offset, err);
    if (fd < 0) {
        release(s, u->id);
        return NULL;
    }
    struct upload_appender *p = base_zalloc(sizeof *p);
    *p = (struct upload_appender){
        .store = s, .upload = *u, .fd = fd, .offset = offset, .hash = hash_take(s, u->id, offset)};
    return p;
}

bool upload_append(struct upload_appender *p, struct str piece, struct err *err)
{
    if ((int64_t)piece.n > p->upload.length - p->offset)
        return err_set(err, ERR_TOO_LARGE, NULL, "more bytes than the upload's length of %lld",
                       (long long)p->upload.length);
    if (!fs_write_all(p->fd, piece.p, piece.n, err)) {
        sha256_free(p->hash); /* a part may be in the file */
        p->hash = NULL;
        return false;
    }
    if (p->hash)
        sha256_add(p->hash, piece.p, piece.n);
    p->offset += (int64_t)piece.n;
    return true;
}

/* The whole file becomes a blob; the row remembers which, so that asking again gives the same answer. */
static bool finish(struct store *s, struct upload *u, struct sha256 *hash, struct err *err)
{
    int64_t size = u->offset;
    if (hash)
        sha256_finish(hash, u->blob.b);
    if (hash ? !blob_take_hashed(s, s->uploads_fd, u->id, &u->blob, size, err)
             : !blob_take_file(s, s->uploads_fd, u->id, &u->blob, &size, err))
        return false;
    u->length = u->offset = size;
    struct row_change r = {
        db_args(digest_arg(&u->blob), db_int(clock_now() + KEEP_US), db_int(size), db_textz(u->id)),
        "UPDATE uploads SET digest = ?, expires_at = ?, length = ? WHERE id = ?"};
    if (!db_write(s->db, change_row, &r, err))
        return false;
    u->finished = true;
    return true;
}

bool upload_append_end(struct upload_appender *p, struct upload *ret, struct err *err)
{
    struct store *s = p->store;
    struct upload u = p->upload;
    u.offset = p->offset;
    bool ok = fsync(p->fd) == 0 || err_errno(err, errno, "cannot make the upload durable");
    if (ok && u.offset == u.length) {
        ok = finish(s, &u, p->hash, err);
        p->hash = NULL;
    } else if (ok) {
        struct row_change r = {db_args(db_int(clock_now() + KEEP_US), db_textz(u.id)),
                               "UPDATE uploads SET expires_at = ? WHERE id = ?"};
        ok = db_write(s->db, change_row, &r, err);
    }
    close(p->fd);
    hash_keep(s, u.id, p->hash, u.offset);
    release(s, u.id);
    free(p);
    if (ok)
        *ret = u;
    return ok;
}

/* A blob of other bytes than promised is one that nothing uses: the collector takes it. */
bool upload_finish(struct store *s, struct upload *u, const struct digest *expected, struct err *err)
{
    if (!claim(s, u->id))
        return err_set(err, ERR_CONFLICT, NULL, "another request is appending to this upload already");
    bool ok = finish(s, u, hash_take(s, u->id, u->offset), err);
    release(s, u->id);
    if (!ok || !expected || memcmp(expected->b, u->blob.b, sizeof u->blob.b) == 0)
        return ok;
    char hex[SHA256_HEX + 1];
    digest_hex(&u->blob, hex);
    upload_delete(s, u, NULL);
    return err_set(err, ERR_INVALID, "digest", "the bytes that came have the digest sha256:%s", hex);
}

bool upload_delete(struct store *s, const struct upload *u, struct err *err)
{
    struct row_change r = {db_args(db_textz(u->id)), "DELETE FROM uploads WHERE id = ?"};
    if (!db_write(s->db, change_row, &r, err) || !free_room(s, u->id, err))
        return false;
    sha256_free(hash_take(s, u->id, 0));
    if (unlinkat(s->uploads_fd, u->id, 0) != 0 && errno != ENOENT)
        return err_errno(err, errno, "cannot remove the upload's file");
    return true;
}

bool upload_sweep(struct store *s, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct db_rows rows;
    bool ok = true;
    if (!db_query(s->db, &a, "SELECT id FROM uploads WHERE expires_at < ? ORDER BY expires_at LIMIT 1000",
                  db_args(db_int(clock_now())), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct upload u = {0};
        struct str id = rows.row[i].v[0].s;
        memcpy(u.id, id.p, id.n < sizeof u.id ? id.n : sizeof u.id - 1);
        struct err one = {0};
        /* First the file: one that cannot be removed keeps its row, and is tried again. */
        bool gone = unlinkat(s->uploads_fd, u.id, 0) == 0 || errno == ENOENT ||
                    err_errno(&one, errno, "cannot remove the file of upload %s", u.id);
        if (!gone || !upload_delete(s, &u, &one))
            ok = err_keep(err, &one);
    }
    return ok;
}
