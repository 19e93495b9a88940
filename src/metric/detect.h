/* Found shapes against true ones as COCO counts them: mAP and mAR over ten overlaps, four sizes of objects
 * and three numbers of shapes per picture, for boxes, masks and keypoints. Equal to pycocotools. Samples are
 * added one by one and matched at once; of each found shape only its score and two words of bits stay. */
#ifndef INGOT_METRIC_DETECT_H
#define INGOT_METRIC_DETECT_H

#include "codec/model.h"

enum detect_by { DETECT_BOXES, DETECT_MASKS, DETECT_KEYPOINTS };

enum detect_size { DETECT_ALL, DETECT_SMALL, DETECT_MEDIUM, DETECT_LARGE, DETECT_SIZES };
#define DETECT_LEVELS 10  /* overlaps .50, .55 ... .95 */
#define DETECT_MOST   100 /* found shapes of a label on one picture that count, those of the highest scores */

/* A figure: the precision averaged over recalls, or the greatest recall. */
struct detect_row {
    const char *name; /* "mAP", "mAP50", "mAR100_small", ... */
    bool recall;
    int level; /* index of the overlap; -1: mean of all */
    enum detect_size size;
    uint32_t most;
};
/* Those of COCO's summary, in its order. */
const struct detect_row *detect_rows(enum detect_by by, size_t *ret_count);

struct detect;
struct detect *detect_new(enum detect_by by);
void detect_free(struct detect *d);

/* One sample; w and h are the picture's size, needed where polygons become masks. A found shape without a
 * score has 1. */
bool detect_add(struct detect *d, const struct annotation *truth, const struct annotation *found, uint32_t w,
                uint32_t h, struct err *err);

/* What became of a found shape at overlap .50, in the order of the annotation. */
#define DETECT_NO_TRUTH UINT32_MAX
struct detect_pair {
    uint32_t
        truth; /* the true shape that it met, or else the one that it most overlaps by half, of any label */
    bool hit;  /* it met one of its label that counts */
    bool ignored; /* it counts neither way: it met a crowd, or is beyond the first DETECT_MOST */
};
/* The same, and tells of each found shape (found->shape_count of them). */
bool detect_add_pairs(struct detect *d, const struct annotation *truth, const struct annotation *found,
                      uint32_t w, uint32_t h, struct detect_pair *ret, struct err *err);
/* Of a true shape; DETECT_ALL for one that need not be found. */
enum detect_size detect_size_of(enum detect_by by, const struct shape *s, uint32_t w, uint32_t h);

size_t detect_samples(const struct detect *d);
/* Labels in the order of first use. */
size_t detect_labels(const struct detect *d);
struct str detect_label(const struct detect *d, size_t label);
uint64_t detect_truths(const struct detect *d, size_t label); /* crowds are not counted */

/* The rows' figures of one label, or their means over all (DETECT_EVERY); NAN where there is nothing true to
 * find. weight: how often each sample counts; NULL: once. Not from two threads at once. */
#define DETECT_EVERY    SIZE_MAX
#define DETECT_MAX_ROWS 12
void detect_figures(struct detect *d, size_t label, const uint32_t *weight, double *ret);

/* What happens when only shapes of at least a score count, at overlap .50: hits, mistakes, and what of the
 * truth was missed. */
struct detect_counts {
    uint64_t hits, mistakes, missed;
};
struct detect_counts detect_at(struct detect *d, size_t label, double score);
/* The score at which F1 of all labels together is best. */
double detect_best_score(struct detect *d);

#endif
