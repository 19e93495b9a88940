/* Lists of what a search finds. Of up to SEARCH_SORTED_MAX matches all are looked up and sorted, for each
 * page again, unless the page is found sooner along the index of the order: those of many matches are near in
 * it. Of more the newest come first, and the answer says so. */
#include "core/list_own.h"
#include "core/row.h"

#include <stdlib.h>

struct hit {
    struct db_value value; /* of the order */
    int64_t id;
};

struct search {
    struct db_conn *conn;
    const struct listing *l;
    const struct cursor *after; /* the page begins behind it */
    size_t limit;
    size_t field[SEARCH_FIELDS_MAX], fields;
    struct hit *hits;
    size_t n, cap, most; /* it goes on until there are so many */
    struct arena_spares spares;
};

/* --- looking up --- */

static void add_hit(struct search *s, const struct db_row *row, int rank)
{
    struct arena *a = s->l->arena;
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 256;
        s->hits = arena_grow(a, s->hits, s->cap * sizeof *s->hits, cap * sizeof *s->hits);
        s->cap = cap;
    }
    struct db_value v = s->l->order->best ? list_best(rank, row->v[1].i) : row->v[1];
    if (v.type == DB_TEXT || v.type == DB_BYTES)
        v.s = arena_str(a, v.s);
    s->hits[s->n++] = (struct hit){v, row->v[0].i};
}

/* Columns: id, the value of the order, the texts. */
static bool take_row(void *ctx, const struct db_row *row, struct err *err)
{
    (void)err;
    struct search *s = ctx;
    struct str texts[SEARCH_FIELDS_MAX] = {STR_NULL};
    struct arena a;
    arena_init_spare(&a, &s->spares);
    for (size_t i = 0; i < s->fields; i++)
        texts[i] = row->v[i + 2].s;
    if (search_matches(&a, &s->l->words, texts, s->fields))
        add_hit(s, row, s->l->order->best ? search_rank(&a, &s->l->words, texts[0]) : 0);
    arena_release_spare(&a, &s->spares);
    return s->n < s->most;
}

static void select_rows(const struct search *s, struct sql *q)
{
    const struct kind *k = s->l->kind;
    const struct order *o = s->l->order;
    sql_add(q, "SELECT \"id\",");
    if (o->side)
        side_select(o->side, q);
    else
        sql_name(q, o->column ? o->column : "id");
    for (size_t i = 0; i < s->fields; i++)
        buf_printf(&q->text, ",\"%s\"", k->fields[s->field[i]].name);
    buf_printf(&q->text, " FROM \"%s\"", k->table);
    sql_append(q, s->l->where);
    sql_and(q);
}

/* Looks through those behind `after` and before `before` (0: no end), the newest first where that matters. */
static bool scan(struct search *s, int64_t after, int64_t before, bool down, struct err *err)
{
    auto_sql struct sql q;
    sql_init(&q);
    select_rows(s, &q);
    sql_add(&q, "\"id\">");
    sql_arg(&q, db_int(after));
    if (before) {
        sql_add(&q, " AND \"id\"<");
        sql_arg(&q, db_int(before));
    }
    sql_add(&q, down ? " ORDER BY \"id\" DESC" : "");
    return conn_each(s->conn, q.text.p, sql_args(&q), take_row, s, err);
}

static bool look_up(struct search *s, const int64_t *ids, size_t n, struct err *err)
{
    auto_sql struct sql q;
    sql_init(&q);
    select_rows(s, &q);
    sql_add(&q, "\"id\"");
    search_in(&q, ids, n);
    return conn_each(s->conn, q.text.p, sql_args(&q), take_row, s, err);
}

/* Which objects the caller may see at all. */
static void scope_sql(const struct listing *l, struct sql *q)
{
    buf_str(&q->text, (struct str){l->where->text.p, l->scope_text});
    for (size_t i = 0; i < l->scope_args; i++)
        q->args[q->n++] = l->where->args[i];
}

/* Whether what the caller may see at all is few enough to be looked through. */
static bool is_small(const struct search *s, bool *ret, struct err *err)
{
    const struct listing *l = s->l;
    auto_sql struct sql q;
    struct db_row row;
    bool found;
    sql_init(&q);
    buf_printf(&q.text, "SELECT count(*) FROM (SELECT 1 FROM \"%s\"", l->kind->table);
    scope_sql(l, &q);
    sql_and(&q);
    sql_add(&q, "\"id\">0 LIMIT ");
    sql_arg(&q, db_int(SEARCH_SORTED_MAX + 1));
    sql_add(&q, ") AS few");
    if (!conn_query_one(s->conn, l->arena, q.text.p, sql_args(&q), &row, &found, err))
        return false;
    *ret = found && row.v[0].i <= SEARCH_SORTED_MAX;
    return true;
}

/* --- along the order --- */

#define NEAR_MORE 4 /* than the page are looked up: some may not match after all */

