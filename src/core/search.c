#include "core/search.h"

#include "base/json.h"

#include <endian.h>

size_t search_fields(const struct kind *k, size_t ret[SEARCH_FIELDS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; k->fields[i].name && n < SEARCH_FIELDS_MAX; i++)
        if (k->fields[i].flags & FIELD_SEARCH && !(k->fields[i].flags & FIELD_VIRTUAL))
            ret[n++] = i;
    return n;
}

void search_show(struct arena *a, const struct search_words *words, const struct search_named *texts,
                 size_t n, struct json_out *out)
{
    json_array(out);
    for (size_t i = 0; i < n; i++) {
        struct search_text t = search_text_of(a, texts[i].text);
        for (size_t k = 0; k < words->n; k++) {
            ptrdiff_t at = search_find(&t, &words->word[k]);
            if (at < 0)
                continue;
            json_object(out);
            json_kz(out, "field", texts[i].field);
            json_kint(out, "from", at);
            json_kint(out, "to", at + (ptrdiff_t)words->word[k].n);
            json_object_end(out);
        }
    }
    json_array_end(out);
}

bool search_changed(struct db_conn *c, const char *source, int64_t scope, int64_t document, struct err *err)
{
    return conn_exec(c, "INSERT INTO search_changed (source, scope, document) VALUES (?, ?, ?)",
                     db_args(db_textz(source), db_int(scope), db_int(document)), NULL, err);
}

bool search_rewind(struct db_conn *c, const char *source, int64_t scope, int64_t last, struct err *err)
{
    /* seen: what is being written just now is written again. */
    return conn_exec(c,
                     "UPDATE search_places SET seen = 0, mark = CASE WHEN mark > ? THEN ? ELSE mark END"
                     " WHERE source = ? AND scope = ?",
                     db_args(db_int(last), db_int(last), db_textz(source), db_int(scope)), NULL, err);
}

/* --- rows --- */

void search_row_read(struct str row, uint64_t bits[SEARCH_WORDS64])
{
    const unsigned char *p = (const unsigned char *)row.p;
    bool list = row.n < SEARCH_BLOCK / 8;
    for (size_t i = 0; list && i + 1 < row.n; i += 2) {
        unsigned at = (p[i] | (unsigned)p[i + 1] << 8) & (SEARCH_BLOCK - 1);
        bits[at / 64] |= 1ULL << at % 64;
    }
    for (size_t i = 0; !list && i < SEARCH_WORDS64; i++) {
        uint64_t word;
        memcpy(&word, p + 8 * i, sizeof word);
        bits[i] |= le64toh(word);
    }
}

struct str search_row_write(struct arena *a, const uint64_t bits[SEARCH_WORDS64])
{
    size_t n = 0, count = 0;
    for (size_t i = 0; i < SEARCH_WORDS64; i++)
        count += (size_t)__builtin_popcountll(bits[i]);
    bool list = 2 * count < SEARCH_BLOCK / 8;
    unsigned char *p = arena_alloc(a, list ? 2 * count + 1 : SEARCH_BLOCK / 8);
    for (size_t i = 0; list && i < SEARCH_WORDS64; i++)
        for (uint64_t b = bits[i]; b; b &= b - 1) {
            unsigned at = (unsigned)(i * 64) + (unsigned)__builtin_ctzll(b);
            p[n++] = (unsigned char)at;
            p[n++] = (unsigned char)(at >> 8);
        }
    for (; !list && n < SEARCH_BLOCK / 8; n++)
        p[n] = (unsigned char)(bits[n / 8] >> n % 8 * 8);
    return (struct str){(const char *)p, n};
}

/* --- the walk --- */

#define BLOCKS_MAX 16 /* read together, after fewer: the first ones are often enough */

static int64_t block_of(int64_t document)
{
    return document >> SEARCH_BLOCK_BITS;
}

static bool load_changed(struct search_walk *w, const char *source, int64_t scope, struct err *err)
{
    struct db_rows rows;
    if (!conn_query(w->conn, w->arena,
                    "SELECT DISTINCT document FROM search_changed WHERE source = ? AND scope = ?"
                    " AND document <= ?",
                    db_args(db_textz(source), db_int(scope), db_int(w->mark)), &rows, err))
        return false;
    w->changed = arena_array(w->arena, int64_t, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++)
        w->changed[w->changed_count++] = rows.row[i].v[0].i;
    return true;
}

bool search_walk_begin(struct search_walk *w, struct db_conn *conn, struct arena *a, const char *source,
                       int64_t scope, const struct search_words *words, bool down, int64_t after,
                       struct err *err)
{
    struct db_row row;
    bool found;
    *w = (struct search_walk){.conn = conn, .arena = a, .down = down, .after = after, .block = -1};
    if (!conn_query_one(conn, a, "SELECT id, mark FROM search_places WHERE source = ? AND scope = ?",
                        db_args(db_textz(source), db_int(scope)), &row, &found, err))
        return false;
    if (!found || row.v[1].i <= 0)
        return true;
    w->place = row.v[0].i;
    w->mark = row.v[1].i;
    w->gram_count = search_word_grams(words, w->grams);
    bool from_end = down && (!after || after > w->mark);
    w->block = block_of(from_end ? w->mark : after);
    w->blocks = 1;
    return load_changed(w, source, scope, err);
}

