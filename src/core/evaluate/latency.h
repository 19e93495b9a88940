/* How long a model took for a sample, as its own `predict` measured it, and on what. */
#ifndef INGOT_CORE_EVALUATE_LATENCY_H
#define INGOT_CORE_EVALUATE_LATENCY_H

#include "core/evaluate/found.h"
#include "core/kind.h"

struct latency {
    int64_t *us;
    size_t n, cap;
};
void latency_add(struct latency *l, int64_t us);
void latency_release(struct latency *l);
/* {"p50","p95" (milliseconds),"samples","at_a_time","processor","node","cpus"} in the arena, or STR_NULL when
 * nothing was measured. job: the one that asked the model; when it is gone nobody knows its node. */
bool latency_write(struct latency *l, const struct found *f, struct op *op, int64_t job, struct str *ret,
                   struct err *err);

#endif
