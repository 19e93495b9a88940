/* Points over time in few bits. A point is a time, a value, and maybe a step (a training's count of its own
 * work). A chunk is a run of points in the order they came, without loss: times and whole steps as the change
 * of their distance (one bit where it stays the same), values and other steps as what differs in their bits
 * from the one before. Its head has what a query can use without the points.
 *
 *   byte 0       format (1) and how steps are kept
 *   varints      number of points, bytes that follow the head
 *   5 x 8 bytes  least and greatest time, least, greatest and sum of the values, little-endian
 *   bits         the points, the first as it is
 *
 * Chunks may stand one behind the other: each knows its end. Broken bytes are an error or other points, never
 * more than SERIES_CHUNK_POINTS of a chunk. Pure functions. */
#ifndef INGOT_SERIES_CHUNK_H
#define INGOT_SERIES_CHUNK_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#define SERIES_CHUNK_POINTS 65536 /* of one chunk, at most */

struct series_point {
    int64_t at;   /* microseconds */
    double step;  /* NaN: none */
    double value; /* any, but NaN is no part of least, greatest and sum */
};

/* What the head says. The three of values are NaN when every value is. */
struct series_head {
    size_t n;            /* points, at least 1 */
    int64_t first, last; /* least and greatest time */
    double low, high, sum;
    size_t size; /* bytes of the whole chunk */
};

/* Appends the chunk of 1 to SERIES_CHUNK_POINTS points. */
void series_encode(const struct series_point *p, size_t n, struct buf *out);
/* The head of the chunk that `data` begins with; its bytes may be followed by others. */
bool series_head(struct str data, struct series_head *ret, struct err *err);
/* Its points, as many as the head says, into ret (room for so many). */
bool series_decode(struct str data, struct series_point *ret, struct err *err);
/* All points of the chunks that stand in `data`, one behind the other. */
bool series_decode_all(struct arena *a, struct str data, struct series_point **ret, size_t *ret_n,
                       struct err *err);
/* One chunk of all of them, if they are not too many (ERR_TOO_LARGE). */
bool series_merge(struct arena *a, struct str data, struct buf *out, struct err *err);

#endif
