/* What becomes of rows: small ones are joined, minutes are made of seconds, the old goes. Everything is read
 * and packed outside of the write; a write touches only rows that were read, so points that come meanwhile
 * are left alone. */
#include "base/clock.h"
#include "core/controllers.h"
#include "core/series/series_own.h"

#define HOUR (60 * MINUTE)
#define DAY  (24 * HOUR)
#define PAGE 100           /* series that are looked at together */
#define IDLE (15 * MINUTE) /* a series without points for so long has ended, or rests */

/* Points of a full row: what is read together, and of live ones what goes together. */
static const size_t full_points[2][2] = {
    [SERIES_WHOLE] = {[LEVEL_RAW] = 4096, [LEVEL_MINUTE] = 1440},
    [SERIES_LIVE] = {[LEVEL_RAW] = 1024, [LEVEL_MINUTE] = 1440},
};

struct chunk {
    int64_t id, first, last, points, bytes;
    enum level level;
    bool gone;
};

/* Rows that become the first of them. */
struct join {
    struct chunk whole; /* id: of the first */
    const struct chunk *from;
    size_t n; /* rows, in a list without those of the other level */
    struct str data;
};

/* What is to be done about one series. */
struct plan {
    int64_t id, rolled, due, now;
    enum series_keep keep;
    struct chunk *chunk[2]; /* by level, in the order they were written */
    size_t n[2];
    struct join *join;
    size_t n_join;
    struct str minutes; /* a new row of minutes, or none */
    int64_t minutes_first, minutes_last, n_minutes;
    int64_t points, bytes; /* how their sums change */
};

/* --- what is there --- */

static bool load_chunks(struct db *db, struct arena *a, struct plan *p, struct err *err)
{
    struct db_rows rows;
    if (!db_query(db, a,
                  "SELECT id, first, last, points, LENGTH(data), level FROM series_chunks WHERE series = ?"
                  " ORDER BY id",
                  db_args(db_int(p->id)), &rows, err))
        return false;
    for (int i = 0; i < 2; i++)
        p->chunk[i] = arena_array(a, struct chunk, rows.n + 2);
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        enum level level = v[5].i == LEVEL_MINUTE ? LEVEL_MINUTE : LEVEL_RAW;
        p->chunk[level][p->n[level]++] = (struct chunk){v[0].i, v[1].i, v[2].i, v[3].i, v[4].i, level, false};
    }
    return true;
}

static bool load_data(struct db *db, struct arena *a, int64_t id, struct str *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(db, a, "SELECT data FROM series_chunks WHERE id = ?", db_args(db_int(id)), &row, &found,
                      err))
        return false;
    *ret = found ? row.v[0].s : STR("");
    return true;
}

/* --- old rows --- */

static void expire(const struct core *core, struct plan *p)
{
    const struct core_series *limits = &core->series_limits;
    int64_t raw = p->now - (int64_t)(limits->second_hours * (double)HOUR);
    int64_t before[2] = {[LEVEL_RAW] = raw < p->rolled ? raw : p->rolled,
                         [LEVEL_MINUTE] = p->now - (int64_t)(limits->minute_days * (double)DAY)};
    for (int level = 0; level < 2; level++)
        for (size_t i = 0; i < p->n[level]; i++) {
            struct chunk *c = &p->chunk[level][i];
            c->gone = c->last < before[level];
            p->points -= c->gone ? c->points : 0;
            p->bytes -= c->gone ? c->bytes : 0;
        }
}

/* --- minutes --- */

static bool roll(struct core *core, struct arena *a, struct plan *p, struct err *err)
{
    /* By then what waited in memory is written. */
    int64_t until = series_bucket_at(p->now - 2 * core->series_limits.write_s * SECOND, MINUTE) - MINUTE;
    struct series_bucket *b = NULL;
    size_t n = 0, k = 0;
    for (size_t i = 0; i < p->n[LEVEL_RAW]; i++) {
        struct str data;
        struct series_point *point;
        size_t points, kept = 0;
        if (p->chunk[LEVEL_RAW][i].last < p->rolled || p->chunk[LEVEL_RAW][i].first >= until)
            continue;
        if (!load_data(core->db, a, p->chunk[LEVEL_RAW][i].id, &data, err) ||
            !series_decode_all(a, data, &point, &points, err))
            return false;
        for (k = 0; k < points; k++)
            if (point[k].at >= p->rolled && point[k].at < until)
                point[kept++] = point[k];
        series_fold(a, point, kept, MINUTE, &b, &n);
    }
    if (n == 0)
        return true;
    auto_buf struct buf text = {0};
    n = n < SERIES_CHUNK_POINTS ? n : SERIES_CHUNK_POINTS;
    p->rolled = b[n - 1].at + MINUTE;
    minutes_encode(a, b, n, &text);
    p->minutes = arena_str(a, buf_view(&text));
    p->minutes_first = b[0].at;
    p->minutes_last = b[n - 1].at;
    p->n_minutes = (int64_t)n;
    p->points += p->n_minutes;
    p->bytes += (int64_t)text.n;
    return true;
}

