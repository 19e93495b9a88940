/* COCO's run-length masks. A mask of h x w pixels is a list of run lengths down the columns, from the top
 * left corner, beginning with the length of the background (possibly 0). The compressed text writes each
 * length, from the third on as its difference to the one two before, in groups of 5 bits plus 48, lowest
 * first; bit 5 says that more follow. */
#ifndef INGOT_CODEC_RLE_H
#define INGOT_CODEC_RLE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* Run lengths of a compressed text; false (reason in *ret_why) when it is damaged or not h*w pixels. Runs of
 * 0 inside are merged, so that equal masks have equal runs. */
bool rle_decode(struct arena *a, struct str text, uint32_t h, uint32_t w, uint32_t **ret_runs,
                size_t *ret_count, const char **ret_why);
/* The same rules for lengths that are already numbers; changes them in place. */
bool rle_normalise(uint32_t *runs, size_t *count, uint32_t h, uint32_t w, const char **ret_why);
struct str rle_encode(struct arena *a, const uint32_t *runs, size_t count);

/* Number of pixels set, and the box round them (x, y, w, h; zeros when there are none). */
uint64_t rle_area(const uint32_t *runs, size_t count);
void rle_box(const uint32_t *runs, size_t count, uint32_t h, double ret_box[4]);

/* One bit per pixel, down the columns; freed by the caller. */
uint8_t *rle_bits(const uint32_t *runs, size_t count, uint32_t h, uint32_t w);
static inline bool rle_bit(const uint8_t *bits, uint64_t i)
{
    return bits[i >> 3] >> (i & 7) & 1;
}

/* Builds runs pixel by pixel or span by span. */
struct rle_builder {
    struct arena *a;
    uint32_t *runs;
    size_t count, cap;
    bool value; /* of the last run */
};
void rle_builder_init(struct rle_builder *b, struct arena *a);
void rle_builder_add(struct rle_builder *b, bool value, uint64_t n);

#endif
