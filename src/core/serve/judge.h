/* Whether a canary is worse than production by more than chance: a pure function over what both did in the
 * same time. Judged are intervals, never points: a canary is bad only when even the end of the interval that
 * is best for it breaks a rule. It may be asked again after every request: the intervals are wide enough for
 * all of these looks together. */
#ifndef INGOT_CORE_SERVE_JUDGE_H
#define INGOT_CORE_SERVE_JUDGE_H

#include "base/err.h"

/* Times are counted in buckets of equal ratio: 16 for each doubling, from 1 us to 71 minutes. */
#define JUDGE_BUCKETS 464
unsigned judge_bucket(uint64_t us);
/* The bucket's upper bound. */
uint64_t judge_bucket_us(unsigned bucket);

/* What one version did. */
struct judge_side {
    uint64_t requests;             /* that were sent to it */
    uint64_t errors;               /* of these: answered with 5xx, cut off, out of time or not answered */
    uint64_t times[JUDGE_BUCKETS]; /* of those that were answered: until the first byte of the answer */
};

struct judge_rules {
    double error_rate;    /* so much more of its requests may fail than of production's (0.02: two in a
                             hundred more); where production has no requests: so many at all. Below 0: no rule */
    double p95_ratio;     /* its p95 may be so many times production's; 0: no rule */
    int64_t min_requests; /* of the canary before anything is said; 0: 20 */
};

enum judge {
    JUDGE_WAIT, /* too few requests */
    JUDGE_KEEP, /* no rule is broken beyond chance */
    JUDGE_BAD,
};
/* JUDGE_BAD: *ret_reason says why, in both languages (code ERR_CONFLICT). */
enum judge judge_canary(const struct judge_rules *rules, const struct judge_side *production,
                        const struct judge_side *canary, struct err *ret_reason);

/* The time that a part q (0.95) of the requests did not exceed, in microseconds; 0 without requests. */
uint64_t judge_quantile(const struct judge_side *s, double q);
/* Counts of one more time. */
void judge_add(struct judge_side *to, const struct judge_side *more);
/* *ret = a - b, of counts that only grow. */
void judge_minus(const struct judge_side *a, const struct judge_side *b, struct judge_side *ret);

#endif
