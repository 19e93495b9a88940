#include "metric/texts.h"

#include "base/map.h"

/* Two texts as numbers, the same for the same sign or word; 0 is none. */
struct signs {
    uint32_t *truth, *found;
    size_t truth_count, found_count;
    uint32_t kinds; /* numbers are below it */
};

/* One step of the truth's 64 signs against one sign of the found text (Myers' bit vectors): rising and
 * falling are the columns' differences, `in` the row's difference above, the answer that below. */
static int step(uint64_t *rising, uint64_t *falling, uint64_t same, int in, uint64_t last)
{
    uint64_t v = same | *falling;
    if (in < 0)
        same |= 1;
    uint64_t h = (((same & *rising) + *rising) ^ *rising) | same;
    uint64_t up = *falling | ~(h | *rising), down = *rising & h;
    int out = (up & last) ? 1 : (down & last) ? -1 : 0;
    up = up << 1 | (in > 0);
    down = down << 1 | (in < 0);
    *rising = down | ~(v | up);
    *falling = up & v;
    return out;
}

static uint64_t distance(struct arena *a, const struct signs *s)
{
    int8_t *row = arena_alloc(a, s->found_count + 1);
    uint64_t *same = arena_array(a, uint64_t, s->kinds + 1);
    memset(row, 1, s->found_count + 1);
    for (size_t at = 0; at < s->truth_count; at += 64) {
        size_t left = s->truth_count - at, n = left < 64 ? left : 64;
        uint64_t rising = ~(uint64_t)0, falling = 0, last = (uint64_t)1 << (n - 1);
        for (size_t i = 0; i < n; i++)
            same[s->truth[at + i]] |= (uint64_t)1 << i;
        for (size_t j = 0; j < s->found_count; j++)
            row[j] = (int8_t)step(&rising, &falling, same[s->found[j]], row[j], last);
        for (size_t i = 0; i < n; i++)
            same[s->truth[at + i]] = 0;
    }
    int64_t d = (int64_t)s->truth_count;
    for (size_t j = 0; j < s->found_count; j++)
        d += row[j];
    return (uint64_t)d;
}

/* The next sign from *i on, STR_NULL at the end. */
typedef struct str (*cut_fn)(struct str text, size_t *i);

static struct str cut_character(struct str text, size_t *i)
{
    if (*i >= text.n)
        return STR_NULL;
    size_t from = *i;
    utf8_next(text, i);
    return (struct str){text.p + from, *i - from};
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct str cut_word(struct str text, size_t *i)
{
    while (*i < text.n && is_space(text.p[*i]))
        ++*i;
    size_t from = *i;
    while (*i < text.n && !is_space(text.p[*i]))
        ++*i;
    return *i > from ? (struct str){text.p + from, *i - from} : STR_NULL;
}

static size_t number(struct arena *a, struct map *known, struct str text, cut_fn cut, uint32_t **ret)
{
    size_t i = 0, count = 0;
    uint32_t *all = arena_array(a, uint32_t, text.n + 1);
    for (struct str s; (s = cut(text, &i)).p; count++) {
        uintptr_t id = (uintptr_t)map_get(known, s);
        if (!id) {
            id = map_count(known) + 1;
            map_set(known, s, (void *)id);
        }
        all[count] = (uint32_t)id;
    }
    *ret = all;
    return count;
}

static struct texts_distance compare(struct arena *a, struct str truth, struct str found, cut_fn cut)
{
    struct map *known = map_new();
    struct signs s = {0};
    s.truth_count = number(a, known, truth, cut, &s.truth);
    s.found_count = number(a, known, found, cut, &s.found);
    s.kinds = (uint32_t)map_count(known) + 1;
    map_free(known);
    return (struct texts_distance){distance(a, &s), s.truth_count};
}

struct texts_distance texts_characters(struct arena *a, struct str truth, struct str found)
{
    return compare(a, truth, found, cut_character);
}

struct texts_distance texts_words(struct arena *a, struct str truth, struct str found)
{
    return compare(a, truth, found, cut_word);
}
