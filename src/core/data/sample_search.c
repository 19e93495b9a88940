/* Samples whose names have the words of a search, in the order of their positions. */
#include "core/data/sample_own.h"
#include "core/search.h"

#include <stdlib.h>

struct finding {
    struct db_conn *conn;
    struct arena *arena;
    int64_t version;
    const struct sample_query *q;
    struct search_words words;
    int64_t *positions;
    size_t n, cap, most;
    struct arena_spares spares;
};

static bool take_name(void *ctx, const struct db_row *row, struct err *err)
{
    (void)err;
    struct finding *f = ctx;
    struct arena a;
    arena_init_spare(&a, &f->spares);
    if (search_matches(&a, &f->words, &row->v[1].s, 1)) {
        if (f->n == f->cap) {
            size_t cap = f->cap ? 2 * f->cap : 256;
            f->positions =
                arena_grow(f->arena, f->positions, f->cap * sizeof *f->positions, cap * sizeof *f->positions);
            f->cap = cap;
        }
        f->positions[f->n++] = row->v[0].i;
    }
    arena_release_spare(&a, &f->spares);
    return f->n < f->most;
}

static void select_names(const struct finding *f, struct sql *s)
{
    sql_add(s, "SELECT s.position, s.name FROM samples s WHERE s.version = ");
    sql_arg(s, db_int(f->version));
    if (f->q->state >= 0 || f->q->state == -1) {
        sql_add(s, f->q->state >= 0 ? " AND s.state = " : " AND s.state <> ");
        sql_arg(s, db_int(f->q->state >= 0 ? f->q->state : SAMPLE_CLEANED));
    }
    if (f->q->label.p) {
        sql_add(s, " AND EXISTS (SELECT 1 FROM sample_labels l WHERE l.version = s.version AND l.label = ");
        sql_arg(s, db_text(f->q->label));
        sql_add(s, " AND l.position = s.position)");
    }
}

static bool look_up(struct finding *f, const int64_t *positions, size_t n, struct err *err)
{
    auto_sql struct sql s;
    sql_init(&s);
    select_names(f, &s);
    sql_add(&s, " AND s.position");
    search_in(&s, positions, n);
    return conn_each(f->conn, s.text.p, sql_args(&s), take_name, f, err);
}

static bool look_through(struct finding *f, int64_t after, struct err *err)
{
    auto_sql struct sql s;
    sql_init(&s);
    select_names(f, &s);
    sql_add(&s, " AND s.position > ");
    sql_arg(&s, db_int(after));
    sql_add(&s, " ORDER BY s.position");
    return conn_each(f->conn, s.text.p, sql_args(&s), take_name, f, err);
}

static int by_position(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Those of the index in chunks, each behind the one before; then what is behind its mark. */
static bool find(struct finding *f, struct err *err)
{
    struct search_walk w;
    int64_t positions[SEARCH_CHUNK], after = f->q->after;
    size_t n = 1, wanted = f->most;
    if (!search_walk_begin(&w, f->conn, f->arena, SEARCH_SAMPLES, f->version, &f->words, false, after, err))
        return false;
    f->most = SIZE_MAX; /* a chunk is taken whole: it is in no order */
    while (w.mark && n && f->n < wanted)
        if (!search_walk_next(&w, SEARCH_CHUNK, positions, &n, err) || (n && !look_up(f, positions, n, err)))
            return false;
    if (f->n)
        qsort(f->positions, f->n, sizeof *f->positions, by_position);
    f->most = wanted;
    if (f->n < wanted && !look_through(f, after > w.mark ? after : w.mark, err))
        return false;
    f->n = f->n < wanted ? f->n : wanted;
    return true;
}

static bool load(const struct finding *f, struct sample *ret, struct err *err)
{
    for (size_t i = 0; i < f->n; i += SEARCH_CHUNK) {
        size_t n = f->n - i < SEARCH_CHUNK ? f->n - i : SEARCH_CHUNK;
        struct db_rows rows;
        auto_sql struct sql s;
        sql_init(&s);
        sql_add(&s, "SELECT " SAMPLE_COLUMNS " FROM samples s WHERE s.version = ");
        sql_arg(&s, db_int(f->version));
        sql_add(&s, " AND s.position");
        search_in(&s, f->positions + i, n);
        sql_add(&s, " ORDER BY s.position");
        if (!conn_query(f->conn, f->arena, s.text.p, sql_args(&s), &rows, err))
            return false;
        for (size_t r = 0; r < rows.n; r++)
            ret[i + r] = sample_row(&rows.row[r]);
    }
    return true;
}

bool sample_search(struct db *db, struct arena *a, int64_t version, const struct sample_query *q,
                   struct sample **ret, size_t *ret_n, struct err *err)
{
    struct finding f = {.arena = a, .version = version, .q = q, .most = (size_t)q->limit};
    f.words = search_words_of(a, q->q);
    if (f.words.too_many)
        return err_set(err, ERR_INVALID, "q", "q: has more than %d words", SEARCH_WORDS_MAX);
    f.conn = db_read_begin(db, err);
    if (!f.conn)
        return false;
    bool ok = find(&f, err);
    struct sample *list = arena_array(a, struct sample, f.n + 1);
    ok = ok && load(&f, list, err);
    db_read_end(db, f.conn);
    arena_spares_release(&f.spares);
    if (!ok)
        return false;
    *ret = list;
    *ret_n = f.n;
    return true;
}
