/* Exact resampling, the same wherever it runs; docs/models.md has the formula:
 * pixel i of n in the result lies at c = from + (i + 0.5) * span / n of the source, where pixel k covers
 * k..k+1. It is the mean of the source pixels weighted by filter((k + 0.5 - c) / s), s = max(1, span / n)
 * with antialias (area always) and 1 without; weights outside of the source are dropped, the rest sum to 1.
 * nearest is pixel floor(c). Rows first, then columns, in floats; bicubic (a = -0.5) is cut to 0..255. */
#ifndef INGOT_INFER_RESIZE_H
#define INGOT_INFER_RESIZE_H

#include "base/arena.h"
#include "model/manifest.h"

struct resize {
    enum model_resample filter;
    bool antialias;
    double from[2], span[2]; /* part of the source: x, y; width, height */
};

/* From rows of `channels` bytes to floats of out_w x out_h, which the caller has. */
void resize_bytes(struct arena *a, const uint8_t *in, uint32_t in_w, uint32_t in_h, uint32_t channels,
                  const struct resize *r, float *out, uint32_t out_w, uint32_t out_h);
/* The same from floats; nothing is cut. */
void resize_floats(struct arena *a, const float *in, uint32_t in_w, uint32_t in_h, uint32_t channels,
                   const struct resize *r, float *out, uint32_t out_w, uint32_t out_h);

#endif
