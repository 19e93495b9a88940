/* Samples that an import found but did not put yet, in a file without a name: an import that fails or is
 * cancelled while it reads its sources leaves the version as it was, however large it is. */
#ifndef INGOT_CORE_DATA_SPOOL_H
#define INGOT_CORE_DATA_SPOOL_H

#include "core/core.h"
#include "core/data/sample.h"

struct spool;
struct spool *spool_new(struct core *core, struct err *err);
void spool_free(struct spool *s); /* NULL allowed */

/* annotations: how many are in its annotation. */
bool spool_sample(struct spool *s, const struct sample_new *n, uint32_t annotations, struct err *err);
/* An annotation whose sample has not come yet. */
bool spool_waiting(struct spool *s, const struct sample_waiting *w, struct err *err);

/* From writing to reading, once. */
bool spool_rewind(struct spool *s, struct err *err);
struct spool_item {
    bool waits; /* which of the two it is */
    struct sample_new sample;
    uint32_t annotations;
    struct sample_waiting waiting;
};
/* In the order of writing; texts are in the arena. *done when there are no more. */
bool spool_next(struct spool *s, struct arena *a, struct spool_item *ret, bool *done, struct err *err);

#endif
