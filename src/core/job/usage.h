/* Sums over the jobs that hold resources: what was reserved for them, and what their containers use. As JSON
 * {"cpus":cores,"memory":bytes,"disk":bytes,"storage":bytes,"accelerators":{"kind":n}}. */
#ifndef INGOT_CORE_JOB_USAGE_H
#define INGOT_CORE_JOB_USAGE_H

#include "core/job/plan_input.h"

struct amounts {
    int64_t cpu, memory;            /* millicores, bytes; -1: not known */
    int64_t disk;                   /* that containers write, or may write; -1: not known */
    int64_t cards[SCHED_KINDS_MAX]; /* thousandths */
    uint64_t kinds;                 /* a bit for each of them that is written */
    int64_t storage;                /* of files; -1: not written */
};

struct usage {
    struct amounts reserved, used;
    int64_t jobs;
};

/* Everything as it is now, for reading. */
bool usage_input(struct core *core, struct arena *a, struct plan_input *ret, struct err *err);

struct usage_filter {
    int64_t project, user; /* 0: all */
    int32_t node;          /* index + 1; 0: all */
};
struct usage usage_of(const struct plan_input *s, struct usage_filter f);
/* The members "reserved", "used" and, as it was called before, "use". */
void usage_write(const struct plan_input *s, const struct usage *u, struct json_out *out);
void amounts_write(const struct plan_input *s, const struct amounts *a, struct json_out *out);
/* A project's quota with null for what has no limit. */
void usage_write_quota(struct arena *a, struct str quota, struct json_out *out);

#endif
