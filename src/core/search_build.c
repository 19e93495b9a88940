/* Writes the index of core/search.h in the background. */
#include "core/controllers.h"
#include "core/kinds.h"
#include "core/search.h"

#include <stdlib.h>

#define ENOUGH      2048 /* documents behind the mark: fewer are as quickly looked through */
#define WAITS_MAX   40   /* ticks that a place may go on growing before it is written all the same */
#define PAIRS_MAX   (1 << 19)
#define CHANGED_MAX 1000 /* of one tick */
#define GRAMS_GONE  500  /* removed together */

/* A place as it is found. kind NULL: samples. */
struct place {
    const char *source;
    const struct kind *kind;
    int64_t scope, last; /* the last document */
    bool there;
    int64_t id, mark, seen, waits;
};

/* A gram and a document's number in its block. */
struct pair {
    int64_t gram;
    unsigned at;
};

/* Documents of one block: what is to be written of them. */
struct part {
    struct arena *arena;
    const struct place *place;
    int64_t block, last; /* the last document whose grams are all in pairs */
    int64_t end;         /* of the block */
    struct pair *pairs;
    size_t n, cap, written;
    unsigned at;
    int64_t changed; /* the row of search_changed that this is for; 0: it is what is behind the mark */
};

/* --- reading --- */

static void add_gram(void *ctx, int64_t gram)
{
    struct part *p = ctx;
    if (p->n == p->cap) {
        p->cap = p->cap ? 2 * p->cap : 4096;
        p->pairs = base_realloc(p->pairs, p->cap * sizeof *p->pairs);
    }
    p->pairs[p->n++] = (struct pair){gram, p->at};
}

/* Columns: the document, then its texts. The part ends with a document, not within one. */
static bool take_document(void *ctx, const struct db_row *row, struct err *err)
{
    (void)err;
    struct part *p = ctx;
    size_t field[SEARCH_FIELDS_MAX], texts = p->place->kind ? search_fields(p->place->kind, field) : 1;
    int64_t document = row->v[0].i;
    if (p->n >= PAIRS_MAX)
        return false;
    p->at = (unsigned)(document & (SEARCH_BLOCK - 1));
    for (size_t i = 0; i < texts; i++) {
        auto_arena struct arena a;
        arena_init(&a);
        struct search_text t = search_text_of(&a, row->v[i + 1].s);
        search_text_grams(&t, add_gram, p);
    }
    p->last = document;
    return true;
}

static void select_documents(const struct place *place, int64_t after, int64_t last, struct sql *s)
{
    const char *document = place->kind ? "id" : "position";
    buf_printf(&s->text, "SELECT \"%s\"", document);
    size_t field[SEARCH_FIELDS_MAX], n = place->kind ? search_fields(place->kind, field) : 0;
    for (size_t i = 0; i < n; i++)
        buf_printf(&s->text, ",\"%s\"", place->kind->fields[field[i]].name);
    buf_printf(&s->text, "%s FROM \"%s\" WHERE ", n ? "" : ",name",
               place->kind ? place->kind->table : "samples");
    if (!place->kind) {
        sql_add(s, "version = ");
        sql_arg(s, db_int(place->scope));
    }
    sql_and(s);
    buf_printf(&s->text, "\"%s\" > ", document);
    sql_arg(s, db_int(after));
    buf_printf(&s->text, " AND \"%s\" <= ", document);
    sql_arg(s, db_int(last));
    buf_printf(&s->text, " ORDER BY \"%s\"", document);
}

static int by_gram(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return x->gram != y->gram ? (x->gram > y->gram) - (x->gram < y->gram) : (int)x->at - (int)y->at;
}

/* Documents behind `after`, in its block. */
static bool read_part(struct core *core, struct part *p, int64_t after, int64_t last, struct err *err)
{
    auto_sql struct sql s;
    sql_init(&s);
    p->block = (after + 1) >> SEARCH_BLOCK_BITS;
    p->end = ((p->block + 1) << SEARCH_BLOCK_BITS) - 1;
    if (last < p->end)
        p->end = last;
    p->n = p->written = 0;
    p->last = after;
    select_documents(p->place, after, p->end, &s);
    if (!db_each(core->db, s.text.p, sql_args(&s), take_document, p, err))
        return false;
    if (p->n < PAIRS_MAX)
        p->last = p->end;
    if (p->n)
        qsort(p->pairs, p->n, sizeof *p->pairs, by_gram);
    return true;
}

/* --- writing --- */

