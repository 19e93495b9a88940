/* How alike two shapes are, 0 to 1, as COCO counts it: boxes and masks by the area they share, keypoints by
 * the distances of their points. Numbers are worked out in the order that pycocotools has, so that both agree
 * to the last bits. */
#ifndef INGOT_METRIC_OVERLAP_H
#define INGOT_METRIC_OVERLAP_H

#include "codec/model.h"

/* A mask's runs, its area and the box round it. */
struct overlap_mask {
    uint32_t *runs;
    size_t count;
    uint64_t area;
    double box[4];
};

/* The shape as a mask of a picture of w x h pixels: polygons are filled, boxes too. ERR_INVALID when its size
 * is not known or another; one that covers no pixel has no runs set. */
bool overlap_mask_of(struct arena *a, const struct shape *s, uint32_t w, uint32_t h, struct overlap_mask *ret,
                     struct err *err);

/* Pixels that both have. */
uint64_t overlap_shared(const struct overlap_mask *x, const struct overlap_mask *y);

/* All the pixels of several masks of one picture. */
struct overlap_mask overlap_joined(struct arena *a, const struct overlap_mask *masks, size_t count,
                                   uint32_t h);

/* crowd: the truth is many objects at once, and what lies inside of it is counted alone. */
double overlap_boxes(const double found[4], const double truth[4], bool crowd);
double overlap_masks(const struct overlap_mask *found, const struct overlap_mask *truth, bool crowd);

/* OKS of keypoints. spread: per point, how far apart people set it; see overlap_spread. */
double overlap_keypoints(const struct shape *found, const struct shape *truth, const double *spread);
/* COCO's for its 17 points of a person, for other skeletons the same value for every point. */
const double *overlap_spread(struct arena *a, uint32_t points);

#endif
