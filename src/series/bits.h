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
uint64_t bits_get(struct bits_in *b, unsigned count); /* 1 to 64 */
/* Nothing is left but the zeros of bits_end. */
bool bits_done(const struct bits_in *b);

#endif
