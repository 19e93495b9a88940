/* Figures of the running program, for GET /metrics (core/metrics.h). Counting is cheap enough for every
 * request: each thread adds to one of a few shards, without a lock; the reader sums them. All zero is a good
 * beginning. */
#ifndef INGOT_BASE_METRIC_H
#define INGOT_BASE_METRIC_H

#include "base/buf.h"

#include <stdatomic.h>

#define METRIC_SHARDS 8
/* The calling thread's shard: below METRIC_SHARDS, always the same. */
unsigned metric_shard(void);

typedef atomic_uint_least64_t metric_number;
static inline void metric_add(metric_number *n, uint64_t by)
{
    atomic_fetch_add_explicit(n, by, memory_order_relaxed);
}
static inline uint64_t metric_read(const metric_number *n)
{
    return atomic_load_explicit(n, memory_order_relaxed);
}

/* How long something took: a histogram. */
#define METRIC_BOUNDS 14
extern const struct metric_bound {
    uint64_t us;
    const char *text; /* in seconds */
} metric_bounds[METRIC_BOUNDS];

struct metric_times {
    struct {
        metric_number bucket[METRIC_BOUNDS + 1]; /* the last: longer than all bounds */
        metric_number sum_us;
    } shard[METRIC_SHARDS];
};
void metric_took(struct metric_times *m, uint64_t us);

/* --- as OpenMetrics text --- */

/* The head of a family. unit: "seconds", "bytes", or NULL; type: "counter", "gauge", "histogram". */
void metric_family(struct buf *out, const char *name, const char *type, const char *unit, const char *help);
/* One of its values; suffix "", or "_total" of counters. labels: name, value, ... NULL. */
void metric_value(struct buf *out, const char *name, const char *suffix, const char *const *labels, double v);
void metric_times_write(struct buf *out, const char *name, const char *const *labels,
                        const struct metric_times *m);

#endif
