/* May this caller see, annotate or judge samples? The one place that decides it: every route of samples asks
 * here, on whatever way it came. They find the version without the right to read it, since who labels
 * samples need not see datasets. */
#ifndef INGOT_CORE_DATA_SAMPLE_ACCESS_H
#define INGOT_CORE_DATA_SAMPLE_ACCESS_H

#include "core/engine.h"

enum sample_right {
    SAMPLE_SEE,      /* the sample, its bytes, its history */
    SAMPLE_ANNOTATE, /* change its annotation */
    SAMPLE_JUDGE,    /* accept or reject what others annotated */
};

/* sample 0: all of the version. ERR_FORBIDDEN, or ERR_NOT_FOUND where the version's existence is a secret.
 * Reads, outside of writes; whoever may annotate or judge may see. */
bool sample_may(struct core *core, const struct caller *c, const struct object *version, int64_t sample,
                enum sample_right r, struct arena *a, struct err *err);
/* The version of that dataset, when sample_may allows it. */
bool sample_version(struct core *core, const struct caller *c, int64_t dataset, int64_t version,
                    int64_t sample, enum sample_right r, struct arena *a, struct object *ret,
                    struct err *err);

#endif
