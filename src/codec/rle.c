#include "codec/rle.h"

/* Takes the next length from the text; false at a damaged one. */
static bool next_run(struct str text, size_t *at, int64_t *ret)
{
    int64_t x = 0;
    for (int shift = 0; *at < text.n; shift += 5) {
        int c = (unsigned char)text.p[(*at)++] - 48;
        if (c < 0 || c > 63 || shift > 35)
            return false;
        x |= (int64_t)(c & 0x1f) << shift;
        if (c & 0x20)
            continue;
        if (c & 0x10)
            x -= INT64_C(1) << (shift + 5);
        *ret = x;
        return true;
    }
    return false;
}

bool rle_normalise(uint32_t *runs, size_t *count, uint32_t h, uint32_t w, const char **ret_why)
{
    uint64_t sum = 0, pixels = (uint64_t)h * w;
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        sum += runs[i];
        /* A run of 0 joins its neighbours; the first may be 0. */
        if (kept && (kept & 1) != (i & 1))
            runs[kept - 1] += runs[i];
        else if (runs[i] || kept == 0)
            runs[kept++] = runs[i];
    }
    if (sum != pixels) {
        *ret_why = "its runs do not add up to the pixels of its size";
        return false;
    }
    *count = kept;
    return true;
}

bool rle_decode(struct arena *a, struct str text, uint32_t h, uint32_t w, uint32_t **ret_runs,
                size_t *ret_count, const char **ret_why)
{
    uint32_t *runs = arena_array(a, uint32_t, text.n + 1);
    size_t count = 0;
    for (size_t at = 0; at < text.n; count++) {
        int64_t x;
        if (!next_run(text, &at, &x)) {
            *ret_why = "its run lengths are damaged";
            return false;
        }
        if (count > 2)
            x += runs[count - 2];
        if (x < 0 || x > UINT32_MAX) {
            *ret_why = "a run length is negative or too large";
            return false;
        }
        runs[count] = (uint32_t)x;
    }
    if (!rle_normalise(runs, &count, h, w, ret_why))
        return false;
    *ret_runs = runs;
    *ret_count = count;
    return true;
}

struct str rle_encode(struct arena *a, const uint32_t *runs, size_t count)
{
    char *p = arena_alloc(a, count * 7 + 1);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t x = (int64_t)runs[i] - (i > 2 ? runs[i - 2] : 0);
        for (bool more = true; more;) {
            int c = (int)(x & 0x1f);
            x >>= 5;
            more = c & 0x10 ? x != -1 : x != 0;
            p[n++] = (char)((more ? c | 0x20 : c) + 48);
        }
    }
    p[n] = 0;
    return (struct str){p, n};
}

uint64_t rle_area(const uint32_t *runs, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 1; i < count; i += 2)
        sum += runs[i];
    return sum;
}

void rle_box(const uint32_t *runs, size_t count, uint32_t h, double ret_box[4])
{
    uint64_t at = 0, left = UINT64_MAX, right = 0, top = UINT64_MAX, bottom = 0;
    for (size_t i = 0; i < count && h; at += runs[i++]) {
        if (!(i & 1) || !runs[i])
            continue;
        uint64_t last = at + runs[i] - 1, x0 = at / h, x1 = last / h;
        uint64_t y0 = x0 == x1 ? at % h : 0, y1 = x0 == x1 ? last % h : h - 1;
        left = x0 < left ? x0 : left;
        right = x1 > right ? x1 : right;
        top = y0 < top ? y0 : top;
        bottom = y1 > bottom ? y1 : bottom;
    }
    bool none = left == UINT64_MAX;
    ret_box[0] = none ? 0 : (double)left;
    ret_box[1] = none ? 0 : (double)top;
    ret_box[2] = none ? 0 : (double)(right - left + 1);
    ret_box[3] = none ? 0 : (double)(bottom - top + 1);
}

uint8_t *rle_bits(const uint32_t *runs, size_t count, uint32_t h, uint32_t w)
{
    uint8_t *bits = base_zalloc((uint64_t)h * w / 8 + 1);
    uint64_t at = 0;
    for (size_t i = 0; i < count; at += runs[i++])
        for (uint64_t k = at; (i & 1) && k < at + runs[i]; k++)
            bits[k >> 3] |= (uint8_t)(1 << (k & 7));
    return bits;
}

void rle_builder_init(struct rle_builder *b, struct arena *a)
{
    *b = (struct rle_builder){.a = a, .cap = 64};
    b->runs = arena_array(a, uint32_t, b->cap);
    b->count = 1;
}

void rle_builder_add(struct rle_builder *b, bool value, uint64_t n)
{
    if (!n)
        return;
    if (value != b->value) {
        if (b->count == b->cap) {
            b->runs = arena_grow(b->a, b->runs, b->cap * sizeof *b->runs, b->cap * 2 * sizeof *b->runs);
            b->cap *= 2;
        }
        b->runs[b->count++] = 0;
        b->value = value;
    }
    b->runs[b->count - 1] += (uint32_t)n;
}
