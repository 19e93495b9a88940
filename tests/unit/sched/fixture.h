/* A small cluster built by hand: pools default and own (reserved to project 1), kinds gpu-a100 (shared) and
 * npu, three projects without limits; now is a fixed time. Amounts are CPUs and GiB. */
#ifndef INGOT_TESTS_SCHED_FIXTURE_H
#define INGOT_TESTS_SCHED_FIXTURE_H

#include "sched/sched.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000)
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define GIB    (INT64_C(1) << 30)
#define NOW    (INT64_C(1800000000) * SECOND)

enum { GPU, NPU, WORLD_MAX = 64 };

struct world {
    struct sched_snapshot s;
    struct sched_node nodes[WORLD_MAX];
    struct sched_project projects[3];
    int64_t devices[3][2]; /* quotas */
    struct sched_pool pools[2];
    struct sched_running running[WORLD_MAX];
    struct sched_waiting waiting[WORLD_MAX];
    struct arena arena;
    struct sched_plan plan;
    struct buf text;
};

void world_init(struct world *w);
void world_release(struct world *w);
/* All return what was added, to be changed as the case needs. */
struct sched_node *world_node(struct world *w, int64_t cpus, int64_t gib, int32_t gpus);
struct sched_waiting *world_job(struct world *w, int64_t cpus, int64_t gib, int32_t gpu_thousandths);
/* Runs for ten minutes already, ends in `left` (0: unknown); cards from first_card on. */
struct sched_running *world_run(struct world *w, int32_t node, int64_t cpus, int64_t gib,
                                int32_t gpu_thousandths, int32_t first_card, int64_t left);
void world_plan(struct world *w);
/* The start of the waiting job with this index, NULL if it waits. */
const struct sched_start *world_start(const struct world *w, int32_t job);
/* The sentence of a waiting job; valid until the next call. */
const char *world_why(struct world *w, int32_t job, enum sched_language lang);

#endif
