/* Series by width. One statement reads the rows of all series of a query, since what a drawing waits for is
 * the database's answers and not their bytes. */
#include "core/series/series_own.h"

struct drawn {
    int64_t id; /* 0: nothing is written yet */
    struct str part, name;
    bool minutes;                        /* kept by the minute before `rolled`, and drawn so */
    int64_t rolled;                      /* as they came from here on */
    int64_t newest;                      /* of the points that are written */
    struct series_bucket *bucket, *fine; /* by width; minutes of points as they came */
    size_t n, n_fine;
};

struct drawing {
    struct arena *arena;
    int64_t from, to, width;
    struct drawn *one;
    size_t n, room;
    struct series_point *scratch;
    size_t scratch_room;
};

static struct drawn *add(struct drawing *d)
{
    if (!d->one || d->n == d->room) {
        d->room = d->room ? d->room * 2 : 16;
        struct drawn *more = arena_array(d->arena, struct drawn, d->room);
        if (d->one)
            memcpy(more, d->one, d->n * sizeof *more);
        d->one = more;
    }
    d->one[d->n] = (struct drawn){.newest = INT64_MIN, .rolled = INT64_MIN};
    return &d->one[d->n++];
}

/* --- points and minutes --- */

static void fold_points(struct drawing *d, struct drawn *o, const struct series_point *p, size_t n)
{
    if (o->minutes)
        series_fold(d->arena, p, n, MINUTE, &o->fine, &o->n_fine);
    else
        series_fold(d->arena, p, n, d->width, &o->bucket, &o->n);
}

/* Those in the range, together where they stand together. */
static void add_points(struct drawing *d, struct drawn *o, const struct series_point *p, size_t n)
{
    int64_t from = o->minutes && d->from < o->rolled ? o->rolled : d->from;
    size_t first = 0;
    for (size_t i = 0; i <= n; i++) {
        if (i < n && p[i].at >= from && p[i].at <= d->to)
            continue;
        if (i > first)
            fold_points(d, o, p + first, i - first);
        first = i + 1;
    }
}

static bool add_chunk(struct drawing *d, struct drawn *o, struct str data, struct err *err)
{
    struct series_head h;
    if (!series_head(data, &h, err))
        return false;
    if (h.n > d->scratch_room) {
        d->scratch_room = h.n;
        d->scratch = base_realloc(d->scratch, h.n * sizeof *d->scratch);
    }
    if (!series_decode(data, d->scratch, err))
        return false;
    o->newest = h.last > o->newest ? h.last : o->newest;
    add_points(d, o, d->scratch, h.n);
    return true;
}

static bool add_minutes(struct drawing *d, struct drawn *o, struct str data, struct err *err)
{
    struct series_bucket *b;
    size_t n, first = 0;
    int64_t from = d->from > INT64_MIN ? series_bucket_at(d->from, MINUTE) : d->from;
    if (!minutes_decode(d->arena, data, &b, &n, err))
        return false;
    while (first < n && b[first].at < from)
        first++;
    while (n > first && b[n - 1].at > d->to)
        n--;
    series_fold_buckets(d->arena, b + first, n - first, d->width, &o->bucket, &o->n);
    return true;
}

/* Each minute counts once, as those do of which only the mean is kept. */
static void even_out(struct drawing *d, struct drawn *o)
{
    for (size_t i = 0; i < o->n_fine; i++) {
        o->fine[i].sum = series_mean(&o->fine[i]);
        o->fine[i].n = 1;
    }
    series_fold_buckets(d->arena, o->fine, o->n_fine, d->width, &o->bucket, &o->n);
}

/* --- what is written --- */

enum { ROW_ID, ROW_PART, ROW_NAME, ROW_KEEP, ROW_ROLLED, ROW_LEVEL, ROW_DATA };

