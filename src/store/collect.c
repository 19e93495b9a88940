/* The collector: removes blobs that nothing uses, a few at a time, so that no writer waits for it. */
#include "base/clock.h"
#include "store/bucket.h"
#include "store/store_own.h"

#include <errno.h>
#include <time.h>

#define STEP        50
#define MAX_REST_NS 100000000

struct step {
    int64_t before;
    struct arena *arena;
    struct db_rows rows;
};

/* Only what is still unused and untouched at this very moment goes. */
static bool drop_rows(struct db_conn *c, void *ctx, struct err *err)
{
    struct step *st = ctx;
    return conn_query(
        c, st->arena,
        "DELETE FROM blobs WHERE digest IN (SELECT digest FROM blobs WHERE uses = 0 AND touched_at < ?"
        " ORDER BY touched_at LIMIT 50) AND uses = 0 RETURNING digest, size",
        db_args(db_int(st->before)), &st->rows, err);
}

/* A writer may have stored the same bytes since the row went: then there is a row again and all stays. */
bool blob_remove(struct store *s, const struct digest *d, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    char path[BLOB_PATH_MAX];
    struct db_row row;
    bool found;
    blob_path(d, path);
    pthread_mutex_t *lock = &s->lock[d->b[0]];
    pthread_mutex_lock(lock);
    bool ok = db_query_one(s->db, &a, "SELECT 1 FROM blobs WHERE digest = ?", db_args(digest_arg(d)), &row,
                           &found, err);
    if (ok && !found && unlinkat(s->blobs_fd, path, 0) != 0 && errno != ENOENT)
        ok = err_errno(err, errno, "cannot remove blob %s", path + 3);
    if (ok && !found && s->bucket)
        ok = bucket_remove(s, d, err);
    pthread_mutex_unlock(lock);
    return ok;
}

static bool collect_step(struct store *s, struct store_collected *sum, size_t *ret_n, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct step st = {.before = clock_now() - s->grace_us, .arena = &a};
    bool ok = true;
    *ret_n = 0;
    if (!db_write(s->db, drop_rows, &st, err))
        return false;
    for (size_t i = 0; i < st.rows.n; i++) {
        struct digest d;
        memcpy(d.b, st.rows.row[i].v[0].s.p, sizeof d.b);
        struct err one = {0};
        if (!blob_remove(s, &d, &one)) { /* its row is gone: blob_sweep tries again */
            ok = err_keep(err, &one);
            continue;
        }
        sum->blobs++;
        sum->bytes += st.rows.row[i].v[1].i;
    }
    *ret_n = st.rows.n;
    return ok;
}

/* No request waits for it, so it leaves the machine to others most of the time. */
static void rest(uint64_t begun)
{
    uint64_t took = clock_mono() - begun;
    struct timespec t = {.tv_nsec = (long)(took * 2 < MAX_REST_NS ? took * 2 : MAX_REST_NS)};
    nanosleep(&t, NULL);
}

bool store_collect(struct store *s, struct store_collected *ret, struct err *err)
{
    struct store_collected sum = {0};
    size_t n = STEP;
    bool ok = true;
    while (n == STEP && !collect_stands(s)) {
        uint64_t begun = clock_mono();
        struct err one = {0};
        if (!collect_step(s, &sum, &n, &one))
            ok = err_keep(err, &one);
        if (n == STEP)
            rest(begun);
    }
    struct err one = {0};
    if (!blob_sweep(s, &sum.blobs, &one))
        ok = err_keep(err, &one);
    *ret = sum;
    return ok;
}

bool collect_stands(struct store *s)
{
    return atomic_load(&s->ending) || clock_now() < atomic_load(&s->held_until);
}

void store_hold(struct store *s, int64_t seconds)
{
    atomic_store(&s->held_until, clock_now() + seconds * 1000000);
}

void store_collect_end(struct store *s)
{
    atomic_store(&s->ending, true);
}
