/* Sums over the jobs that hold resources, and their JSON:
 * {"cpu":cores,"memory":bytes,"storage":bytes,"accelerators":{"kind":n}}. */
#ifndef INGOT_CORE_JOB_USAGE_H
#define INGOT_CORE_JOB_USAGE_H

#include "core/job/plan_input.h"

struct usage {
    int64_t cpu, memory;            /* millicores, bytes */
    int64_t cards[SCHED_KINDS_MAX]; /* thousandths */
    int64_t jobs;
    int64_t storage; /* -1: not written */
    int64_t disk;    /* 0: not written */
};

/* Everything as it is now, for reading. */
bool usage_input(struct core *core, struct arena *a, struct plan_input *ret, struct err *err);

struct usage_filter {
    int64_t project, user; /* 0: all */
    int32_t node;          /* index + 1; 0: all */
};
struct usage usage_of(const struct plan_input *s, struct usage_filter f);
void usage_write(const struct plan_input *s, const struct usage *u, struct json_out *out);
/* A project's quota with null for what has no limit. */
void usage_write_quota(struct arena *a, struct str quota, struct json_out *out);

#endif
