/* How good found annotations are: sample by sample against the truth, then a report with the figures of the
 * annotation type, their intervals and every label's own. Which figures a type has is a table of families in
 * evaluate.c. */
#ifndef INGOT_METRIC_EVALUATE_H
#define INGOT_METRIC_EVALUATE_H

#include "base/json.h"
#include "codec/annotation.h"

struct evaluate;

/* NULL with ERR_INVALID for types that have no figures: rotated-detection and text-spans. */
struct evaluate *evaluate_new(enum annotation_type type, struct err *err);
void evaluate_free(struct evaluate *e);

/* One sample: both annotations as JSON, checked against the type; the picture's size where it is known. A
 * sample whose truth is empty is one without objects for shapes; where labels or a text are wanted it is left
 * out and counted. */
bool evaluate_add(struct evaluate *e, struct str truth, struct str found, uint32_t w, uint32_t h,
                  struct err *err);

/* draws: for the intervals (resample.h); 0: none.
 * {"type", "samples", "left_out", "figures": [{"name", "value", "low", "high"}], "labels": [...], ...}:
 * docs/evaluation.md */
void evaluate_report(struct evaluate *e, uint32_t draws, struct json_out *o);

#endif
