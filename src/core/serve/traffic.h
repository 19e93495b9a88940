/* The figures of service versions: requests, errors by class, how long answers took. Counted on loop threads
 * without a lock; once a second they are rolled up. */
#ifndef INGOT_CORE_SERVE_TRAFFIC_H
#define INGOT_CORE_SERVE_TRAFFIC_H

#include "base/buf.h"
#include "core/serve/judge.h"
#include "core/serve/route.h"

/* How a request ended, for the version that it was sent to. */
enum serve_class {
    SERVE_OK,      /* 1xx to 3xx */
    SERVE_CLIENT,  /* 4xx */
    SERVE_ERROR,   /* 5xx of the version itself */
    SERVE_FAILED,  /* not answered: it could not be reached, broke off, or what it said was not HTTP */
    SERVE_TIMEOUT, /* no answer within the service's time limit */
    SERVE_LEFT,    /* the client left before the answer began: no error of the version */
    SERVE_CLASSES
};
extern const char *const serve_class_names[SERVE_CLASSES];

/* One request that was sent to a version of the side; us: until the answer began. A request that was sent
 * again after a failure counts for each version that it was sent to. */
void serve_traffic_add(const struct serve_route *r, const struct serve_side *side, enum serve_class class,
                       uint64_t us);

/* What production and the canary did since both are what they are now: a new canary, another generation of
 * it, or a switch begins anew. A start of the server does not (core/serve/judge_keep.h). */
struct serve_trial {
    int64_t production, canary, generation; /* versions, and of the canary */
    struct judge_side side[2];              /* production's, the canary's */
};
/* False: the service has no canary. */
bool serve_traffic_trial(struct core *core, int64_t service, struct serve_trial *ret);
/* All that a version did since the server knows it; false when it has no figures. */
bool serve_traffic_version(struct core *core, int64_t version, struct judge_side *ret);

/* Once a second, by a controller. */
bool serve_traffic_roll(struct core *core, struct err *err);

/* {"step_s", "versions": [{"version", "points": [{"at", "requests", "per_second", "classes": {...}, "p50_ms",
 * "p95_ms", "p99_ms", "low": {"per_second", "p50_ms"...}, "high": {...}}]}]} of a service's newest versions,
 * from `from` to `to` (microseconds) in about `points` equal steps; steps without requests are left out. On a
 * pool thread. */
bool serve_traffic_write(struct core *core, int64_t service, int64_t from, int64_t to, int64_t points,
                         struct arena *a, struct buf *out, struct err *err);

/* Values of families for GET /metrics. */
void serve_traffic_metrics(struct core *core, const char *name, struct buf *out);
void serve_traffic_times(struct core *core, const char *name, struct buf *out);

#endif