static bool on_row(void *ctx, const struct db_row *row, struct err *err)
{
    struct drawing *d = ctx;
    const struct db_value *v = row->v;
    struct drawn *o = d->n ? &d->one[d->n - 1] : NULL;
    if (!o || o->id != v[ROW_ID].i) {
        o = add(d);
        o->id = v[ROW_ID].i;
        o->part = arena_str(d->arena, v[ROW_PART].s);
        o->name = arena_str(d->arena, v[ROW_NAME].s);
        o->minutes = v[ROW_KEEP].i == SERIES_LIVE && d->width % MINUTE == 0;
        o->rolled = v[ROW_ROLLED].i;
    }
    if (v[ROW_LEVEL].type != DB_INT) /* it has no row in the range */
        return true;
    return v[ROW_LEVEL].i == LEVEL_MINUTE ? add_minutes(d, o, v[ROW_DATA].s, err)
                                          : add_chunk(d, o, v[ROW_DATA].s, err);
}

/* Minutes only where they are drawn, and then points only from where they end. */
#define ROWS                                                                                                 \
    "SELECT s.id, s.part, s.name, s.keep, s.rolled, c.level, c.data FROM series s LEFT JOIN series_chunks c" \
    " ON c.series = s.id AND c.last >= ? AND c.first <= ? AND (c.level = 0 OR ? = 1)"                        \
    " AND (c.level = 1 OR ? = 0 OR s.keep = 0 OR c.last >= s.rolled)"                                        \
    " WHERE s.owner_kind = ? AND s.owner = ? AND (? = 1 OR s.part = ?) AND (? = 1 OR s.name = ?)"            \
    " ORDER BY s.id, c.level DESC, c.id"

static bool read_rows(struct core *core, const struct series_query *q, struct drawing *d, struct err *err)
{
    bool minutes = d->width % MINUTE == 0;
    int64_t from = minutes && d->from > INT64_MIN ? series_bucket_at(d->from, MINUTE) : d->from;
    return db_each(core->db, ROWS,
                   db_args(db_int(from), db_int(d->to), db_int(minutes), db_int(minutes), db_textz(q->kind),
                           db_int(q->owner), db_int(q->part.p == NULL),
                           db_text(q->part.p ? q->part : STR("")), db_int(q->name.p == NULL),
                           db_text(q->name.p ? q->name : STR(""))),
                   on_row, d, err);
}

/* --- and what waits --- */

static int compare(struct str x, struct str y)
{
    int order = memcmp(x.p, y.p, x.n < y.n ? x.n : y.n);
    return order ? order : (x.n > y.n) - (x.n < y.n);
}

static int by_name(const void *x, const void *y)
{
    const struct drawn *p = x, *q = y;
    int part = compare(p->part, q->part);
    return part ? part : compare(p->name, q->name);
}

static void add_waiting(struct drawing *d, const struct series_points *w, size_t written)
{
    struct drawn key = {.part = w->part, .name = w->name};
    struct drawn *o = written ? bsearch(&key, d->one, written, sizeof key, by_name) : NULL;
    size_t skip = 0;
    if (!o) {
        o = add(d);
        o->part = w->part;
        o->name = w->name;
        o->minutes = d->width % MINUTE == 0;
    }
    while (skip < w->n && w->point[skip].at <= o->newest)
        skip++;
    add_points(d, o, w->point + skip, w->n - skip);
}

static void sort(struct drawing *d)
{
    if (d->n)
        qsort(d->one, d->n, sizeof *d->one, by_name);
}

bool series_draw(struct core *core, const struct series_query *q, int64_t width, struct arena *a,
                 struct series_buckets **ret, size_t *ret_n, struct err *err)
{
    bool all = !q->from && !q->to;
    struct drawing d = {
        .arena = a, .from = all ? INT64_MIN : q->from, .to = all ? INT64_MAX : q->to, .width = width};
    struct series_points *waiting;
    size_t n;
    feeds_read(core, q, a, &waiting, &n);
    bool ok = read_rows(core, q, &d, err);
    free(d.scratch);
    if (!ok)
        return false;
    sort(&d);
    size_t written = d.n;
    for (size_t i = 0; i < n; i++)
        add_waiting(&d, &waiting[i], written);
    sort(&d);
    *ret = arena_array(a, struct series_buckets, d.n + 1);
    *ret_n = d.n;
    for (size_t i = 0; i < d.n; i++) {
        even_out(&d, &d.one[i]);
        (*ret)[i] = (struct series_buckets){d.one[i].part, d.one[i].name, d.one[i].bucket, d.one[i].n};
    }
    return true;
}
