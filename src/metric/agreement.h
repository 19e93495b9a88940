/* How often two models say the same of the same samples, whatever is true: labels alike, the same text, every
 * shape of one met by a shape of the other as the figures of the type match them (metric/evaluate.h). */
#ifndef INGOT_METRIC_AGREEMENT_H
#define INGOT_METRIC_AGREEMENT_H

#include "codec/annotation.h"

struct agreement;

/* From which score on what each of them found counts. NULL with ERR_INVALID for types without figures. */
struct agreement *agreement_new(enum annotation_type type, double score, double other_score, struct err *err);
void agreement_free(struct agreement *g);

/* What both found on one sample, as JSON, and its size where that is known. ERR_INVALID: one is no annotation
 * of the type. */
bool agreement_add(struct agreement *g, struct str found, struct str other, uint32_t w, uint32_t h,
                   struct err *err);

struct agreement_counts {
    uint64_t samples, agree;
    double low, high; /* where the part that agrees would be in 95 of 100 draws of such samples (Wilson) */
};
struct agreement_counts agreement_counts(const struct agreement *g);

#endif
