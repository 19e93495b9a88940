/* A family of figures: what evaluate.c needs of it. The types of one family share all of it. */
#ifndef INGOT_METRIC_FAMILY_H
#define INGOT_METRIC_FAMILY_H

#include "base/json.h"
#include "codec/model.h"
#include "metric/matches.h"

struct family {
    void *(*begin)(enum annotation_type type);
    void (*end)(void *state);
    /* keep: where what met what is told (a sample is begun there); NULL: nobody asks. */
    bool (*add)(void *state, const struct annotation *truth, const struct annotation *found, uint32_t w,
                uint32_t h, struct matches *keep, struct err *err);
    /* From which score on a found thing counts, before the first sample; NULL: it has no such. */
    void (*set_score)(void *state, double score);
    /* The score from which on things count in `more`; NULL: all do. */
    double (*score)(void *state);
    bool wants_truth; /* a sample with an empty truth says nothing */
    /* Name of the i-th figure, NULL behind the last. */
    const char *(*name)(const void *state, size_t i);
    /* All figures, from samples that count weight[i] times each; NULL: once. */
    void (*figures)(void *state, const uint32_t *weight, double *ret);
    /* Further members of the report. */
    void (*more)(void *state, struct json_out *o);
};

extern const struct family family_shapes, family_labels, family_texts;

/* Members of an object: a number as it is, null for NAN; how often, and precision, recall and F1 that follow.
 */
void family_real(struct json_out *o, const char *key, double v);
void family_counts(struct json_out *o, uint64_t hits, uint64_t mistakes, uint64_t missed);

#endif
