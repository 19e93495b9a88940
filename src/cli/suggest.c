#include "cli/suggest.h"

#define SUGGEST_MAX 64

struct suggest suggest_for(struct str word)
{
    /* One mistake in short words, two from five letters on, three from nine. */
    unsigned allowed = word.n < 3 ? 0 : word.n < 5 ? 1 : word.n < 9 ? 2 : 3;
    return (struct suggest){.word = word, .best = NULL, .distance = allowed + 1};
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned m = a < b ? a : b;
    return m < c ? m : c;
}

/* Optimal string alignment: a swap of neighbours is one mistake. */
static unsigned distance(struct str a, struct str b)
{
    unsigned row[3][SUGGEST_MAX + 1];
    unsigned *before = row[0], *last = row[1], *now = row[2];
    for (size_t j = 0; j <= b.n; j++)
        last[j] = (unsigned)j;
    for (size_t i = 1; i <= a.n; i++) {
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= b.n; j++) {
            unsigned cost = a.p[i - 1] != b.p[j - 1];
            now[j] = min3(last[j] + 1, now[j - 1] + 1, last[j - 1] + cost);
            bool swap = i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1];
            if (swap && before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }
        unsigned *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[b.n];
}

void suggest_try(struct suggest *s, const char *candidate)
{
    struct str c = str_of(candidate);
    if (s->word.n > SUGGEST_MAX || c.n > SUGGEST_MAX || !c.n)
        return;
    unsigned d = distance(s->word, c);
    /* What begins with the word is likely meant, however long it is. */
    if (s->word.n >= 3 && c.n > s->word.n && memcmp(c.p, s->word.p, s->word.n) == 0)
        d = 1;
    if (d < s->distance) {
        s->distance = d;
        s->best = candidate;
    }
}

const char *suggest_best(const struct suggest *s)
{
    return s->best;
}
