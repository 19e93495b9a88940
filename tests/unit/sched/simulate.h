/* A cluster that is played from a seed: jobs arrive, the scheduler decides, jobs run, end, are evicted, fail
 * and come again; nodes drain and get lost. After every pass the plan is checked against the rules that must
 * always hold; a breach ends the test. Times are microseconds, as in sched.h. */
#ifndef INGOT_TESTS_SCHED_SIMULATE_H
#define INGOT_TESTS_SCHED_SIMULATE_H

#include "sched/sched.h"

#define SECOND INT64_C(1000000)
#define GIB    (INT64_C(1) << 30)

struct sim_spec {
    uint64_t seed;
    int32_t nodes, projects, users, jobs;
    int64_t span;       /* jobs arrive in this time; 0: all at the beginning */
    int32_t gang_max;   /* ranks */
    int32_t priorities; /* 1: all the same */
    bool devices, quotas, pools, arm;
    bool unknown_ends; /* of some jobs */
    bool wrong_ends;   /* durations are only guesses */
    bool preemptible;  /* some jobs are */
    bool trouble;      /* nodes drain, get lost and come back; jobs of lost nodes start again */
    struct sched_options options;
};

enum sim_state { SIM_COMING, SIM_WAITING, SIM_RUNNING, SIM_DONE, SIM_NEVER };

struct sim_job {
    struct sched_waiting ask;
    int64_t real_duration, started_at, ends_at;
    int64_t head_estimate; /* the first start that the head of the queue was told; 0: it never was the head */
    const struct sched_rank *ranks;
    bool preemptible, stopping;
    enum sim_state state;
    int32_t evicted;
};

struct sim {
    struct sim_spec spec;
    struct arena arena;
    uint64_t random;
    struct sched_snapshot s;
    struct sched_node *nodes;
    struct sim_job *jobs;
    /* of the last pass */
    struct sched_running *running;
    struct sched_waiting *waiting;
    int32_t *running_job, *waiting_job; /* index in jobs */
    struct arena pass_arena;
    struct sched_plan plan;
    /* over all passes */
    int64_t passes, starts, evictions, backfilled;
    uint64_t digest; /* of all decisions */
};

void sim_init(struct sim *sim, const struct sim_spec *spec);
void sim_release(struct sim *sim);
/* One pass at the present time, checked and applied. */
void sim_pass(struct sim *sim);
/* To the next time at which something happens; false when nothing will. */
bool sim_advance(struct sim *sim);
/* Until all that can run have run; fails the test when that does not come about. */
void sim_run(struct sim *sim);

/* simulate_check.c: fails the test if the plan breaks a rule. */
void sim_check(const struct sim *sim);

#endif