/* The documents of the gram at p->written, beside those that its row has. */
static bool write_gram(struct db_conn *c, const struct part *p, size_t at, struct err *err)
{
    auto_arena struct arena a;
    uint64_t bits[SEARCH_WORDS64] = {0};
    struct db_value place = db_int(p->place->id), gram = db_int(p->pairs[at].gram), block = db_int(p->block);
    struct db_row row;
    bool found;
    arena_init(&a);
    if (!conn_query_one(c, &a,
                        "SELECT documents FROM search_grams WHERE place = ? AND gram = ? AND block = ?",
                        db_args(place, gram, block), &row, &found, err))
        return false;
    if (found)
        search_row_read(row.v[0].s, bits);
    for (size_t i = at; i < p->n && p->pairs[i].gram == p->pairs[at].gram; i++)
        bits[p->pairs[i].at / 64] |= 1ULL << p->pairs[i].at % 64;
    return conn_exec(c,
                     "INSERT INTO search_grams (place, gram, block, documents) VALUES (?, ?, ?, ?)"
                     " ON CONFLICT (place, gram, block) DO UPDATE SET documents = excluded.documents",
                     db_args(place, gram, block, db_bytes(search_row_write(&a, bits))), NULL, err);
}

/* What behind a mark is another text by now is noted (search_changed): a text that was read before stays
 * noted until it is read once more. */
static bool end_part(struct db_conn *c, const struct part *p, struct err *err)
{
    if (p->changed)
        return conn_exec(c, "DELETE FROM search_changed WHERE id = ?", db_args(db_int(p->changed)), NULL,
                         err);
    /* Meanwhile an import may have been undone, which takes the mark back. */
    return conn_exec(
        c, "UPDATE search_places SET mark = ? WHERE id = ? AND mark = ? AND seen = ?",
        db_args(db_int(p->last), db_int(p->place->id), db_int(p->place->mark), db_int(p->place->last)), NULL,
        err);
}

struct writing {
    const struct part *part;
    size_t at; /* where the next write goes on */
};

static bool write_some(struct db_conn *c, void *ctx, struct err *err)
{
    struct writing *w = ctx;
    const struct part *p = w->part;
    size_t at = p->written;
    do {
        if (at < p->n && !write_gram(c, p, at, err))
            return false;
        size_t next = at;
        while (next < p->n && p->pairs[next].gram == p->pairs[at].gram)
            next++;
        at = next;
    } while (at < p->n && conn_goes_on(c));
    w->at = at;
    return at < p->n || end_part(c, p, err);
}

static bool write_part(struct core *core, struct part *p, struct err *err)
{
    bool first = true;
    while (first || p->written < p->n) {
        struct writing w = {.part = p};
        if (controller_ending(core) || !db_write(core->db, write_some, &w, err))
            return false;
        p->written = w.at;
        first = false;
    }
    return true;
}

/* --- places --- */

static bool load_place(struct core *core, struct arena *a, struct place *p, struct err *err)
{
    struct db_row row;
    if (!db_query_one(core->db, a,
                      "SELECT id, mark, seen, waits FROM search_places WHERE source = ? AND scope = ?",
                      db_args(db_textz(p->source), db_int(p->scope)), &row, &p->there, err))
        return false;
    p->id = p->there ? row.v[0].i : 0;
    p->mark = p->there ? row.v[1].i : 0;
    p->seen = p->there ? row.v[2].i : 0;
    p->waits = p->there ? row.v[3].i : 0;
    return true;
}

static bool note_place(struct db_conn *c, void *ctx, struct err *err)
{
    const struct place *p = ctx;
    return conn_exec(
        c,
        "INSERT INTO search_places (source, scope, mark, seen, waits) VALUES (?, ?, 0, ?, ?)"
        " ON CONFLICT (source, scope) DO UPDATE SET seen = excluded.seen, waits = excluded.waits",
        db_args(db_textz(p->source), db_int(p->scope), db_int(p->last), db_int(p->waits)), NULL, err);
}

static bool index_place(struct core *core, struct place *p, struct err *err)
{
    struct part part = {.place = p};
    bool ok = true;
    while (ok && p->mark < p->last && !controller_ending(core)) {
        ok = read_part(core, &part, p->mark, p->last, err) && write_part(core, &part, err);
        if (ok)
            p->mark = part.last;
    }
    free(part.pairs);
    return ok;
}

/* Many that are left alone are written. What grows just now (an import, a copy) is to have the machine for
 * itself; but not for ever. */
static bool tend_place(struct core *core, struct place *p, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    if (p->last < ENOUGH)
        return true;
    if (!load_place(core, &a, p, err))
        return false;
    if (p->last - p->mark < ENOUGH)
        return true;
    bool grows = p->last != p->seen && p->waits < WAITS_MAX;
    p->waits = grows ? p->waits + 1 : 0;
    if (!db_write(core->db, note_place, p, err))
        return false;
    return grows || (load_place(core, &a, p, err) && index_place(core, p, err));
}

