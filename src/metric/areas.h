/* Semantic segmentation: of each label, the pixels that truth and found share over those that either has,
 * summed over all samples; mIoU is the mean of the labels. */
#ifndef INGOT_METRIC_AREAS_H
#define INGOT_METRIC_AREAS_H

#include "codec/model.h"

struct areas;
struct areas *areas_new(void);
void areas_free(struct areas *s);

/* One sample, a picture of w x h pixels; shapes of one label are taken together. */
bool areas_add(struct areas *s, const struct annotation *truth, const struct annotation *found, uint32_t w,
               uint32_t h, struct err *err);
/* Of one label by name, NAN when neither side has it; weight as of detect_figures. */
double areas_share(const struct areas *s, struct str label, const uint32_t *weight);
double areas_mean(const struct areas *s, const uint32_t *weight);

#endif
