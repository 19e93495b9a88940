#include "store/store.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/map.h"
#include "base/messages.h"
#include "store/bucket.h"
#include "store/store_own.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

const char store_sql[] =
    "CREATE TABLE IF NOT EXISTS blobs (digest {bytes} PRIMARY KEY, size BIGINT NOT NULL,"
    " touched_at BIGINT NOT NULL, uses BIGINT NOT NULL DEFAULT 0);\n"
    "CREATE INDEX IF NOT EXISTS blobs_unused ON blobs (touched_at) WHERE uses = 0;\n"
    "CREATE TABLE IF NOT EXISTS blob_uses (project BIGINT NOT NULL, digest {bytes} NOT NULL,"
    " count BIGINT NOT NULL, PRIMARY KEY (project, digest));\n"
    "CREATE TABLE IF NOT EXISTS storage_use (project BIGINT PRIMARY KEY, bytes BIGINT NOT NULL);\n"
    "CREATE TABLE IF NOT EXISTS folder_use (folder {text} PRIMARY KEY, project BIGINT NOT NULL,"
    " bytes BIGINT NOT NULL);\n"
    "CREATE TABLE IF NOT EXISTS storage_limit (project BIGINT PRIMARY KEY, bytes BIGINT NOT NULL);\n"
    "CREATE INDEX IF NOT EXISTS folder_use_project ON folder_use (project);\n"
    "CREATE TABLE IF NOT EXISTS manifest_uses (project BIGINT NOT NULL, digest {bytes} NOT NULL,"
    " count BIGINT NOT NULL, applied BIGINT NOT NULL, touched_at BIGINT NOT NULL,"
    " PRIMARY KEY (project, digest));\n"
    "CREATE TABLE IF NOT EXISTS uploads (id {text} PRIMARY KEY, user_id BIGINT NOT NULL,"
    " project BIGINT NOT NULL, length BIGINT NOT NULL, metadata {text} NOT NULL,"
    " expires_at BIGINT NOT NULL, digest {bytes});\n"
    "CREATE INDEX IF NOT EXISTS uploads_expiry ON uploads (expires_at);\n"
    "CREATE TABLE IF NOT EXISTS upload_room (id {text} PRIMARY KEY, project BIGINT NOT NULL,"
    " bytes BIGINT NOT NULL);\n"
    "CREATE INDEX IF NOT EXISTS upload_room_project ON upload_room (project);\n"
    "CREATE TABLE IF NOT EXISTS store_place (id {text} NOT NULL, place {text} NOT NULL);\n";

void digest_hex(const struct digest *d, char ret[SHA256_HEX + 1])
{
    hex_encode(d->b, sizeof d->b, ret);
}

bool digest_parse(struct str hex, struct digest *ret)
{
    for (size_t i = 0; i < hex.n; i++)
        if (hex.p[i] >= 'A' && hex.p[i] <= 'F')
            return false;
    return hex.n == SHA256_HEX && hex_decode(hex, ret->b, sizeof ret->b);
}

struct db_value digest_arg(const struct digest *d)
{
    return db_bytes(((struct str){(const char *)d->b, sizeof d->b}));
}

static int open_dir(const char *data, const char *name, struct err *err)
{
    auto_free char *path = NULL;
    if (asprintf(&path, "%s/%s", data, name) < 0)
        return err_set(err, ERR_INTERNAL, NULL, "out of memory"), -1;
    if (!fs_mkdirs(path, 0750, err))
        return -1;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        err_errno(err, errno, "cannot open %s", path);
    return fd;
}