static bool tend_kinds(struct core *core, struct err *err)
{
    for (size_t i = 0; i < kind_count && !controller_ending(core); i++) {
        auto_arena struct arena a;
        size_t field[SEARCH_FIELDS_MAX];
        struct db_row row;
        bool found;
        struct place p = {.source = kinds[i]->name, .kind = kinds[i]};
        arena_init(&a);
        if (!search_fields(kinds[i], field))
            continue;
        if (!db_query_one(core->db, &a, arena_printf(&a, "SELECT MAX(id) FROM \"%s\"", kinds[i]->table),
                          DB_NO_ARGS, &row, &found, err))
            return false;
        p.last = row.v[0].i;
        if (!tend_place(core, &p, err))
            return false;
    }
    return true;
}

static bool tend_samples(struct core *core, struct err *err)
{
    auto_arena struct arena a;
    struct db_rows rows;
    arena_init(&a);
    if (!db_query(core->db, &a,
                  "SELECT t.version, t.next_position - 1 FROM version_totals t LEFT JOIN search_places p"
                  " ON p.source = 'sample' AND p.scope = t.version"
                  " WHERE t.next_position - 1 - COALESCE(p.mark, 0) >= ?",
                  db_args(db_int(ENOUGH)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n && !controller_ending(core); i++) {
        struct place p = {.source = SEARCH_SAMPLES, .scope = rows.row[i].v[0].i, .last = rows.row[i].v[1].i};
        if (!tend_place(core, &p, err))
            return false;
    }
    return true;
}

/* Texts that changed: below the mark their grams are added, behind it they are read anyway. */
static bool index_changed(struct core *core, const struct db_row *row, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct place p = {.source = row->v[1].s.p, .kind = kind_by_name(row->v[1].s), .scope = row->v[2].i};
    struct part part = {.place = &p, .changed = row->v[0].i};
    int64_t document = row->v[3].i;
    bool ok = load_place(core, &a, &p, err) &&
              (document > p.mark || read_part(core, &part, document - 1, document, err)) &&
              write_part(core, &part, err);
    free(part.pairs);
    return ok;
}

static bool tend_changed(struct core *core, struct err *err)
{
    auto_arena struct arena a;
    struct db_rows rows;
    arena_init(&a);
    if (!db_query(core->db, &a, "SELECT id, source, scope, document FROM search_changed ORDER BY id LIMIT ?",
                  db_args(db_int(CHANGED_MAX)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n && !controller_ending(core); i++)
        if (!index_changed(core, &rows.row[i], err))
            return false;
    return true;
}

/* --- places that are no more --- */

struct leaving {
    int64_t place;
    bool left;
};

static bool leave(struct db_conn *c, void *ctx, struct err *err)
{
    struct leaving *l = ctx;
    int64_t gone = 0;
    if (!conn_exec(c,
                   "DELETE FROM search_grams WHERE place = ? AND gram <= (SELECT MAX(gram) FROM"
                   " (SELECT gram FROM search_grams WHERE place = ? ORDER BY gram LIMIT ?) AS few)",
                   db_args(db_int(l->place), db_int(l->place), db_int(GRAMS_GONE)), &gone, err))
        return false;
    l->left = gone > 0;
    return l->left ||
           conn_exec(c, "DELETE FROM search_places WHERE id = ?", db_args(db_int(l->place)), NULL, err);
}

static bool leave_places(struct core *core, struct err *err)
{
    auto_arena struct arena a;
    struct db_rows rows;
    arena_init(&a);
    if (!db_query(core->db, &a,
                  "SELECT id FROM search_places p WHERE source = 'sample'"
                  " AND NOT EXISTS (SELECT 1 FROM version_totals t WHERE t.version = p.scope)",
                  DB_NO_ARGS, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct leaving l = {.place = rows.row[i].v[0].i, .left = true};
        while (l.left && !controller_ending(core))
            if (!db_write(core->db, leave, &l, err))
                return false;
    }
    return true;
}

static bool tick(struct core *core, struct err *err)
{
    return tend_changed(core, err) && tend_kinds(core, err) && tend_samples(core, err) &&
           leave_places(core, err);
}

const struct controller controller_index_names = {
    .name = "index-names",
    .title = {"Makes words and parts of words quick to find", "为词语及其片段建立搜索索引"},
    .thread = "search",
    .gives_way = true,
    .first_s = 15,
    .every_s = 15,
    .tick = tick,
};
