/* The figures of versions over time: points of the seconds of minutes with requests go to a series of the
 * version (core/series/series.h: by the second for two hours, by the minute for thirty days). */
#ifndef INGOT_CORE_SERVE_TRAFFIC_CURVE_H
#define INGOT_CORE_SERVE_TRAFFIC_CURVE_H

#include "core/serve/judge.h"
#include "core/serve/traffic.h"

/* Counts that only grow. */
struct traffic_total {
    struct judge_side side;
    uint64_t class[SERVE_CLASSES];
};

struct traffic_curve;
struct traffic_curve *traffic_curve_open(struct core *core, int64_t version);
void traffic_curve_close(struct traffic_curve *c); /* NULL is fine */
/* What came since the last call is what happened now; of one second the first call counts. */
void traffic_curve_roll(struct traffic_curve *c, const struct traffic_total *t, int64_t now);
/* The same for the last time: also what came in a second that is told. */
void traffic_curve_end(struct traffic_curve *c, const struct traffic_total *t, int64_t now);

#endif
