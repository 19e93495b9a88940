#include "core/search_text.h"

#define ANYWHERE 3 /* words of so many characters are found inside of others */

/* --- characters --- */

/* Capitals outside of ASCII whose small letters follow at a distance. */
static const struct {
    uint32_t first, last, to;
} capitals[] = {
    {'A', 'Z', 32},     {0xc0, 0xd6, 32},   {0xd8, 0xde, 32},     {0x391, 0x3a9, 32},
    {0x400, 0x40f, 80}, {0x410, 0x42f, 32}, {0xff21, 0xff3a, 32},
};

/* Scripts that are written without spaces. */
static const struct {
    uint32_t first, last;
} unspaced[] = {
    {0x2e80, 0x9fff},
    {0xac00, 0xd7af},
    {0xf900, 0xfaff},
    {0x20000, 0x3ffff},
};

static uint32_t fold(uint32_t c)
{
    for (size_t i = 0; i < countof(capitals) && c >= capitals[i].first; i++)
        if (c <= capitals[i].last)
            return c + capitals[i].to;
    return c;
}

enum class { OTHER, LETTER, DIGIT, UNSPACED };

static enum class class_of(uint32_t c) {
    if (c < 0x80) return c >= '0' && c <= '9' ? DIGIT
    : c >= 'a' && c <= 'z'                    ? LETTER
                                              : OTHER;
    for (size_t i = 0; i < countof(unspaced);
         i++) if (c >= unspaced[i].first && c <= unspaced[i].last) return UNSPACED;
    return LETTER;
}

static bool begins_word(const struct search_text *t, size_t at)
{
    enum class here = class_of(t->chars[at]);
    return at == 0 || here == UNSPACED || (here != OTHER && here != class_of(t->chars[at - 1]));
}

struct search_text search_text_of(struct arena *a, struct str text)
{
    struct search_text t = {.chars = arena_alloc(a, (text.n + 1) * sizeof *t.chars)};
    for (size_t i = 0; i < text.n;)
        t.chars[t.n++] = fold(utf8_next(text, &i));
    return t;
}

static bool is_space(uint32_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x3000;
}

struct search_words search_words_of(struct arena *a, struct str q)
{
    struct search_words w = {0};
    struct search_text all = search_text_of(a, q);
    for (size_t i = 0; i < all.n;) {
        size_t from = i;
        while (i < all.n && !is_space(all.chars[i]))
            i++;
        if (i > from && w.n < SEARCH_WORDS_MAX)
            w.word[w.n++] = (struct search_text){all.chars + from, i - from};
        else if (i > from)
            w.too_many = true;
        while (i < all.n && is_space(all.chars[i]))
            i++;
    }
    return w;
}

/* --- comparing --- */

ptrdiff_t search_find(const struct search_text *text, const struct search_text *word)
{
    for (size_t i = 0; word->n && i + word->n <= text->n; i++)
        if (text->chars[i] == word->chars[0] &&
            memcmp(text->chars + i, word->chars, word->n * sizeof *word->chars) == 0 &&
            (word->n >= ANYWHERE || begins_word(text, i)))
            return (ptrdiff_t)i;
    return -1;
}

bool search_matches(struct arena *a, const struct search_words *words, const struct str *texts, size_t n)
{
    unsigned found = 0;
    for (size_t i = 0; i < n; i++) {
        struct search_text t = search_text_of(a, texts[i]);
        for (size_t k = 0; k < words->n; k++)
            if (!(found & 1u << k) && search_find(&t, &words->word[k]) >= 0)
                found |= 1u << k;
    }
    return found == (1u << words->n) - 1;
}

int search_rank(struct arena *a, const struct search_words *words, struct str name)
{
    struct search_text t = search_text_of(a, name);
    int rank = SEARCH_BEGINS;
    for (size_t k = 0; k < words->n; k++) {
        ptrdiff_t at = search_find(&t, &words->word[k]);
        int one = at < 0                        ? SEARCH_ELSEWHERE
                  : at == 0 && k == 0           ? SEARCH_BEGINS
                  : begins_word(&t, (size_t)at) ? SEARCH_WORDS
                                                : SEARCH_WITHIN;
        rank = one > rank && !(k && one == SEARCH_WORDS) ? one : rank;
    }
    return rank == SEARCH_BEGINS && words->n == 1 && words->word[0].n == t.n ? SEARCH_WHOLE : rank;
}

bool search_loosely(const struct search_text *text, const struct search_words *words)
{
    size_t at = 0;
    for (size_t k = 0; k < words->n; k++)
        for (size_t i = 0; i < words->word[k].n; i++, at++) {
            bool first = i == 0;
            while (at < text->n &&
                   (text->chars[at] != words->word[k].chars[i] || (first && !begins_word(text, at))))
                at++;
            if (at == text->n)
                return false;
        }
    return words->n > 0;
}

/* --- grams --- */

static int64_t gram(const uint32_t *c, size_t n)
{
    return (int64_t)((uint64_t)c[0] << 42 | (uint64_t)(n > 1 ? c[1] : 0) << 21 | (n > 2 ? c[2] : 0));
}

static void add(int64_t *list, size_t *n, int64_t g)
{
    for (size_t i = 0; i < *n; i++)
        if (list[i] == g)
            return;
    if (*n < SEARCH_GRAMS_MAX)
        list[(*n)++] = g;
}

size_t search_word_grams(const struct search_words *words, int64_t ret[SEARCH_GRAMS_MAX])
{
    size_t n = 0, most = words->n < SEARCH_GRAMS_MAX ? SEARCH_GRAMS_MAX / (words->n ? words->n : 1) : 1;
    for (size_t k = 0; k < words->n; k++) {
        const struct search_text *w = &words->word[k];
        size_t last = w->n < ANYWHERE ? 0 : w->n - ANYWHERE, take = last + 1 < most ? last + 1 : most;
        for (size_t i = 0; i < take; i++) /* over the whole word, its end too */
            add(ret, &n, gram(w->chars + (take > 1 ? i * last / (take - 1) : last), w->n));
    }
    return n;
}

void search_text_grams(const struct search_text *t, void (*each)(void *ctx, int64_t gram), void *ctx)
{
    for (size_t i = 0; i < t->n; i++) {
        if (i + ANYWHERE <= t->n)
            each(ctx, gram(t->chars + i, ANYWHERE));
        if (!begins_word(t, i))
            continue;
        each(ctx, gram(t->chars + i, 1));
        if (i + 1 < t->n)
            each(ctx, gram(t->chars + i, 2));
    }
}
