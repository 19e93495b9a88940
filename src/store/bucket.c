#include "store/bucket.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/thread.h"
#include "store/bucket_own.h"
#include "store/store_own.h"

#include <errno.h>
#include <stdio.h>

#define CACHE_BYTES (INT64_C(20) << 30)
#define MARK        "ingot-store"
#define MARK_MAX    100

struct str bucket_key(const struct bucket *b, const struct digest *d, char ret[BUCKET_KEY_MAX])
{
    char path[BLOB_PATH_MAX];
    blob_path(d, path);
    int n = snprintf(ret, BUCKET_KEY_MAX, "%ssha256/%s", b->prefix, path);
    return (struct str){ret, (size_t)n};
}

/* --- whose bucket it is --- */

struct place {
    const char *id, *where;
};

static bool place_write(struct db_conn *c, void *ctx, struct err *err)
{
    const struct place *p = ctx;
    return conn_exec(c, "DELETE FROM store_place", DB_NO_ARGS, NULL, err) &&
           conn_exec(c, "INSERT INTO store_place (id, place) VALUES (?, ?)",
                     db_args(db_textz(p->id), db_textz(p->where)), NULL, err);
}

static bool place_read(struct store *s, struct arena *a, struct place *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(s->db, a, "SELECT id, place FROM store_place", DB_NO_ARGS, &row, &found, err))
        return false;
    *ret = found ? (struct place){arena_strz(a, row.v[0].s), arena_strz(a, row.v[1].s)} : (struct place){0};
    return true;
}

static bool mark_read(struct bucket *b, struct arena *a, struct str key, struct str *ret, struct err *err)
{
    struct err why = {0};
    *ret = STR_NULL;
    if (s3_read(b->s3, a, key, MARK_MAX, ret, &why) || why.code == ERR_NOT_FOUND)
        return true;
    *err = why;
    return false;
}

/* The first start writes the row before the mark, so that an interrupted one is gone on with. */
static bool claim(struct store *s, struct bucket *b, const struct place *known, const char *where,
                  struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct str key = str_of(arena_printf(&a, "%s" MARK, b->prefix)), mark;
    if (!mark_read(b, &a, key, &mark, err))
        return false;
    if (known->id && str_is(mark, known->id)) {
        b->id = base_strdup(known->id);
        return true;
    }
    if (mark.n)
        return err_set(
            err, ERR_CONFLICT, NULL,
            "%s holds the blobs of another platform; if that one is no more, remove its object " STR_FMT,
            where, STR_ARG(key));
    if (known->id && strcmp(known->where, where) != 0)
        return err_set(err, ERR_CONFLICT, NULL,
                       "the blobs of this platform are in %s, and %s does not hold them", known->where,
                       where);
    uint8_t id[16];
    char text[33];
    random_bytes(id, sizeof id);
    hex_encode(id, sizeof id, text);
    struct place mine = {known->id ? known->id : text, where};
    b->id = base_strdup(mine.id);
    return db_write(s->db, place_write, &mine, err) && s3_put(b->s3, key, str_of(mine.id), err);
}

/* --- opening --- */

static bool take_prefix(struct bucket *b, const char *prefix, struct err *err)
{
    size_t n = prefix ? strlen(prefix) : 0;
    while (n && prefix[n - 1] == '/')
        n--;
    if (n > BUCKET_PREFIX_MAX - 2)
        return err_set(err, ERR_INVALID, "store", "the prefix in the bucket is longer than %d bytes",
                       BUCKET_PREFIX_MAX - 2);
    b->prefix = base_zalloc(n + 2);
    if (n) {
        memcpy(b->prefix, prefix, n);
        b->prefix[n] = '/';
    }
    return true;
}

bool bucket_open(struct store *s, const struct store_options *o, struct bucket **ret, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct place known;
    if (!place_read(s, &a, &known, err))
        return false;
    *ret = NULL;
    if (!o->s3 && known.id)
        return err_set(err, ERR_CONFLICT, NULL, "the blobs of this platform are in %s: start it with --store",
                       known.where);
    if (!o->s3)
        return true;
    struct bucket *b = base_zalloc(sizeof *b);
    pthread_mutex_init(&b->lock, NULL);
    thread_cond_init(&b->changed);
    b->s3 = s3_new(o->s3, err);
    if (b->s3 && take_prefix(b, o->s3_prefix, err)) {
        const char *where = arena_printf(&a, "s3://%s/%s of %s", o->s3->bucket, b->prefix, s3_host(b->s3));
        b->cache = bucket_cache_open(s->cache_fd, o->cache_bytes > 0 ? o->cache_bytes : CACHE_BYTES, err);
        b->where = base_strdup(where);
        if (b->cache && claim(s, b, &known, where, err)) {
            *ret = b;
            return true;
        }
    }
    bucket_close(b);
    return false;
}

