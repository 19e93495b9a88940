/* Points out of rows and of what waits in memory. Memory is looked at first: what is written meanwhile is
 * then seen twice, and known by its time, never missed. */
#include "core/series/series_own.h"

#include <math.h>

struct range {
    int64_t from, to;
    bool by_step;
    double step_from, step_to;
};

static struct range range_of(const struct series_query *q)
{
    bool timed = q->from || q->to;
    return (struct range){timed ? q->from : INT64_MIN, timed ? q->to : INT64_MAX, q->by_step, q->step_from,
                          q->step_to};
}

static bool in_range(const struct range *r, const struct series_point *p)
{
    return p->at >= r->from && p->at <= r->to &&
           (!r->by_step || (p->step >= r->step_from && p->step <= r->step_to));
}

/* --- which series --- */

#define OF_OWNER " WHERE s.owner_kind = ? AND s.owner = ? AND (? = 1 OR s.part = ?) AND (? = 1 OR s.name = ?)"

static struct db_args owner_args(const struct series_query *q, struct db_value v[6])
{
    v[0] = db_textz(q->kind);
    v[1] = db_int(q->owner);
    v[2] = db_int(q->part.p == NULL);
    v[3] = db_text(q->part.p ? q->part : STR(""));
    v[4] = db_int(q->name.p == NULL);
    v[5] = db_text(q->name.p ? q->name : STR(""));
    return (struct db_args){v, 6};
}

static bool list_rows(struct db_conn *c, const struct series_query *q, struct arena *a,
                      struct series_info **ret, size_t *ret_n, struct err *err)
{
    struct db_rows rows;
    struct db_value v[6];
    if (!conn_query(c, a,
                    "SELECT s.id, s.part, s.name, s.keep, s.points, s.rolled FROM series s" OF_OWNER
                    " ORDER BY s.part, s.name",
                    owner_args(q, v), &rows, err))
        return false;
    *ret = arena_array(a, struct series_info, rows.n + 1);
    *ret_n = rows.n;
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *r = rows.row[i].v;
        (*ret)[i] = (struct series_info){r[0].i, r[1].s, r[2].s, (enum series_keep)r[3].i, r[4].i, r[5].i};
    }
    return true;
}

bool series_list(struct core *core, const struct series_query *q, struct arena *a, struct series_info **ret,
                 size_t *ret_n, struct err *err)
{
    struct db_conn *c = db_read_begin(core->db, err);
    bool ok = c && list_rows(c, q, a, ret, ret_n, err);
    if (c)
        db_read_end(core->db, c);
    return ok;
}

bool series_newest(struct core *core, const struct series_query *q, struct arena *a, int64_t *ret,
                   struct err *err)
{
    struct series_points *waiting;
    size_t n;
    struct db_row row;
    struct db_value v[6];
    bool found;
    feeds_read(core, q, a, &waiting, &n);
    if (!db_query_one(core->db, a,
                      "SELECT MAX(c.last) FROM series s JOIN series_chunks c ON c.series = s.id" OF_OWNER,
                      owner_args(q, v), &row, &found, err))
        return false;
    int64_t newest = found && row.v[0].type == DB_INT ? row.v[0].i : 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < waiting[i].n; k++)
            newest = waiting[i].point[k].at > newest ? waiting[i].point[k].at : newest;
    *ret = newest;
    return true;
}

/* --- a series, written and waiting --- */

struct one {
    struct series_info info; /* id 0: nothing is written yet */
    const struct series_points *waiting;
};

static int compare(struct str x, struct str y)
{
    int order = memcmp(x.p, y.p, x.n < y.n ? x.n : y.n);
    return order ? order : (x.n > y.n) - (x.n < y.n);
}

static int by_name(const void *x, const void *y)
{
    const struct series_info *p = &((const struct one *)x)->info, *q = &((const struct one *)y)->info;
    int part = compare(p->part, q->part);
    return part ? part : compare(p->name, q->name);
}

struct reading {
    struct db_conn *conn;
    struct arena *arena;
    struct range range;
    struct one *one;
    size_t n;
};

static void join_waiting(struct reading *r, const struct series_points *waiting, size_t n)
{
    size_t written = r->n;
    for (size_t i = 0; i < n; i++) {
        struct one key = {.info = {.part = waiting[i].part, .name = waiting[i].name, .keep = SERIES_LIVE},
                          .waiting = &waiting[i]};
        struct one *there = bsearch(&key, r->one, written, sizeof key, by_name);
        if (there)
            there->waiting = &waiting[i];
        else
            r->one[r->n++] = key;
    }
    qsort(r->one, r->n, sizeof *r->one, by_name);
}

