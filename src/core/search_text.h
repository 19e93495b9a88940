/* What a search is compared with: pure functions over text.
 *
 * A search is words parted by spaces, all of which must be found. A word of three characters or more is found
 * anywhere; a shorter one where a word of the text begins, and every Chinese, Japanese or Korean character
 * begins one. So "ep" finds "epoch-3" and not "step", "poc" finds "epoch-3", and 车辆 finds 黄色车辆. Upper
 * and lower case are the same.
 *
 * For the index (core/search.h) a text is the set of its grams: each three characters in a row, and at the
 * begin of each word its first one and its first two. A gram is the characters' code points, 21 bits each. */
#ifndef INGOT_CORE_SEARCH_TEXT_H
#define INGOT_CORE_SEARCH_TEXT_H

#include "base/arena.h"
#include "base/str.h"

#define SEARCH_WORDS_MAX 16
#define SEARCH_GRAMS_MAX 12 /* of a search: what has these is looked at */

/* A text as the search sees it. */
struct search_text {
    uint32_t *chars;
    size_t n;
};
struct search_text search_text_of(struct arena *a, struct str text);

struct search_words {
    struct search_text word[SEARCH_WORDS_MAX];
    size_t n;
    bool too_many;
};
struct search_words search_words_of(struct arena *a, struct str q);

/* Where the word is in the text for the first time, in characters; -1 when it is not there. */
ptrdiff_t search_find(const struct search_text *text, const struct search_text *word);
/* Whether every word is in one of the texts (a NULL text is none). */
bool search_matches(struct arena *a, const struct search_words *words, const struct str *texts, size_t n);

/* How well the words fit a text that is called so; less is better. */
enum search_rank { SEARCH_WHOLE, SEARCH_BEGINS, SEARCH_WORDS, SEARCH_WITHIN, SEARCH_ELSEWHERE, SEARCH_LOOSE };
int search_rank(struct arena *a, const struct search_words *words, struct str name);
/* Whether all characters of the words are in the text in their order, the first where a word begins: "trfdet"
 * is in "traffic-detection". */
bool search_loosely(const struct search_text *text, const struct search_words *words);

/* Grams that every text with the words has, at most SEARCH_GRAMS_MAX of them, none twice. */
size_t search_word_grams(const struct search_words *words, int64_t ret[SEARCH_GRAMS_MAX]);
/* Each gram of the text, maybe more than once. */
void search_text_grams(const struct search_text *text, void (*each)(void *ctx, int64_t gram), void *ctx);

#endif
