/* Shared by detect.c, which matches, and detect_figures.c, which counts. */
#ifndef INGOT_METRIC_DETECT_OWN_H
#define INGOT_METRIC_DETECT_OWN_H

#include "base/map.h"
#include "metric/detect.h"

/* A found shape, matched: bit size * DETECT_LEVELS + level. */
struct detect_found {
    double score;
    uint64_t hit;     /* it met a truth that counts */
    uint64_t ignored; /* it neither counts for nor against */
    uint32_t sample;
    uint32_t rank; /* among those of its label on the sample, by score */
};

/* How many truths of a label a sample has, by size. */
struct detect_truth {
    uint32_t sample;
    uint32_t count[DETECT_SIZES];
};

struct detect_class {
    struct str label;
    struct detect_found *found;
    size_t found_count, found_cap;
    struct detect_truth *truth;
    size_t truth_count, truth_cap;
    bool sorted; /* found: by score, of equal ones the earlier first */
};

struct detect {
    enum detect_by by;
    struct arena arena; /* labels */
    struct map *numbers;
    struct detect_class *classes;
    size_t class_count, class_cap;
    size_t samples;
    double *curve; /* precision and recall, while a figure is worked out */
    size_t curve_cap;
};

static inline uint64_t detect_bit(enum detect_size size, int level)
{
    return (uint64_t)1 << ((int)size * DETECT_LEVELS + level);
}

#endif
