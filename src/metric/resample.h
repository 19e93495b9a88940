/* How sure a figure is: the samples are drawn anew with replacement many times, the figure is worked out from
 * each draw, and the middle 95 % of what came out is its interval. The same samples give the same draws. */
#ifndef INGOT_METRIC_RESAMPLE_H
#define INGOT_METRIC_RESAMPLE_H

#include "base/arena.h"

#define RESAMPLE_DRAWS     200 /* where nobody says another number */
#define RESAMPLE_MAX_DRAWS 10000

struct resample_interval {
    double low, high; /* NAN when no draw gave the figure */
};

/* fn works out `figures` numbers from samples that count weight[i] times each; NAN for what cannot be said.
 */
typedef void (*resample_fn)(void *ctx, const uint32_t *weight, double *ret_figures);

/* values: the figures of the samples as they are. ret: one interval per figure, NAN without draws. */
void resample(struct arena *a, size_t samples, uint32_t draws, const double *values, size_t figures,
              resample_fn fn, void *ctx, struct resample_interval *ret);

#endif
