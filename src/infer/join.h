/* Rows of several requests as one, for the batcher: whether two can share a run, their inputs joined, and the
 * run's outputs cut again. Requests are linked by `next`. */
#ifndef INGOT_INFER_JOIN_H
#define INGOT_INFER_JOIN_H

#include "infer/batcher.h"

/* The first dimension, when all inputs have the same; else 1: it is run by itself. */
size_t join_rows(const struct batcher_job *job);
size_t join_row_bytes(const struct batcher_job *job);
/* Whether b can be run with a: same inputs in the same order, same types, same dimensions but the first, same
 * outputs. */
bool join_fits(const struct batcher_job *a, const struct batcher_job *b);
struct tensor *join_inputs(struct arena *a, const struct batcher_job *first, size_t *ret_rows);
/* Gives each request its rows, in its own arena. false when an output has not so many rows: nothing is given.
 */
bool join_outputs(struct batcher_job *first, const struct tensor *out, size_t rows);

#endif
