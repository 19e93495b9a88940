/* The index that finds words and parts of words (core/search_text.h) among many: of the searched fields of
 * kinds, and of the names of samples. It only says what may match; whoever asks compares the texts
 * themselves.
 *
 * A *place* is what is searched as one: a kind ("label_set", scope 0) or the samples of a version ("sample",
 * scope the version). Its *documents* are ids, for samples positions; 16,384 in a row are a block. For each
 * gram and block one row has the documents, as a list of their numbers in the block, or as bits once that is
 * shorter. So a search of a million reads some sixty short rows a gram.
 *
 * The rows are written in the background, once a place has thousands that were left alone for a while, and
 * only ever get more. What is behind the place's `mark` has to be looked through; a document whose text
 * changed is noted and may match anything until its new grams are written. Grams of texts that are no longer
 * there stay, and cost only the comparison. */
#ifndef INGOT_CORE_SEARCH_H
#define INGOT_CORE_SEARCH_H

#include "core/kind.h"
#include "core/search_text.h"
#include "core/sql.h"

/* A search with more matches comes as it is found, not in the order that was asked for. */
#define SEARCH_SORTED_MAX 10000
#define SEARCH_CHUNK      256 /* documents of one statement */

#define SEARCH_SAMPLES "sample"

/* The searched fields of a kind; 0: it cannot be searched. */
#define SEARCH_FIELDS_MAX 8
size_t search_fields(const struct kind *k, size_t ret[SEARCH_FIELDS_MAX]);
/* "name" 3 to 6: where the first occurrence of each word is in an object's texts, as JSON list of
 * {"field", "from", "to"} in characters. */
struct search_named {
    const char *field;
    struct str text;
};
void search_show(struct arena *a, const struct search_words *words, const struct search_named *texts,
                 size_t n, struct json_out *out);

/* Inside a write: the text of a document is another. */
bool search_changed(struct db_conn *c, const char *source, int64_t scope, int64_t document, struct err *err);
/* Inside a write: documents behind `last` are gone, and others may get their numbers. */
bool search_rewind(struct db_conn *c, const char *source, int64_t scope, int64_t last, struct err *err);

/* Goes through what may match, up to the mark, in the order of the documents. */
struct search_walk {
    int64_t mark; /* what is behind it is not in the index; 0: nothing is */
    /* the walk's own */
    struct db_conn *conn;
    struct arena *arena;
    bool down;
    int64_t place, after, grams[SEARCH_GRAMS_MAX], *changed, *found;
    size_t gram_count, changed_count, found_count, found_at, blocks;
    int64_t block; /* the next to be read; -1: none */
};
/* after: where it begins, which is left out; 0: at the begin (down: at the end). */
bool search_walk_begin(struct search_walk *w, struct db_conn *conn, struct arena *a, const char *source,
                       int64_t scope, const struct search_words *words, bool down, int64_t after,
                       struct err *err);
/* At most `most` of the next ones; *ret_n 0: there are no more. */
bool search_walk_next(struct search_walk *w, size_t most, int64_t *ret, size_t *ret_n, struct err *err);
/* " IN (...)" of SEARCH_CHUNK values, so that all such statements are one. n is at least 1. */
void search_in(struct sql *s, const int64_t *documents, size_t n);

/* Rows of a block. */
#define SEARCH_BLOCK_BITS 14
#define SEARCH_BLOCK      (1 << SEARCH_BLOCK_BITS)
#define SEARCH_WORDS64    (SEARCH_BLOCK / 64)
/* The row's documents are set in bits. */
void search_row_read(struct str row, uint64_t bits[SEARCH_WORDS64]);
/* Writes them; the text is in the arena. */
struct str search_row_write(struct arena *a, const uint64_t bits[SEARCH_WORDS64]);

#endif
