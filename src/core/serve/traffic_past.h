/* What a version did in each second of the last two hours: requests by class, and quantiles of their times.
 */
#ifndef INGOT_CORE_SERVE_TRAFFIC_PAST_H
#define INGOT_CORE_SERVE_TRAFFIC_PAST_H

#include "base/json.h"
#include "core/serve/judge.h"
#include "core/serve/traffic.h"

/* Counts that only grow. */
struct traffic_total {
    struct judge_side side;
    uint64_t class[SERVE_CLASSES];
};

struct traffic_past;
struct traffic_past *traffic_past_new(void);
void traffic_past_free(struct traffic_past *p); /* NULL is fine */
/* What came since the last call is what happened now. */
void traffic_past_roll(struct traffic_past *p, const struct traffic_total *t, int64_t now);
/* As an array, in steps as serve_traffic_write has them. */
void traffic_past_write(const struct traffic_past *p, int64_t from, int64_t to, int64_t points,
                        struct json_out *o);

#endif