/* reading_end follows, whatever it returns. */
static bool reading_begin(struct core *core, const struct series_query *q, struct arena *a, struct reading *r,
                          struct err *err)
{
    struct series_points *waiting;
    struct series_info *info;
    size_t n_waiting, n;
    *r = (struct reading){.arena = a, .range = range_of(q)};
    feeds_read(core, q, a, &waiting, &n_waiting);
    r->conn = db_read_begin(core->db, err);
    if (!r->conn || !list_rows(r->conn, q, a, &info, &n, err))
        return false;
    r->one = arena_array(a, struct one, n + n_waiting + 1);
    for (size_t i = 0; i < n; i++)
        r->one[r->n++].info = info[i];
    join_waiting(r, waiting, n_waiting);
    return true;
}

static void reading_end(struct core *core, struct reading *r)
{
    if (r->conn)
        db_read_end(core->db, r->conn);
}

/* --- points of a series, one after the other --- */

struct each {
    struct range range;
    void (*add)(void *ctx, const struct series_point *p, size_t n);
    void *ctx;
    int64_t newest; /* of those that are written */
    struct series_point *scratch;
    size_t room;
};

/* Those in the range, together where they stand together. */
static void add_in_range(struct each *e, const struct series_point *p, size_t n)
{
    size_t from = 0;
    for (size_t i = 0; i <= n; i++) {
        if (i < n && in_range(&e->range, &p[i]))
            continue;
        if (i > from)
            e->add(e->ctx, p + from, i - from);
        from = i + 1;
    }
}

static bool on_row(void *ctx, const struct db_row *row, struct err *err)
{
    struct each *e = ctx;
    struct series_head h;
    struct str data = row->v[0].s;
    if (!series_head(data, &h, err))
        return false;
    if (h.n > e->room) {
        e->room = h.n;
        e->scratch = base_realloc(e->scratch, e->room * sizeof *e->scratch);
    }
    if (!series_decode(data, e->scratch, err))
        return false;
    e->newest = h.last > e->newest ? h.last : e->newest;
    add_in_range(e, e->scratch, h.n);
    return true;
}

#define IN_RANGE " FROM series_chunks WHERE series = ? AND level = ? AND last >= ? AND first <= ?"

static struct db_args range_args(int64_t series, enum level level, struct range range, struct db_value v[4])
{
    v[0] = db_int(series);
    v[1] = db_int(level);
    v[2] = db_int(range.from);
    v[3] = db_int(range.to);
    return (struct db_args){v, 4};
}

static bool each_point(struct reading *r, const struct one *o, struct range range,
                       void (*add)(void *ctx, const struct series_point *p, size_t n), void *ctx,
                       struct err *err)
{
    struct each e = {.range = range, .add = add, .ctx = ctx, .newest = INT64_MIN};
    struct db_value v[4];
    bool ok = !o->info.id || conn_each(r->conn, "SELECT data" IN_RANGE " ORDER BY id",
                                       range_args(o->info.id, LEVEL_RAW, range, v), on_row, &e, err);
    free(e.scratch);
    size_t skip = 0;
    while (ok && o->waiting && skip < o->waiting->n && o->waiting->point[skip].at <= e.newest)
        skip++;
    if (ok && o->waiting)
        add_in_range(&e, o->waiting->point + skip, o->waiting->n - skip);
    return ok;
}

/* --- as they came --- */

static void add_thin(void *ctx, const struct series_point *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        series_thin_add(ctx, &p[i]);
}

static void add_count(void *ctx, const struct series_point *p, size_t n)
{
    (void)p;
    *(size_t *)ctx += n;
}

/* How many points the range has. Of all there is the rows say it; else they are counted. */
static bool count_points(struct reading *r, const struct one *o, size_t *ret, struct err *err)
{
    bool all = r->range.from == INT64_MIN && r->range.to == INT64_MAX && !r->range.by_step && !o->waiting;
    *ret = all ? (size_t)o->info.points : 0;
    return all || each_point(r, o, r->range, add_count, ret, err);
}

static bool read_one(struct reading *r, const struct one *o, size_t most, struct series_points *ret,
                     struct err *err)
{
    struct series_thin t;
    size_t total;
    if (!count_points(r, o, &total, err))
        return false;
    size_t wanted = most == 0 || total <= most ? total : most < 4 ? 4 : most;
    series_thin_begin(&t, total, wanted, arena_array(r->arena, struct series_point, wanted + 1));
    if (wanted < total)
        t.mean = arena_array(r->arena, struct series_stretch, wanted / 2);
    if (!each_point(r, o, r->range, add_thin, &t, err))
        return false;
    series_thin_end(&t);
    *ret = (struct series_points){o->info.part, o->info.name, t.point, t.n, (int64_t)total, t.mean, t.n_mean};
    return true;
}

bool series_read(struct core *core, const struct series_query *q, size_t most, struct arena *a,
                 struct series_points **ret, size_t *ret_n, struct err *err)
{
    struct reading r;
    struct series_points *list = NULL;
    bool ok = reading_begin(core, q, a, &r, err);
    if (ok)
        list = arena_array(a, struct series_points, r.n + 1);
    for (size_t i = 0; ok && i < r.n; i++)
        ok = read_one(&r, &r.one[i], most, &list[i], err);
    reading_end(core, &r);
    if (ok) {
        *ret = list;
        *ret_n = r.n;
    }
    return ok;
}
