/* What is counted of a model: requests by outcome, and how long each stage took. Any thread adds. All zero is
 * a good beginning. */
#ifndef INGOT_INFER_FIGURES_H
#define INGOT_INFER_FIGURES_H

#include "base/metric.h"

enum stage { STAGE_QUEUE, STAGE_PREPARE, STAGE_RUN, STAGE_READ, STAGE_COUNT };
extern const char *const stage_names[STAGE_COUNT];

#define FIGURES_BOUNDS 16

struct figures {
    metric_number count[2], ns[2]; /* failed, succeeded; of whole requests */
    metric_number refused;         /* failed because the queue was full */
    metric_number stage_ns[STAGE_COUNT];
    metric_number bucket[STAGE_COUNT][FIGURES_BOUNDS + 1];
    metric_number last_ms; /* wall time of the last request */
};

void figures_add(struct figures *f, bool ok, uint64_t whole_ns, const uint64_t stages[STAGE_COUNT]);
/* The lines of one stage's histogram. */
void figures_write_stage(struct buf *out, const char *name, const char *const *labels,
                         const struct figures *f, enum stage s);

#endif
