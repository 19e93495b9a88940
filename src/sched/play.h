/* Playing the queue forward: pass after pass at the times when running jobs are expected to end. Inside of
 * the layer only. */
#ifndef INGOT_SCHED_PLAY_H
#define INGOT_SCHED_PLAY_H

#include "sched/pass.h"

/* From the state after the pass: starts[i] becomes the likely start of waiting job i for the first n_jobs of
 * p->order that can run; others stay 0. Ends early when job `only` has started (SCHED_NONE: when all have).
 */
void play_forward(const struct pass *p, int32_t n_jobs, int32_t only, int64_t *starts);

/* Fills the estimates that the snapshot's options ask for. */
void play_estimates(struct pass *p);

#endif