/* --- joining --- */

static bool join_minutes(struct arena *a, struct str data, struct buf *out, struct err *err)
{
    struct series_bucket *b, *all = NULL;
    struct series_head h;
    size_t n, n_all = 0;
    while (data.n) { /* three chunks of each row */
        struct str row = {data.p, 0};
        for (int i = 0; i < MINUTE_CHUNKS; i++) {
            if (!series_head((struct str){data.p + row.n, data.n - row.n}, &h, err))
                return false;
            row.n += h.size;
        }
        if (!minutes_decode(a, row, &b, &n, err))
            return false;
        series_fold_buckets(a, b, n, MINUTE, &all, &n_all);
        data = (struct str){data.p + row.n, data.n - row.n};
    }
    if (n_all)
        minutes_encode(a, all, n_all, out);
    return true;
}

static bool join_rows(struct core *core, struct arena *a, struct plan *p, const struct chunk *from, size_t n,
                      struct err *err)
{
    auto_buf struct buf parts = {0}, text = {0};
    struct join j = {.whole = from[0], .from = from, .n = n};
    int64_t bytes = 0;
    j.whole.points = 0;
    for (size_t i = 0; i < n; i++) {
        struct str data;
        if (!load_data(core->db, a, from[i].id, &data, err))
            return false;
        buf_str(&parts, data);
        bytes += from[i].bytes;
        j.whole.first = from[i].first < j.whole.first ? from[i].first : j.whole.first;
        j.whole.last = from[i].last > j.whole.last ? from[i].last : j.whole.last;
        j.whole.points += from[i].points;
    }
    if (!(from[0].level == LEVEL_RAW ? series_merge(a, buf_view(&parts), &text, err)
                                     : join_minutes(a, buf_view(&parts), &text, err)))
        return false;
    if (text.n == 0)
        return true;
    j.data = arena_str(a, buf_view(&text));
    p->bytes += (int64_t)text.n - bytes;
    p->join[p->n_join++] = j;
    return true;
}

/* Neighbours that are not more than a full row together. */
static bool join_level(struct core *core, struct arena *a, struct plan *p, enum level level, struct err *err)
{
    struct chunk *c = p->chunk[level];
    size_t n = p->n[level], full = full_points[p->keep][level], from = 0, points = 0;
    for (size_t i = 0; i <= n; i++) {
        bool fits = i < n && !c[i].gone && points + (size_t)c[i].points <= full;
        if (fits) {
            points += (size_t)c[i].points;
            continue;
        }
        if (i - from > 1 && !join_rows(core, a, p, c + from, i - from, err))
            return false;
        from = i < n && !c[i].gone ? i : i + 1;
        points = from == i && i < n ? (size_t)c[i].points : 0;
    }
    return true;
}

/* --- a series --- */

/* When it is to be looked at again; 0: when it gets points. -1: it is empty and goes. */
static int64_t next_due(const struct core *core, const struct plan *p)
{
    int64_t oldest[2] = {INT64_MAX, INT64_MAX}, newest = INT64_MIN;
    if (p->keep == SERIES_WHOLE)
        return 0;
    for (int level = 0; level < 2; level++)
        for (size_t i = 0; i < p->n[level]; i++) {
            const struct chunk *c = &p->chunk[level][i];
            if (c->gone)
                continue;
            oldest[level] = c->last < oldest[level] ? c->last : oldest[level];
            newest = level == LEVEL_RAW && c->last > newest ? c->last : newest;
        }
    if (newest > p->now - IDLE)
        return p->now + COMPACT_EVERY;
    int64_t due = oldest[LEVEL_RAW] < INT64_MAX
                      ? oldest[LEVEL_RAW] + (int64_t)(core->series_limits.second_hours * (double)HOUR)
                  : p->n_minutes ? p->now + HOUR
                  : oldest[LEVEL_MINUTE] < INT64_MAX
                      ? oldest[LEVEL_MINUTE] + (int64_t)(core->series_limits.minute_days * (double)DAY)
                      : -1;
    return due < 0 || due > p->now + COMPACT_EVERY ? due : p->now + COMPACT_EVERY;
}

static bool make_plan(struct core *core, struct arena *a, struct plan *p, struct err *err)
{
    if (!load_chunks(core->db, a, p, err))
        return false;
    p->join = arena_array(a, struct join, p->n[0] + p->n[1] + 1);
    if (p->keep == SERIES_LIVE && !roll(core, a, p, err))
        return false;
    if (p->keep == SERIES_LIVE)
        expire(core, p);
    p->due = next_due(core, p);
    return join_level(core, a, p, LEVEL_RAW, err) && join_level(core, a, p, LEVEL_MINUTE, err);
}

