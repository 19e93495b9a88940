/* Curves of a label over all thresholds: precision over recall, the receiver's operating characteristic, and
 * how far scores can be believed. */
#ifndef INGOT_METRIC_CURVES_H
#define INGOT_METRIC_CURVES_H

#include "metric/matches.h"

#define CURVES_POINTS 200 /* of a curve that is told */
#define CURVES_BINS   15

struct curve_point {
    double x, y, score;
};
struct curve {
    struct curve_point *points;
    size_t count;
};

/* x is the recall, y the precision, from the highest score down; of equal scores one point. label SIZE_MAX:
 * of all labels together. */
struct curve curve_precision(const struct matches *m, size_t label, struct arena *a);
/* x: of the samples without the label, the share that is given it; y: of those with it. A sample that was not
 * given the label has score 0. Of types that label whole samples; begins at 0, 0 and ends at 1, 1. */
struct curve curve_roc(const struct matches *m, size_t label, struct arena *a);
/* The same with at most so many points: the first, the last, and those between that lie farthest from what
 * the others would draw. */
struct curve curve_thin(const struct curve *c, size_t most, struct arena *a);

struct curve_bin {
    uint64_t count, right;
    double promised; /* sum of the scores */
};
/* Found things by their score: how many there are, and how many hit. */
void curve_bins(const struct matches *m, struct curve_bin ret[CURVES_BINS]);

#endif