static bool wanted(const struct search_walk *w, int64_t document)
{
    if (document > w->mark)
        return false;
    return !w->after || (w->down ? document < w->after : document > w->after);
}

static void add_changed(const struct search_walk *w, int64_t block, uint64_t bits[SEARCH_WORDS64])
{
    for (size_t i = 0; i < w->changed_count; i++)
        if (block_of(w->changed[i]) == block) {
            int64_t at = w->changed[i] & (SEARCH_BLOCK - 1);
            bits[at / 64] |= 1ULL << at % 64;
        }
}

static void take_block(struct search_walk *w, int64_t block, const uint64_t bits[SEARCH_WORDS64])
{
    for (int i = 0; i < SEARCH_WORDS64; i++) {
        int at = w->down ? SEARCH_WORDS64 - 1 - i : i;
        for (uint64_t b = bits[at]; b;) {
            int bit = w->down ? 63 - __builtin_clzll(b) : __builtin_ctzll(b);
            int64_t document = (block << SEARCH_BLOCK_BITS) + at * 64 + bit;
            if (wanted(w, document))
                w->found[w->found_count++] = document;
            b &= ~(1ULL << bit);
        }
    }
}

struct block {
    size_t rows;
    uint64_t bits[SEARCH_WORDS64];
};

struct reading {
    struct block *blocks;
    int64_t first;
};

static bool read_row(void *ctx, const struct db_row *row, struct err *err)
{
    (void)err;
    struct reading *r = ctx;
    struct block *b = &r->blocks[row->v[0].i - r->first];
    uint64_t bits[SEARCH_WORDS64] = {0};
    search_row_read(row->v[1].s, bits);
    for (size_t i = 0; i < SEARCH_WORDS64; i++)
        b->bits[i] = b->rows ? b->bits[i] & bits[i] : bits[i];
    b->rows++;
    return true;
}

static bool read_blocks(struct search_walk *w, int64_t first, int64_t last, struct err *err)
{
    auto_sql struct sql s;
    size_t count = (size_t)(last - first + 1);
    struct reading r = {.blocks = arena_array(w->arena, struct block, count), .first = first};
    sql_init(&s);
    sql_add(&s, "SELECT block, documents FROM search_grams WHERE place = ");
    sql_arg(&s, db_int(w->place));
    for (size_t i = 0; i < SEARCH_GRAMS_MAX; i++) { /* always as many, so that it is one statement */
        sql_add(&s, i ? "," : " AND gram IN (");
        sql_arg(&s, db_int(w->grams[i < w->gram_count ? i : 0]));
    }
    sql_add(&s, ") AND block >= ");
    sql_arg(&s, db_int(first));
    sql_add(&s, " AND block <= ");
    sql_arg(&s, db_int(last));
    bool ok = conn_each(w->conn, s.text.p, sql_args(&s), read_row, &r, err);
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        struct block *b = &r.blocks[i];
        if (b->rows < w->gram_count)
            memset(b->bits, 0, sizeof b->bits);
        add_changed(w, first + (int64_t)i, b->bits);
        for (size_t k = 0; k < SEARCH_WORDS64; k++)
            most += (size_t)__builtin_popcountll(b->bits[k]);
    }
    w->found = arena_alloc(w->arena, (most + 1) * sizeof *w->found);
    w->found_count = w->found_at = 0;
    for (size_t i = 0; ok && i < count; i++) {
        struct block *b = &r.blocks[w->down ? count - 1 - i : i];
        take_block(w, first + (b - r.blocks), b->bits);
    }
    return ok;
}

static bool read_more(struct search_walk *w, struct err *err)
{
    int64_t n = (int64_t)w->blocks - 1, end = block_of(w->mark);
    int64_t first = w->down ? (w->block > n ? w->block - n : 0) : w->block;
    int64_t last = w->down ? w->block : w->block + n < end ? w->block + n : end;
    if (first > last) {
        w->block = -1;
        return true;
    }
    w->block = w->down ? first - 1 : last < end ? last + 1 : -1;
    w->blocks = w->blocks < BLOCKS_MAX ? w->blocks * 4 : BLOCKS_MAX;
    return read_blocks(w, first, last, err);
}

bool search_walk_next(struct search_walk *w, size_t most, int64_t *ret, size_t *ret_n, struct err *err)
{
    *ret_n = 0;
    while (*ret_n < most) {
        if (w->found_at < w->found_count) {
            ret[(*ret_n)++] = w->found[w->found_at++];
            continue;
        }
        if (w->block < 0)
            return true;
        if (!read_more(w, err))
            return false;
    }
    return true;
}

void search_in(struct sql *s, const int64_t *documents, size_t n)
{
    for (size_t i = 0; i < SEARCH_CHUNK; i++) {
        sql_add(s, i ? "," : " IN (");
        sql_arg(s, db_int(documents[i < n ? i : n - 1]));
    }
    sql_add(s, ")");
}