static bool drop_row(struct db_conn *c, int64_t id, struct err *err)
{
    return conn_exec(c, "DELETE FROM series_chunks WHERE id = ?", db_args(db_int(id)), NULL, err);
}

static bool write_join(struct db_conn *c, const struct join *j, struct err *err)
{
    if (!conn_exec(c, "UPDATE series_chunks SET first = ?, last = ?, points = ?, data = ? WHERE id = ?",
                   db_args(db_int(j->whole.first), db_int(j->whole.last), db_int(j->whole.points),
                           db_bytes(j->data), db_int(j->whole.id)),
                   NULL, err))
        return false;
    for (size_t i = 1; i < j->n; i++)
        if (!drop_row(c, j->from[i].id, err))
            return false;
    return true;
}

static bool write_rows(struct db_conn *c, const struct plan *p, struct err *err)
{
    for (int level = 0; level < 2; level++)
        for (size_t i = 0; i < p->n[level]; i++)
            if (p->chunk[level][i].gone && !drop_row(c, p->chunk[level][i].id, err))
                return false;
    for (size_t i = 0; i < p->n_join; i++)
        if (!write_join(c, &p->join[i], err))
            return false;
    return !p->minutes.n ||
           conn_exec(c, SERIES_INSERT_CHUNK,
                     db_args(db_int(p->id), db_int(LEVEL_MINUTE), db_int(p->minutes_first),
                             db_int(p->minutes_last), db_int(p->n_minutes), db_bytes(p->minutes)),
                     NULL, err);
}

/* Of a series that is gone meanwhile nothing is written. */
static bool plan_write(struct db_conn *c, void *ctx, struct err *err)
{
    const struct plan *p = ctx;
    int64_t changed;
    if (p->due < 0 && p->n[0] + p->n[1] == 0)
        return conn_exec(c,
                         "DELETE FROM series WHERE id = ? AND NOT EXISTS (SELECT 1 FROM series_chunks"
                         " WHERE series = ?)",
                         db_args(db_int(p->id), db_int(p->id)), NULL, err);
    if (!conn_exec(c,
                   "UPDATE series SET rolled = ?, due = ?, points = points + ?, bytes = bytes + ?"
                   " WHERE id = ?",
                   db_args(db_int(p->rolled), db_int(p->due < 0 ? p->now : p->due), db_int(p->points),
                           db_int(p->bytes), db_int(p->id)),
                   &changed, err))
        return false;
    return changed == 0 || write_rows(c, p, err);
}

static bool compact_one(struct core *core, struct plan *p, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    return make_plan(core, &a, p, err) && db_write(core->db, plan_write, p, err);
}

/* --- all of them --- */

static bool count(struct core *core, struct err *err)
{
    auto_arena struct arena a;
    struct db_row row, rows;
    bool found;
    arena_init(&a);
    if (!db_query_one(core->db, &a,
                      "SELECT COUNT(*), CAST(COALESCE(SUM(points), 0) AS BIGINT),"
                      " CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM series",
                      DB_NO_ARGS, &row, &found, err) ||
        !db_query_one(core->db, &a, "SELECT COUNT(*) FROM series_chunks", DB_NO_ARGS, &rows, &found, err))
        return false;
    pthread_mutex_lock(&core->series->lock);
    core->series->sizes = (struct series_sizes){
        .series = row.v[0].i, .points = row.v[1].i, .bytes = row.v[2].i, .rows = rows.v[0].i};
    pthread_mutex_unlock(&core->series->lock);
    return true;
}

static bool compact(struct core *core, struct err *err)
{
    bool ok = true;
    int64_t now = clock_now();
    for (size_t n = PAGE; n == PAGE && !controller_ending(core);) {
        auto_arena struct arena a;
        struct db_rows rows;
        arena_init(&a);
        if (!db_query(core->db, &a,
                      "SELECT id, keep, rolled FROM series WHERE due > 0 AND due <= ? ORDER BY due LIMIT 100",
                      db_args(db_int(now)), &rows, err))
            return false;
        n = rows.n;
        for (size_t i = 0; i < rows.n && !controller_ending(core); i++) {
            const struct db_value *v = rows.row[i].v;
            struct plan p = {.id = v[0].i,
                             .keep = v[1].i == SERIES_LIVE ? SERIES_LIVE : SERIES_WHOLE,
                             .rolled = v[2].i,
                             .now = now};
            struct err one = {0};
            if (!compact_one(core, &p, &one)) {
                ok = err_keep(err, &one);
                n = 0; /* it would come again at once */
            }
        }
    }
    return count(core, err) && ok;
}

const struct controller controller_compact_series = {
    .name = "compact-series",
    .title = {"Joins points of curves and removes old ones", "合并曲线数据并清除过期部分"},
    .thread = "collect",
    .gives_way = true,
    .first_s = 30,
    .every_s = 60,
    .tick = compact,
};