/* What a killed server was writing: no other process writes there, as the data folder is locked. */
static bool drop_files(int dirfd, const char *folder, struct err *err)
{
    int fd = openat(dirfd, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *e;
    if (!dir) {
        base_close_fd(&fd);
        return err_errno(err, errno, "cannot read the folder of new blobs");
    }
    while ((e = readdir(dir)))
        if (e->d_name[0] != '.')
            unlinkat(fd, e->d_name, 0);
    closedir(dir);
    return true;
}

static bool drop_unfinished(struct store *s, struct err *err)
{
    for (unsigned i = 0; i < BLOB_SIDES; i++) {
        const char side[] = {(char)('0' + i), 0};
        if (mkdirat(s->tmp_fd, side, 0750) != 0 && errno != EEXIST)
            return err_errno(err, errno, "cannot make a folder for new blobs");
        if (!drop_files(s->tmp_fd, side, err))
            return false;
    }
    return drop_files(s->tmp_fd, ".", err);
}

struct store *store_open(const struct store_options *o, struct err *err)
{
    struct store *s = base_zalloc(sizeof *s);
    s->db = o->db;
    s->grace_us = o->grace_seconds * 1000000;
    for (int i = 0; i < STORE_LOCKS; i++)
        pthread_mutex_init(&s->lock[i], NULL);
    pthread_mutex_init(&s->appenders_lock, NULL);
    pthread_mutex_init(&s->moving_lock, NULL);
    pthread_mutex_init(&s->holding_lock, NULL);
    s->holding = map_new();
    s->appenders = map_new();
    s->hashes = map_new();
    s->uploads_fd = s->tmp_fd = s->cache_fd = -1;
    s->blobs_fd = open_dir(o->data, "blobs/sha256", err);
    if (s->blobs_fd >= 0)
        s->uploads_fd = open_dir(o->data, "uploads", err);
    if (s->uploads_fd >= 0)
        s->tmp_fd = open_dir(o->data, "blobs/new", err);
    if (s->tmp_fd >= 0)
        s->cache_fd = open_dir(o->data, "cache", err);
    if (s->cache_fd < 0 || !drop_unfinished(s, err) || !db_script(o->db, store_sql, err) ||
        !bucket_open(s, o, &s->bucket, err)) {
        store_close(s);
        return NULL;
    }
    return s;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    bucket_close(s->bucket);
    base_close_fd(&s->blobs_fd);
    base_close_fd(&s->uploads_fd);
    base_close_fd(&s->tmp_fd);
    base_close_fd(&s->cache_fd);
    for (int i = 0; i < STORE_LOCKS; i++)
        pthread_mutex_destroy(&s->lock[i]);
    pthread_mutex_destroy(&s->appenders_lock);
    pthread_mutex_destroy(&s->moving_lock);
    pthread_mutex_destroy(&s->holding_lock);
    map_free(s->holding);
    map_free(s->appenders);
    upload_hashes_free(s);
    free(s);
}

bool store_is_remote(const struct store *s)
{
    return s->bucket != NULL;
}

static bool forget_place(struct db_conn *c, void *ctx, struct err *err)
{
    (void)ctx;
    return conn_exec(c, "DELETE FROM store_place", DB_NO_ARGS, NULL, err);
}

bool store_forget_place(struct db *db, struct err *err)
{
    return db_script(db, store_sql, err) && db_write(db, forget_place, NULL, err);
}

bool store_keep_place(struct store *s, struct err *err)
{
    return s->bucket ? bucket_keep_place(s, err) : db_write(s->db, forget_place, NULL, err);
}

/* --- uses --- */

static bool over(int64_t limit, int64_t used, int64_t more, struct err *err)
{
    if (!more)
        return err_message(err, ERR_QUOTA, "storage", MESSAGE_STORAGE_USED, (long long)limit,
                           (long long)used);
    return err_message(err, ERR_QUOTA, "storage", MESSAGE_STORAGE_MORE, (long long)limit, (long long)used,
                       (long long)more);
}

#define USED_BY(project)                                                                                     \
    "CAST(COALESCE((SELECT bytes FROM storage_use WHERE project = " project "), 0) +"                        \
    " COALESCE((SELECT SUM(bytes) FROM folder_use WHERE project = " project "), 0) AS BIGINT)"

bool store_within_limit(struct db_conn *c, int64_t project, int64_t added, int64_t reserved, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct db_row row;
    bool found;
    if (!conn_query_one(c, &a,
                        "SELECT l.bytes, " USED_BY("l.project") " FROM storage_limit l WHERE l.project = ?",
                        db_args(db_int(project)), &row, &found, err))
        return false;
    if (!found || row.v[1].i <= row.v[0].i - reserved)
        return true;
    return over(row.v[0].i, row.v[1].i + reserved - added, added, err);
}

bool store_has_room(struct db_conn *c, int64_t project, int64_t more, struct err *err)
{
    return store_within_limit(c, project, more, more, err);
}

static bool add_bytes(struct db_conn *c, int64_t project, int64_t bytes, struct err *err)
{
    return conn_exec(c,
                     "INSERT INTO storage_use (project, bytes) VALUES (?, ?)"
                     " ON CONFLICT (project) DO UPDATE SET bytes = storage_use.bytes + excluded.bytes",
                     db_args(db_int(project), db_int(bytes)), NULL, err);
}

bool store_set_limit(struct db_conn *c, int64_t project, int64_t limit, struct err *err)
{
    if (limit < 0)
        return conn_exec(c, "DELETE FROM storage_limit WHERE project = ?", db_args(db_int(project)), NULL,
                         err);
    return conn_exec(c,
                     "INSERT INTO storage_limit (project, bytes) VALUES (?, ?)"
                     " ON CONFLICT (project) DO UPDATE SET bytes = excluded.bytes",
                     db_args(db_int(project), db_int(limit)), NULL, err);
}

static bool not_there(const struct digest *d, struct err *err)
{
    char hex[SHA256_HEX + 1];
    digest_hex(d, hex);
    return err_set(err, ERR_CONFLICT, NULL, "blob %s is not in the store any more", hex);
}

/* The blob's own counter says how many projects use it. */
static bool count_project(struct db_conn *c, const struct digest *d, int by, int64_t *ret_size,
                          struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct db_row row;
    bool found;
    if (!conn_query_one(c, &a,
                        "UPDATE blobs SET uses = uses + ?, touched_at = ? WHERE digest = ? RETURNING size",
                        db_args(db_int(by), db_int(clock_now()), digest_arg(d)), &row, &found, err))
        return false;
    if (!found)
        return not_there(d, err);
    *ret_size = row.v[0].i;
    return true;
}

static bool use_last(struct db_conn *c, int64_t project, const struct digest *d, struct err *err)
{
    int64_t size;
    return conn_exec(c, "DELETE FROM blob_uses WHERE project = ? AND digest = ?",
                     db_args(db_int(project), digest_arg(d)), NULL, err) &&
           count_project(c, d, -1, &size, err) && add_bytes(c, project, -size, err);
}

/* Most blobs that begin to be used are new to their project. *first: how many rows that made, none or one. */
static bool use_first(struct db_conn *c, int64_t project, const struct digest *d, int64_t count,
                      int64_t *first, struct err *err)
{
    return conn_exec(c,
                     "INSERT INTO blob_uses (project, digest, count) VALUES (?, ?, ?)"
                     " ON CONFLICT (project, digest) DO NOTHING",
                     db_args(db_int(project), digest_arg(d), db_int(count)), first, err);
}

static bool use_again(struct db_conn *c, int64_t project, const struct digest *d, int64_t count,
                      struct err *err)
{
    return conn_exec(c, "UPDATE blob_uses SET count = count + ? WHERE project = ? AND digest = ?",
                     db_args(db_int(count), db_int(project), digest_arg(d)), NULL, err);
}

/* *ret_added: what the project takes more now. */
static bool use_more(struct db_conn *c, int64_t project, const struct digest *d, int64_t count,
                     int64_t *ret_added, struct err *err)
{
    int64_t first, size;
    *ret_added = 0;
    if (!use_first(c, project, d, count, &first, err))
        return false;
    if (!first)
        return use_again(c, project, d, count, err);
    if (!count_project(c, d, 1, &size, err) || !add_bytes(c, project, size, err))
        return false;
    *ret_added = size;
    return true;
}

static bool use_less(struct db_conn *c, int64_t project, const struct digest *d, int64_t count,
                     struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct db_row row;
    bool found;
    if (!conn_query_one(
            c, &a, "UPDATE blob_uses SET count = count - ? WHERE project = ? AND digest = ? RETURNING count",
            db_args(db_int(count), db_int(project), digest_arg(d)), &row, &found, err))
        return false;
    if (!found || row.v[0].i < 0)
        return err_set(err, ERR_INTERNAL, NULL, "a blob was released more often than it was used");
    return row.v[0].i > 0 || use_last(c, project, d, err);
}

bool store_use(struct db_conn *c, int64_t project, const struct digest *d, int64_t count, struct err *err)
{
    int64_t added;
    if (count < 0)
        return use_less(c, project, d, -count, err);
    return use_more(c, project, d, count, &added, err) &&
           (added == 0 || store_within_limit(c, project, added, 0, err));
}

bool store_use_anyway(struct db_conn *c, int64_t project, const struct digest *d, struct err *err)
{
    int64_t added;
    return use_more(c, project, d, 1, &added, err);
}

static int by_digest(const void *a, const void *b)
{
    const struct store_used *x = a, *y = b;
    return memcmp(&x->blob, &y->blob, sizeof x->blob);
}

/* In the order of the rows on the disk, and without asking for what the caller knows. */
bool store_use_all(struct db_conn *c, int64_t project, struct store_used *u, size_t n, int64_t *ret_added,
                   struct err *err)
{
    int64_t bytes = 0, now = clock_now();
    qsort(u, n, sizeof *u, by_digest);
    for (size_t i = 0; i < n; i++) {
        int64_t first, known;
        if (!use_first(c, project, &u[i].blob, 1, &first, err))
            return false;
        if (!first) {
            if (!use_again(c, project, &u[i].blob, 1, err))
                return false;
            continue;
        }
        if (!conn_exec(c, "UPDATE blobs SET uses = uses + 1, touched_at = ? WHERE digest = ?",
                       db_args(db_int(now), digest_arg(&u[i].blob)), &known, err))
            return false;
        if (!known)
            return not_there(&u[i].blob, err);
        bytes += u[i].size;
    }
    if (ret_added)
        *ret_added = bytes;
    return bytes == 0 || (add_bytes(c, project, bytes, err) && store_within_limit(c, project, bytes, 0, err));
}

bool store_folder_use(struct db_conn *c, const char *folder, int64_t project, int64_t bytes, struct err *err)
{
    if (bytes < 0)
        return conn_exec(c, "DELETE FROM folder_use WHERE folder = ?", db_args(db_textz(folder)), NULL, err);
    return conn_exec(c,
                     "INSERT INTO folder_use (folder, project, bytes) VALUES (?, ?, ?)"
                     " ON CONFLICT (folder) DO UPDATE SET project = excluded.project, bytes = excluded.bytes",
                     db_args(db_textz(folder), db_int(project), db_int(bytes)), NULL, err);
}

bool store_project_bytes(struct store *s, int64_t project, int64_t *ret, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct db_row row;
    bool found;
    if (!db_query_one(s->db, &a, "SELECT " USED_BY("?"), db_args(db_int(project), db_int(project)), &row,
                      &found, err))
        return false;
    *ret = found ? row.v[0].i : 0;
    return true;
}

bool store_admit(struct store *s, int64_t project, int64_t more, int64_t limit, struct err *err)
{
    int64_t used;
    if (limit < 0)
        return true;
    if (!store_project_bytes(s, project, &used, err))
        return false;
    return (more <= limit && used <= limit - more) || over(limit, used, more, err);
}
