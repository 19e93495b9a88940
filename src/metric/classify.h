/* Found labels against true ones, of samples that have one label or several: accuracy, precision, recall and
 * F1 per label and as their mean, which label is taken for which, areas under the ROC curve, calibration. */
#ifndef INGOT_METRIC_CLASSIFY_H
#define INGOT_METRIC_CLASSIFY_H

#include "codec/model.h"

struct classify;
/* single: of a sample's found labels only the one of the highest score counts. */
struct classify *classify_new(bool single);
void classify_free(struct classify *c);
/* Found labels below the score do not count, but for the area under the curve. Before the first sample. */
void classify_set_least(struct classify *c, double score);

/* One sample. A found label without a score has 1. */
void classify_add(struct classify *c, const struct annotation *truth, const struct annotation *found);

size_t classify_samples(const struct classify *c);
size_t classify_labels(const struct classify *c); /* in the order of first use */
struct str classify_label(const struct classify *c, size_t label);

/* The figures of all labels together; NAN for what cannot be said. CALIBRATION is the expected difference
 * between a score and how often it is right; it is known of single labels only. */
enum classify_figure {
    CLASSIFY_ACCURACY,  /* samples whose labels are all right and complete */
    CLASSIFY_PRECISION, /* these three: mean of the labels that occur in the truth */
    CLASSIFY_RECALL,
    CLASSIFY_F1,
    CLASSIFY_F1_MICRO, /* of all decisions together */
    CLASSIFY_CALIBRATION,
    CLASSIFY_FIGURES,
};
extern const char *const classify_figure_names[];
/* weight: how often each sample counts; NULL: once. */
void classify_figures(struct classify *c, const uint32_t *weight, double ret[CLASSIFY_FIGURES]);

struct classify_counts {
    uint64_t hits, mistakes, missed;
};
struct classify_counts classify_counts_of(struct classify *c, size_t label);
/* Area under the ROC curve of one label against all others; NAN without both kinds of samples. A label that
 * a sample was not given has score 0 there. */
double classify_area(struct classify *c, size_t label);

/* Of single labels: how often `truth` was taken for `found`; found = classify_labels() stands for none. */
uint64_t classify_taken(const struct classify *c, size_t truth, size_t found);

#endif
