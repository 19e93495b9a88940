/* How each sample went: what is true on it, what was found, and which meets which. Kept beside a report, so
 * that other thresholds, the cells of a confusion and the worst samples are answered without evaluating
 * again.
 *
 * A found thing hits a true one of its label, or is a mistake. A mistake may have a true thing that it was
 * taken for: the one of another label that it most overlaps, the sample's own label. Hits at a threshold are
 * those of at least that score, as things of higher scores choose first. */
#ifndef INGOT_METRIC_MATCHES_H
#define INGOT_METRIC_MATCHES_H

#include "base/buf.h"
#include "base/map.h"
#include "codec/annotation.h"

#define MATCHES_NONE       UINT32_MAX
#define MATCHES_MAX_FOUND  ((size_t)50000000)
#define MATCHES_MAX_LABELS 100000
#define MATCHES_CELLS      1000 /* labels that cells are counted of; of more there are none */

struct matches_found {
    float score;
    uint32_t label;
    uint32_t truth; /* among the sample's; MATCHES_NONE */
    uint32_t place; /* in the found annotation, times 4; 1: a hit, 2: counts neither way */
};
#define MATCHES_HIT     1u
#define MATCHES_IGNORED 2u

struct matches_truth {
    uint32_t label;
    uint32_t size; /* detect_size; 0: not known, MATCHES_NONE: it need not be found */
};

struct matches_sample {
    int64_t id;
    uint64_t text_at; /* of its text beside the index: where and how many bytes */
    uint32_t text_bytes;
    uint32_t first_found, found_count;
    uint32_t first_truth, truth_count;
    uint32_t split;
    float errors, length; /* of texts: signs put in, left out or changed, of so many */
};

struct matches {
    enum annotation_type type;
    struct arena arena;
    struct map *numbers; /* of labels, while it is made */
    struct str *labels;
    size_t label_count, label_cap;
    struct matches_sample *samples;
    size_t sample_count, sample_cap;
    struct matches_found *found; /* of a sample by score, the highest first */
    size_t found_count, found_cap;
    struct matches_truth *truth;
    size_t truth_count, truth_cap;
    /* What the report's draws gave (resample.h), draws times figures. */
    struct str *figures;
    size_t figure_count;
    double *draws;
    size_t draw_count;
};

/* --- making --- */
struct matches *matches_new(enum annotation_type type);
void matches_free(struct matches *m);
/* A sample; what follows is of it, until matches_end (with false it was none after all). false when there are
 * too many. */
bool matches_begin(struct matches *m, int64_t id, uint32_t split, struct err *err);
void matches_truth(struct matches *m, struct str label, uint32_t size);
void matches_found(struct matches *m, struct str label, double score, uint32_t truth, uint32_t place,
                   unsigned flags);
void matches_errors(struct matches *m, double errors, double length);
void matches_end(struct matches *m, bool kept);

/* The index as bytes, and back: ERR_INVALID when it is damaged. The bytes must outlive what is read. */
void matches_write(const struct matches *m, struct buf *out);
bool matches_read(struct str bytes, struct matches **ret, struct err *err);

/* --- looking --- */
struct matches_counts {
    uint64_t hits, mistakes, missed;
};
struct matches_outcome {
    uint32_t hits, mistakes, missed;
    double badness; /* 0: all was right and certain */
};
/* labels: label_count of them, cells: (label_count + 1) squared, a row per true label and the last for none;
 * both are added to, NULL: not wanted. */
void matches_at(const struct matches *m, double score, struct matches_counts *labels, uint32_t *cells);
struct matches_outcome matches_outcome(const struct matches *m, size_t sample, double score);
/* Per detect_size, 1 to 3: how many are true, and how many of them were hit. */
void matches_sizes(const struct matches *m, double score, uint64_t ret_truths[4], uint64_t ret_hits[4]);

enum matches_order { MATCHES_WORST, MATCHES_BEST, MATCHES_BY_ID };
struct matches_query {
    double score;
    enum matches_order order;
    bool mistakes, missed; /* only samples that have one */
    bool right, wrong;     /* only samples that have none of either; that have one of either */
    bool cell;             /* only samples that count in this cell; label_count stands for none */
    size_t cell_truth, cell_found;
    size_t label; /* only samples that have it, true or found; SIZE_MAX: any */
};
/* Numbers of the samples, in the arena. */
size_t *matches_pick(const struct matches *m, const struct matches_query *q, struct arena *a, size_t *ret_n);
/* label_count for "-" (none), SIZE_MAX when there is no such label. */
size_t matches_label(const struct matches *m, struct str name);

#endif
