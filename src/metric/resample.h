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

/* values: the figures of the samples as they are. ret: one interval per figure, NAN without draws. ret_draws:
 * what each draw gave, draws times figures, NAN for what it could not say; NULL: nobody asks. As many samples
 * are always drawn alike, so that two who have the same samples can be compared draw by draw. */
void resample(struct arena *a, size_t samples, uint32_t draws, const double *values, size_t figures,
              resample_fn fn, void *ctx, struct resample_interval *ret, double *ret_draws);
/* The interval of what so many draws gave; draws that are NAN do not count. It holds the value. */
struct resample_interval resample_middle(struct arena *a, double value, const double *draws, size_t count);

#endif
