#include "series/bits.h"

static void put_word(struct buf *out, uint64_t v, unsigned bytes)
{
    unsigned char text[8];
    for (unsigned i = 0; i < bytes; i++)
        text[i] = (unsigned char)(v >> (56 - 8 * i));
    buf_add(out, text, bytes);
}

void bits_put(struct bits_out *b, uint64_t v, unsigned count)
{
    unsigned room = 64 - b->n;
    v <<= 64 - count;
    b->held |= v >> b->n;
    if (count < room) {
        b->n += count;
        return;
    }
    put_word(b->out, b->held, 8);
    b->held = count == room ? 0 : v << room;
    b->n = count - room;
}

void bits_end(struct bits_out *b)
{
    put_word(b->out, b->held, (b->n + 7) / 8);
    b->held = 0;
    b->n = 0;
}

static void fill(struct bits_in *b)
{
    while (b->n <= 56 && b->p < b->end) {
        b->held |= (uint64_t)*b->p++ << (56 - b->n);
        b->n += 8;
    }
}

uint64_t bits_get(struct bits_in *b, unsigned count)
{
    if (count > 32) {
        uint64_t upper = bits_get(b, count - 32);
        return upper << 32 | bits_get(b, 32);
    }
    if (b->n < count)
        fill(b);
    if (b->n < count) {
        b->past = true;
        return 0;
    }
    uint64_t v = b->held >> (64 - count);
    b->held <<= count;
    b->n -= count;
    return v;
}

bool bits_done(const struct bits_in *b)
{
    return !b->past && b->p == b->end && b->n < 8 && b->held == 0;
}