void bucket_close(struct bucket *b)
{
    if (!b)
        return;
    bucket_fetch_end(b);
    pthread_mutex_destroy(&b->lock);
    pthread_cond_destroy(&b->changed);
    bucket_cache_close(b->cache);
    s3_free(b->s3);
    free(b->prefix);
    free(b->id);
    free(b->where);
    free(b);
}

bool bucket_keep_place(struct store *s, struct err *err)
{
    return db_write(s->db, place_write, &(struct place){s->bucket->id, s->bucket->where}, err);
}

/* --- blobs --- */

bool bucket_has(struct store *s, const struct digest *d, bool *ret, struct err *err)
{
    char key[BUCKET_KEY_MAX];
    struct err why = {0};
    *ret = s3_head(s->bucket->s3, bucket_key(s->bucket, d, key), NULL, &why);
    if (*ret || why.code == ERR_NOT_FOUND)
        return true;
    *err = why;
    return false;
}

/* A collector that removes this digest at the moment is done afterwards; from now on its row protects it. */
static void wait_for_collector(struct store *s, const struct digest *d)
{
    pthread_mutex_lock(&s->lock[d->b[0]]);
    pthread_mutex_unlock(&s->lock[d->b[0]]);
}

/* A row protects for the grace time only: after a longer upload it is renewed, and the object looked at. */
static bool still_there(struct store *s, const struct digest *d, int64_t size, int64_t since, struct err *err)
{
    bool there = false;
    if (clock_now() - since < s->grace_us / 2)
        return true;
    if (!blob_write_row(s, d, size, NULL, err))
        return false;
    wait_for_collector(s, d);
    if (!bucket_has(s, d, &there, err))
        return false;
    return there ||
           err_set(err, ERR_UNAVAILABLE, NULL, "a blob was collected while it was stored: try again");
}

bool bucket_put(struct store *s, const struct digest *d, int fd, int64_t size, struct err *err)
{
    struct bucket *b = s->bucket;
    char text[BUCKET_KEY_MAX];
    struct str key = bucket_key(b, d, text);
    struct err why = {0};
    int64_t there;
    if (s3_head(b->s3, key, &there, &why) && there == size)
        return true;
    if (why.code && why.code != ERR_NOT_FOUND) {
        *err = why;
        return false;
    }
    return s3_put_file(b->s3, key, fd, size, d->b, err);
}

bool bucket_take(struct store *s, int dirfd, const char *name, const struct digest *d, int64_t size,
                 bool known, struct err *err)
{
    struct bucket *b = s->bucket;
    char key[BUCKET_KEY_MAX];
    bool there = false;
    int64_t since = clock_now();
    wait_for_collector(s, d);
    if (known && !bucket_has(s, d, &there, err))
        return false;
    if (!there) {
        auto_fd int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            return err_errno(err, errno, "cannot open a blob for the object store");
        if (!s3_put_file(b->s3, bucket_key(b, d, key), fd, size, d->b, err))
            return false;
    }
    return still_there(s, d, size, since, err) && bucket_cache_add(b->cache, dirfd, name, d, size, err);
}

bool bucket_link(struct store *s, const struct digest *d, int dirfd, const char *path)
{
    return bucket_cache_link(s->bucket->cache, d, dirfd, path);
}

bool bucket_remove(struct store *s, const struct digest *d, struct err *err)
{
    char key[BUCKET_KEY_MAX];
    bucket_cache_drop(s->bucket->cache, d);
    return s3_delete(s->bucket->s3, bucket_key(s->bucket, d, key), err);
}

bool bucket_each(struct store *s, uint8_t first,
                 bool (*one)(void *ctx, const struct digest *d, struct err *err), void *ctx, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct s3_page page = {0};
    char hex[3];
    hex_encode(&first, 1, hex);
    struct str prefix = str_of(arena_printf(&a, "%ssha256/%s/", s->bucket->prefix, hex));
    do {
        if (!s3_list(s->bucket->s3, &a, prefix, page.next, &page, err))
            return false;
        for (size_t i = 0; i < page.n; i++) {
            struct digest d;
            struct str key = page.object[i].key;
            if (!digest_parse((struct str){key.p + prefix.n, key.n - prefix.n}, &d))
                continue;
            if (!one(ctx, &d, err))
                return false;
        }
    } while (page.next.p);
    return true;
}
