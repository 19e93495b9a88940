/* How good found annotations are: sample by sample against the truth, then a report with the figures of the
 * annotation type, their intervals and every label's own. Which figures a type has is a table of families in
 * evaluate.c. */
#ifndef INGOT_METRIC_EVALUATE_H
#define INGOT_METRIC_EVALUATE_H

#include "base/json.h"
#include "codec/annotation.h"
#include "metric/matches.h"

struct evaluate;

/* NULL with ERR_INVALID for types that have no figures: rotated-detection and text-spans. */
struct evaluate *evaluate_new(enum annotation_type type, struct err *err);
void evaluate_free(struct evaluate *e);

/* One sample: both annotations as JSON, checked against the type; the picture's size where it is known. A
 * sample whose truth is empty is one without objects for shapes; where labels or a text are wanted it is left
 * out and counted. */
bool evaluate_add(struct evaluate *e, struct str truth, struct str found, uint32_t w, uint32_t h,
                  struct err *err);

/* From which score on found things count where things are counted; where nobody says it, all labels do, and
 * shapes from the score of the best F1. The figures of shapes look at all scores. Before the first sample. */
void evaluate_set_score(struct evaluate *e, double score);
double evaluate_score(struct evaluate *e);

/* The same with how the sample went, for evaluate_matches; ret_kept: false when it was left out. */
struct evaluate_sample {
    int64_t id;
    uint32_t split;
    struct str truth, found;
    uint32_t w, h;
};
bool evaluate_add_sample(struct evaluate *e, const struct evaluate_sample *s, bool *ret_kept,
                         struct err *err);
/* Those that evaluate_add_sample added; they go with e. */
struct matches *evaluate_matches(struct evaluate *e);

/* The figures: names (NULL behind the last), and values from samples that count weight[i] times each. */
const char *evaluate_figure(const struct evaluate *e, size_t i);
void evaluate_figures(struct evaluate *e, const uint32_t *weight, double *ret);
/* Those that one looks at first; and those of which less is better. */
bool evaluate_is_main(struct str figure);
bool evaluate_less_is_better(struct str figure);

/* draws: for the intervals (resample.h); 0: none.
 * {"type", "samples", "left_out", "figures": [{"name", "value", "low", "high"}], "labels": [...], ...}:
 * docs/evaluation.md */
void evaluate_report(struct evaluate *e, uint32_t draws, struct json_out *o);
/* Its members alone; what the draws gave is put down in the matches. */
void evaluate_members(struct evaluate *e, uint32_t draws, struct json_out *o);

#endif