/* What may match, as it comes in the order. */
struct near {
    const int64_t *ids; /* the newest first */
    size_t n, want, count;
    int64_t found[SEARCH_CHUNK], rows;
};

static int newest_id_first(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

static bool take_near(void *ctx, const struct db_row *row, struct err *err)
{
    (void)err;
    struct near *c = ctx;
    c->rows++;
    if (bsearch(&row->v[0].i, c->ids, c->n, sizeof *c->ids, newest_id_first))
        c->found[c->count++] = row->v[0].i;
    return c->count < c->want;
}

/* By id the matches are in their order already. */
static void near_ids(const struct search *s, struct near *c)
{
    bool down = s->l->order->down;
    for (size_t i = 0; i < c->n && c->count < c->want; i++) {
        int64_t id = c->ids[down ? i : c->n - 1 - i];
        if (!s->after || (down ? id < s->after->id : id > s->after->id))
            c->found[c->count++] = id;
    }
}

/* Whether an index has all objects in this order. */
static bool has_way(const struct order *o)
{
    return !o->side && !o->best && (!o->column || o->never_null || o->field->flags & FIELD_REQUIRED);
}

/* Adds the matches of the page and one more, or no fewer than are left; *ret false when that is not known. */
static bool find_near(struct search *s, const int64_t *ids, size_t n, int64_t documents, bool *ret,
                      struct err *err)
{
    const struct order *o = s->l->order;
    const struct part part = {.after = s->after};
    struct near c = {.ids = ids, .n = n, .want = s->limit + NEAR_MORE};
    size_t before = s->n;
    *ret = false;
    if (c.want > SEARCH_CHUNK)
        c.want = SEARCH_CHUNK;
    /* A row of the index costs a tenth of a look-up, and they may all be in vain. */
    int64_t far = (int64_t)c.want * documents / (int64_t)n, most = 4 * (int64_t)n;
    if (s->l->count || !has_way(o) || s->limit >= c.want || (o->column && far > most))
        return true;
    if (most > 3 * far)
        most = 3 * far;
    if (o->column) {
        auto_sql struct sql q;
        sql_init(&q);
        buf_printf(&q.text, "SELECT \"id\" FROM \"%s\"", s->l->kind->table);
        scope_sql(s->l, &q);
        list_range(o, &part, &q);
        list_order(o, &part, most, &q);
        if (!conn_each(s->conn, q.text.p, sql_args(&q), take_near, &c, err))
            return false;
    } else {
        near_ids(s, &c);
    }
    if (c.count && !look_up(s, c.found, c.count, err))
        return false;
    bool all = c.count < c.want && (!o->column || c.rows < most);
    *ret = all || s->n - before > s->limit;
    if (!*ret)
        s->n = before;
    return true;
}

/* --- all that match --- */

/* Those of the index; *ret_many: there are too many of them. */
static bool find_indexed(struct search *s, struct search_walk *w, bool *ret_many, struct err *err)
{
    int64_t *ids = arena_alloc(s->l->arena, (SEARCH_SORTED_MAX + 1) * sizeof *ids);
    size_t n;
    bool small = true;
    if (!search_walk_next(w, SEARCH_SORTED_MAX + 1, ids, &n, err))
        return false;
    if (n > SEARCH_SORTED_MAX) {
        if (!is_small(s, &small, err))
            return false;
        *ret_many = !small;
        return !small || scan(s, 0, w->mark + 1, false, err);
    }
    bool near = false;
    if (n && !find_near(s, ids, n, w->mark, &near, err))
        return false;
    if (near)
        return true;
    for (size_t i = 0; i < n; i += SEARCH_CHUNK)
        if (!look_up(s, ids + i, n - i < SEARCH_CHUNK ? n - i : SEARCH_CHUNK, err))
            return false;
    return true;
}

static bool find_all(struct search *s, bool *ret_many, struct err *err)
{
    struct search_walk w;
    s->n = 0;
    s->most = SEARCH_SORTED_MAX + 1;
    *ret_many = false;
    if (!search_walk_begin(&w, s->conn, s->l->arena, s->l->kind->name, 0, &s->l->words, true, 0, err) ||
        !scan(s, w.mark, 0, false, err) || (w.mark && s->n < s->most && !find_indexed(s, &w, ret_many, err)))
        return false;
    *ret_many = *ret_many || s->n == s->most;
    return true;
}

/* The newest of many, in chunks: each is behind the one before, but within it is as it comes. */
static bool find_newest(struct search *s, int64_t before, size_t most, struct err *err)
{
    struct search_walk w;
    int64_t ids[SEARCH_CHUNK];
    size_t n = 1;
    s->n = 0;
    s->most = most;
    if (!search_walk_begin(&w, s->conn, s->l->arena, s->l->kind->name, 0, &s->l->words, true, before, err) ||
        !scan(s, w.mark, before, true, err))
        return false;
    while (w.mark && n && s->n < most) {
        s->most = SIZE_MAX;
        if (!search_walk_next(&w, SEARCH_CHUNK, ids, &n, err) || (n && !look_up(s, ids, n, err)))
            return false;
    }
    return true;
}

/* --- order --- */

static int compare_values(const struct db_value *a, const struct db_value *b)
{
    if (a->type == DB_TEXT && b->type == DB_TEXT) {
        int c = memcmp(a->s.p, b->s.p, a->s.n < b->s.n ? a->s.n : b->s.n);
        return c ? c : (a->s.n > b->s.n) - (a->s.n < b->s.n);
    }
    if (a->type == DB_INT && b->type == DB_INT)
        return (a->i > b->i) - (a->i < b->i);
    double x = a->type == DB_INT ? (double)a->i : a->r, y = b->type == DB_INT ? (double)b->i : b->r;
    return (x > y) - (x < y);
}

/* As list.c has it: upwards null comes first, downwards and of a side last. */
static int in_order(const void *x, const void *y, void *ctx)
{
    const struct hit *a = x, *b = y;
    const struct order *o = ctx;
    bool none_a = a->value.type == DB_NULL, none_b = b->value.type == DB_NULL;
    if (o->column && none_a != none_b)
        return none_a == (o->down || o->side) ? 1 : -1;
    int c = o->column && !none_a ? compare_values(&a->value, &b->value) : 0;
    if (!c)
        c = (a->id > b->id) - (a->id < b->id);
    return o->down ? -c : c;
}

struct db_value list_best(int rank, int64_t changed)
{
    return db_int(rank * (INT64_C(1) << 52) - changed);
}

static int newest_first(const void *x, const void *y)
{
    const struct hit *a = x, *b = y;
    return (a->id < b->id) - (a->id > b->id);
}

/* --- the page --- */

static bool load_objects(struct search *s, const struct hit *hits, size_t n, struct page *ret,
                         struct err *err)
{
    struct arena *a = s->l->arena;
    struct db_rows rows;
    auto_sql struct sql q;
    int64_t ids[SEARCH_CHUNK];
    sql_init(&q);
    ret->objects = arena_array(a, struct object, n + 1);
    ret->value = arena_array(a, struct db_value, n + 1);
    ret->n = 0;
    if (!n)
        return true;
    for (size_t i = 0; i < n; i++)
        ids[i] = hits[i].id;
    row_select(&q, s->l->kind);
    sql_add(&q, "\"id\"");
    search_in(&q, ids, n);
    if (!conn_query(s->conn, a, q.text.p, sql_args(&q), &rows, err))
        return false;
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < rows.n; r++)
            if (rows.row[r].v[0].i == hits[i].id) {
                ret->value[ret->n] = s->l->order->side || s->l->order->best ? hits[i].value : db_null();
                ret->objects[ret->n++] = row_read(a, s->l->kind, &rows.row[r]);
            }
    return true;
}

