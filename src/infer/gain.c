#include "infer/gain.h"

#define AGAIN_NS 15000000000U /* a known size is measured again after this long at the least */
#define SHARE    100          /* and after so many times as long as its run takes */
#define APART_NS                                                                                             \
    200000000U              /* samples are this far apart: what slows the machine for a moment counts once   \
                             */
#define WAIT_NS 1000000000U /* between two waits that only serve measuring */

static size_t size_of(size_t rows)
{
    size_t s = 0;
    while (s + 1 < GAIN_SIZES && ((size_t)1 << s) < rows)
        s++;
    return s;
}

static size_t width_of(size_t row_bytes)
{
    size_t w = 0;
    while (w + 1 < GAIN_WIDTHS && row_bytes >> (w + 1))
        w++;
    return w;
}

static struct gain_size *sizes_of(struct gain *g, size_t row_bytes)
{
    struct gain_size **at = &g->width[width_of(row_bytes)];
    if (!*at)
        *at = base_zalloc(GAIN_SIZES * sizeof **at);
    return *at;
}

static double median(const struct gain_size *s)
{
    double sorted[GAIN_SAMPLES] = {0};
    for (unsigned i = 0, k; i < s->n; i++) {
        for (k = i; k > 0 && sorted[k - 1] > s->sample[i]; k--)
            sorted[k] = sorted[k - 1];
        sorted[k] = s->sample[i];
    }
    return sorted[s->n / 2];
}

static bool known(const struct gain_size *s)
{
    return s->n >= GAIN_ENOUGH;
}

static bool wanted(const struct gain_size *s, uint64_t now)
{
    return s->due <= now;
}

void gain_add(struct gain *g, size_t row_bytes, size_t rows, uint64_t ns, uint64_t now)
{
    struct gain_size *s = &sizes_of(g, row_bytes)[size_of(rows)];
    g->last = width_of(row_bytes);
    if (!known(s) || now - s->taken >= APART_NS) {
        s->taken = now;
        s->sample[s->next] = (double)ns / (double)(rows ? rows : 1);
        s->next = (s->next + 1) % GAIN_SAMPLES;
        s->n += s->n < GAIN_SAMPLES;
        s->ns = median(s);
    }
    if (known(s))
        s->due = now + (ns * SHARE > AGAIN_NS ? ns * SHARE : AGAIN_NS);
}

/* The size with the least time per row, when that is so much less than alone; else alone. Those between that
 * are not known are passed over. */
static size_t best(const struct gain_size *sizes, size_t alone, size_t largest)
{
    size_t found = alone;
    double least = sizes[alone].ns / GAIN_LEAST;
    for (size_t s = alone + 1; s <= largest; s++)
        if (known(&sizes[s]) && sizes[s].ns <= least) {
            least = sizes[s].ns;
            found = s;
        }
    return found;
}

static size_t rows_of(size_t size, size_t first, size_t alone, size_t most)
{
    size_t rows = (size_t)1 << size;
    return size == alone ? first : rows < most ? rows : most;
}

size_t gain_rows(const struct gain *g, size_t row_bytes, size_t first, size_t most, uint64_t now)
{
    const struct gain_size *sizes = g->width[width_of(row_bytes)];
    size_t alone = size_of(first), largest = size_of(most);
    if (most <= first)
        return first;
    if (!sizes || alone == largest)
        return most;
    for (size_t s = largest; s > alone; s--)
        if (!known(&sizes[s]) && wanted(&sizes[s], now))
            return rows_of(s, first, alone, most);
    if (wanted(&sizes[alone], now))
        return first;
    for (size_t s = largest; s > alone; s--)
        if (wanted(&sizes[s], now))
            return rows_of(s, first, alone, most);
    return rows_of(best(sizes, alone, largest), first, alone, most);
}

size_t gain_wait(const struct gain *g, size_t row_bytes, size_t first, size_t have, size_t most, uint64_t now)
{
    const struct gain_size *sizes = g->width[width_of(row_bytes)];
    size_t alone = size_of(first), largest = size_of(most);
    if (have >= most)
        return have;
    if (!sizes)
        return most;
    for (size_t s = largest; s > size_of(have); s--)
        if (wanted(&sizes[s], now) && sizes[s].waited <= now)
            return rows_of(s, have, size_of(have), most);
    if (!known(&sizes[alone]))
        return have;
    size_t rows = rows_of(best(sizes, alone, largest), first, alone, most);
    return rows > have ? rows : have;
}

void gain_waited(struct gain *g, size_t row_bytes, size_t rows, uint64_t now)
{
    struct gain_size *sizes = sizes_of(g, row_bytes);
    for (size_t s = size_of(rows) + 1; s < GAIN_SIZES; s++)
        sizes[s].waited = now + WAIT_NS;
}

void gain_missed(struct gain *g, size_t row_bytes, size_t rows, size_t most, uint64_t now)
{
    if (size_of(rows) < size_of(most))
        sizes_of(g, row_bytes)[size_of(most)].due = now + AGAIN_NS;
}

void gain_figures(const struct gain *g, size_t most, struct gain_figures *ret)
{
    const struct gain_size *sizes = g->width[g->last];
    *ret = (struct gain_figures){.rows = most};
    if (!sizes)
        return;
    for (size_t s = 0; s < GAIN_SIZES; s++)
        if (known(&sizes[s]))
            ret->ns[s] = sizes[s].ns;
    size_t alone = 0; /* as requests come: the least rows that were run */
    while (alone < size_of(most) && !sizes[alone].n)
        alone++;
    if (known(&sizes[alone]))
        ret->rows = rows_of(best(sizes, alone, size_of(most)), 1, alone, most);
}

void gain_release(struct gain *g)
{
    for (size_t w = 0; w < GAIN_WIDTHS; w++)
        free(g->width[w]);
}
