/* Batches of points into rows. */
#include "base/clock.h"
#include "core/series/series_own.h"

#include <math.h>

static bool check(const struct series_batch *b, struct err *err)
{
    if (b->name.n == 0 || b->name.n > SERIES_NAME_MAX || !utf8_valid(b->name) ||
        memchr(b->name.p, 0, b->name.n))
        return err_set(err, ERR_INVALID, "name", "the name of a series has 1 to %d bytes of text",
                       SERIES_NAME_MAX);
    if (b->part.n > SERIES_PART_MAX)
        return err_set(err, ERR_INVALID, "part", "the part of a series has at most %d bytes",
                       SERIES_PART_MAX);
    if (b->n == 0 || b->n > SERIES_CHUNK_POINTS)
        return err_set(err, ERR_INVALID, "points", "a batch has 1 to %d points", SERIES_CHUNK_POINTS);
    return true;
}

bool series_pack(struct arena *a, struct series_batch *b, size_t n, struct err *err)
{
    auto_buf struct buf text = {0};
    for (size_t i = 0; i < n; i++) {
        if (!check(&b[i], err))
            return false;
        buf_clear(&text);
        series_encode(b[i].point, b[i].n, &text);
        b[i].data = arena_str(a, buf_view(&text));
    }
    return true;
}

/* The row of the series, made when there is none; it counts what comes, and wants compacting. */
static bool count_in(struct db_conn *c, struct arena *a, const struct series_batch *b, int64_t points,
                     int64_t bytes, int64_t *ret_id, struct err *err)
{
    struct db_row row;
    bool found;
    struct str part = b->part.p ? b->part : STR("");
    if (!conn_query_one(c, a,
                        "INSERT INTO series (owner_kind, owner, part, name, keep, points, bytes, rolled, due)"
                        " VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?) ON CONFLICT (owner_kind, owner, part, name)"
                        " DO UPDATE SET points = series.points + excluded.points,"
                        " bytes = series.bytes + excluded.bytes,"
                        " due = CASE WHEN series.due = 0 OR series.due > excluded.due THEN excluded.due"
                        " ELSE series.due END RETURNING id",
                        db_args(db_textz(b->kind), db_int(b->owner), db_text(part), db_text(b->name),
                                db_int(b->keep), db_int(points), db_int(bytes),
                                db_int(clock_now() + COMPACT_EVERY)),
                        &row, &found, err))
        return false;
    *ret_id = row.v[0].i;
    return true;
}

static bool put_one(struct db_conn *c, struct arena *a, const struct series_batch *b, struct err *err)
{
    struct series_head h;
    int64_t id;
    return series_head(b->data, &h, err) && count_in(c, a, b, (int64_t)b->n, (int64_t)b->data.n, &id, err) &&
           conn_exec(c, SERIES_INSERT_CHUNK,
                     db_args(db_int(id), db_int(LEVEL_RAW), db_int(h.first), db_int(h.last),
                             db_int((int64_t)b->n), db_bytes(b->data)),
                     NULL, err);
}

bool series_put(struct db_conn *c, const struct series_batch *b, size_t n, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < n; i++)
        if (!put_one(c, &a, &b[i], err))
            return false;
    return true;
}

struct append {
    const struct series_batch *batch;
    size_t n;
};

static bool append_write(struct db_conn *c, void *ctx, struct err *err)
{
    const struct append *w = ctx;
    return series_put(c, w->batch, w->n, err);
}

bool series_append(struct core *core, struct series_batch *b, size_t n, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct append w = {b, n};
    return series_pack(&a, b, n, err) && db_write(core->db, append_write, &w, err);
}

/* --- minutes --- */

void minutes_encode(struct arena *a, const struct series_bucket *b, size_t n, struct buf *out)
{
    struct series_point *p = arena_array(a, struct series_point, n + 1);
    for (int part = 0; part < MINUTE_CHUNKS; part++) {
        for (size_t i = 0; i < n; i++)
            p[i] = (struct series_point){b[i].at, NAN,
                                         part == MINUTE_MEAN  ? series_mean(&b[i])
                                         : part == MINUTE_LOW ? b[i].low
                                                              : b[i].high};
        series_encode(p, n, out);
    }
}

bool minutes_decode(struct arena *a, struct str data, struct series_bucket **ret, size_t *ret_n,
                    struct err *err)
{
    struct series_point *p;
    size_t all;
    if (!series_decode_all(a, data, &p, &all, err))
        return false;
    size_t n = all / MINUTE_CHUNKS;
    if (n * MINUTE_CHUNKS != all)
        return err_set(err, ERR_MALFORMED, NULL, "a row of minutes is broken");
    struct series_bucket *b = arena_array(a, struct series_bucket, n + 1);
    for (size_t i = 0; i < n; i++)
        b[i] = (struct series_bucket){
            .at = p[i].at, .n = 1, .sum = p[i].value, .low = p[n + i].value, .high = p[2 * n + i].value};
    *ret = b;
    *ret_n = n;
    return true;
}

bool series_put_minutes(struct db_conn *c, const struct series_batch *b, struct err *err)
{
    auto_arena struct arena a;
    auto_buf struct buf text = {0};
    struct series_bucket *buckets = NULL;
    struct db_row row;
    size_t n = 0;
    bool found = false;
    int64_t id;
    arena_init(&a);
    series_fold(&a, b->point, b->n, MINUTE, &buckets, &n);
    if (n == 0 || n > SERIES_CHUNK_POINTS)
        return true;
    int64_t first = buckets[0].at, last = buckets[n - 1].at;
    minutes_encode(&a, buckets, n, &text);
    if (!count_in(c, &a, b, 0, 0, &id, err) ||
        !conn_query_one(
            c, &a,
            "SELECT 1 FROM series_chunks WHERE series = ? AND level = ? AND first <= ? AND last >= ?"
            " LIMIT 1",
            db_args(db_int(id), db_int(LEVEL_MINUTE), db_int(last), db_int(first)), &row, &found, err))
        return false;
    return found || (count_in(c, &a, b, (int64_t)n, (int64_t)text.n, &id, err) &&
                     conn_exec(c, SERIES_INSERT_CHUNK,
                               db_args(db_int(id), db_int(LEVEL_MINUTE), db_int(first), db_int(last),
                                       db_int((int64_t)n), db_bytes(buf_view(&text))),
                               NULL, err));
}