static bool sorted_page(struct search *s, const struct cursor *after, size_t limit, struct page *ret,
                        struct err *err)
{
    struct order order = *s->l->order;
    size_t from = 0;
    if (s->n)
        qsort_r(s->hits, s->n, sizeof *s->hits, in_order, &order);
    if (after) {
        const struct hit last = {after->value, after->id};
        while (from < s->n && in_order(&s->hits[from], &last, &order) <= 0)
            from++;
    }
    ret->total = (int64_t)s->n;
    ret->more = s->n - from > limit;
    return load_objects(s, s->hits + from, ret->more ? limit : s->n - from, ret, err);
}

static bool unsorted_page(struct search *s, const struct cursor *after, size_t limit, struct page *ret,
                          struct err *err)
{
    if (!find_newest(s, after ? after->id : 0, limit + 1, err))
        return false;
    /* Fewer than what the index promised; the best of those that were looked at. */
    if ((!after && s->n <= limit) || s->l->order->best)
        return sorted_page(s, NULL, limit, ret, err);
    if (s->n)
        qsort(s->hits, s->n, sizeof *s->hits, newest_first);
    ret->unsorted = true;
    ret->total = -1;
    ret->more = s->n > limit;
    return load_objects(s, s->hits, ret->more ? limit : s->n, ret, err);
}

bool list_search(struct db_conn *conn, const struct listing *l, const struct cursor *after, bool unsorted,
                 size_t limit, struct page *ret, struct err *err)
{
    struct search s = {.conn = conn, .l = l, .after = after, .limit = limit};
    bool many = unsorted, ok = true;
    s.fields = search_fields(l->kind, s.field);
    if (!unsorted)
        ok = find_all(&s, &many, err);
    if (ok && many && after && !unsorted)
        ok = err_set(err, ERR_INVALID, "cursor", "cursor: the search has too many matches by now to go on");
    ok = ok && (many ? unsorted_page(&s, unsorted ? after : NULL, limit, ret, err)
                     : sorted_page(&s, after, limit, ret, err));
    arena_spares_release(&s.spares);
    return ok;
}
