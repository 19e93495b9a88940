/* Bits one behind the other, the most significant first. */
#ifndef INGOT_SERIES_BITS_H
#define INGOT_SERIES_BITS_H

#include "base/buf.h"

struct bits_out {
    struct buf *out;
    uint64_t held; /* the upper `n` bits wait for a whole word */
    unsigned n;
};
/* The lower `count` bits of v, 1 to 64. */
void bits_put(struct bits_out *b, uint64_t v, unsigned count);
void bits_end(struct bits_out *b); /* fills the last byte with zeros */

struct bits_in {
    const unsigned char *p, *end;
    uint64_t held;
    unsigned n;
    bool past; /* more was asked for than there is; what came then is zeros */
};
/* Holds at least 56 bits, or all that are left. */
static inline void bits_fill(struct bits_in *b)
{
    if (b->end - b->p >= 8) { /* what is added beyond the whole bytes that count is added again, the same */
        uint64_t word;
        memcpy(&word, b->p, 8);
        b->held |= __builtin_bswap64(word) >> b->n;
        b->p += (63 - b->n) >> 3;
        b->n |= 56;
        return;
    }
    while (b->n < 56 && b->p < b->end) {
        b->held |= (uint64_t)*b->p++ << (56 - b->n);
        b->n += 8;
    }
}

static inline void bits_skip(struct bits_in *b, unsigned count) /* of those that are held, below 64 */
{
    b->held <<= count;
    b->n -= count;
}

/* 1 to 32. */
static inline uint64_t bits_get_few(struct bits_in *b, unsigned count)
{
    if (b->n < count)
        bits_fill(b);
    if (b->n < count) {
        b->past = true;
        return 0;
    }
    uint64_t v = b->held >> (64 - count);
    bits_skip(b, count);
    return v;
}

/* 1 to 64. */
static inline uint64_t bits_get(struct bits_in *b, unsigned count)
{
    if (count <= 32)
        return bits_get_few(b, count);
    uint64_t upper = bits_get_few(b, count - 32);
    return upper << 32 | bits_get_few(b, 32);
}

/* How many ones stand before the next zero, up to `most` (below 32); they and the zero are taken. */
static inline unsigned bits_ones(struct bits_in *b, unsigned most)
{
    if (b->n <= most)
        bits_fill(b);
    unsigned ones = ~b->held ? (unsigned)__builtin_clzll(~b->held) : 64;
    unsigned take = ones < most ? ones + 1 : most;
    if (take > b->n) {
        b->past = true;
        return most;
    }
    bits_skip(b, take);
    return ones < most ? ones : most;
}
/* Nothing is left but the zeros of bits_end. */
bool bits_done(const struct bits_in *b);

#endif
