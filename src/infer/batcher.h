/* Puts requests to one graph together into runs. Knows no ONNX Runtime: what runs is the owner's function.
 *
 * A request that finds nothing waiting and an instance free is run by the thread that brings it, for a change
 * of threads costs more than a small graph's run; a loop thread does so only while runs are short, so that a
 * slow graph holds up nobody else's requests. Others wait in one queue, first come, first run. Each instance
 * has a thread: it takes the first request and those behind it that can share its run (same inputs, types and
 * dimensions but the first, same outputs), waits for more while the oldest is younger than the delay, joins
 * their rows, runs, and gives each its own rows back. It does so only while that gains throughput by the
 * times of the batcher's own runs (infer/gain.h); where it gains nothing each request is run by itself,
 * nobody waits for company, and now and then a run is shared to see whether that is still so. Each graph has
 * its own queue and threads: between models the kernel's scheduler is fair. */
#ifndef INGOT_INFER_BATCHER_H
#define INGOT_INFER_BATCHER_H

#include "base/arena.h"
#include "base/err.h"
#include "base/metric.h"
#include "infer/gain.h"
#include "infer/tensor.h"

#define BATCHER_MAX_ROWS 1024

struct batcher_options {
    unsigned instances;  /* runs at once */
    unsigned max_rows;   /* of a run, where sharing gains; 1: requests never share one */
    unsigned delay_us;   /* how long the first request waits for others */
    unsigned max_queue;  /* requests that may wait */
    unsigned timeout_ms; /* a request that waited longer is not run; 0: it waits */
};

typedef bool batcher_run_fn(void *ctx, const struct tensor *inputs, size_t n_inputs, const char *const *names,
                            struct tensor *ret, size_t n_names, struct arena *a, struct err *err);

/* One request; all of it stays the caller's and alive until done is called. */
struct batcher_job {
    const struct tensor *inputs;
    size_t n_inputs;
    const char *const *names; /* of the outputs wanted */
    size_t n_names;
    struct tensor *outputs; /* n_names; made in the arena */
    struct arena *arena;    /* used by one thread at a time */
    uint64_t timeout_us;    /* of this request, when shorter; 0: the batcher's */
    void (*done)(struct batcher_job *job);
    /* filled before done: */
    bool ok;
    struct err err;
    uint64_t queue_ns, run_ns;
    size_t run_rows; /* of the run that it was part of */
    /* the batcher's own: */
    struct batcher_job *next;
    uint64_t arrived;
};

enum batcher_where {
    BATCHER_LOOP, /* the calling thread must not be held up */
    BATCHER_WAITS /* it may */
};

struct batcher;
struct batcher *batcher_new(const char *name, const struct batcher_options *o, batcher_run_fn *run,
                            void *ctx);
/* Runs what waits, then frees. Not on a thread of its own (from done). */
void batcher_free(struct batcher *b);

/* done is called once, before this returns or later from another thread. false: the queue is full, with
 * ERR_TOO_MANY; done is not called. */
bool batcher_submit(struct batcher *b, struct batcher_job *job, enum batcher_where where, struct err *err);
/* The same, and waits; false with the error of either. */
bool batcher_wait(struct batcher *b, struct batcher_job *job, struct err *err);

unsigned batcher_waiting(struct batcher *b);

struct batcher_figures {
    metric_number runs, rows, refused, expired, split; /* split: runs that could not be shared after all */
};
const struct batcher_figures *batcher_figures(const struct batcher *b);

/* What it found sharing to gain. */
void batcher_gain(struct batcher *b, struct gain_figures *ret);

#endif
