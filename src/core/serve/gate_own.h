/* What route.c, gate.c and traffic.c share: a route of a published snapshot with its marks. */
#ifndef INGOT_CORE_SERVE_GATE_OWN_H
#define INGOT_CORE_SERVE_GATE_OWN_H

#include "base/map.h"
#include "base/metric.h"
#include "core/serve/gate.h"
#include "core/serve/traffic.h"

#include <pthread.h>

/* A mark is found by its name ("s7" service, "k3" key, "u12" replica, "v9" version) and lives while a
 * snapshot refers to it. */
struct mark {
    unsigned refs; /* with the gate's lock */
    char name[24];
};

struct trial {
    int64_t production, canary, generation; /* versions, and of the canary */
    struct judge_side before[2];            /* what both had done when it began */
    struct judge_side earlier[2];           /* what both did in it before the server was started */
    bool awaits;                            /* these are to be read: it is of the first routes since then */
    uint64_t kept;                          /* requests of both when it was kept last; TRIAL_NEW: never */
};
#define TRIAL_NEW UINT64_MAX

struct service_mark {
    struct mark mark;
    atomic_uint turn, next, in_hand;
    struct trial *trial; /* with the gate's lock */
};

struct key_mark {
    struct mark mark;
    int64_t key;
    _Atomic(uint64_t) full_at; /* clock_mono: when the key has its whole burst again */
    atomic_uint in_hand;
    _Atomic(int64_t) used_at; /* microseconds */
    int64_t told_at;          /* with the gate's lock */
};

struct replica_mark {
    struct mark mark;
    atomic_uint in_hand, failures;
    _Atomic(uint64_t) rests_until; /* clock_mono */
};

/* Of one version. */
struct version_mark {
    struct mark mark;
    int64_t version, service;
    char project_name[64], service_name[64]; /* labels, shortened; with the gate's lock */
    struct traffic_counts {
        _Alignas(64) metric_number class[SERVE_CLASSES];
        metric_number times[JUDGE_BUCKETS];
        metric_number sum_us;
    } * shard;                   /* METRIC_SHARDS of them */
    struct traffic_curve *curve; /* NULL until its first roll; with the gate's lock */
};

struct bound_side {
    struct version_mark *version;
    struct replica_mark **replicas; /* as upstreams */
};

/* What the public route is part of. */
struct routed {
    struct serve_route r;
    struct service_mark *service;
    struct key_mark **keys;
    struct bound_side side[2]; /* production, canary */
};

static inline const struct routed *routed_of(const struct serve_route *r)
{
    return container_of(r, struct routed, r);
}

static inline const struct bound_side *bound_of(const struct serve_route *r, const struct serve_side *s)
{
    return &routed_of(r)->side[s == &r->canary];
}

struct serve_gate {
    pthread_mutex_t lock; /* of everything below */
    struct serve_routes *routes;
    bool published;       /* they are not the empty ones of the start */
    pthread_cond_t first; /* that they are */
    void (*on_publish)(void);
    struct map *marks;
};

/* The mark of that name, made when it is not there; with the lock. One reference. */
void *gate_mark(struct serve_gate *g, char sort, uint64_t id, size_t size);
void *gate_mark_find(struct serve_gate *g, char sort, uint64_t id);
void gate_mark_drop(struct serve_gate *g, struct mark *m);
/* With the lock: gives the routes their marks, and takes them away again. */
void gate_bind(struct serve_gate *g, struct routed *routes, size_t n, struct arena *a);
void gate_unbind(struct serve_gate *g, struct routed *routes, size_t n);

/* With the lock. */
void traffic_bind(struct version_mark *v, const struct serve_route *r, int64_t version);
void traffic_unbind(struct version_mark *v); /* it is freed next */
void traffic_read(const struct version_mark *v, struct judge_side *ret);
void traffic_trial(struct serve_gate *g, struct routed *r);
bool traffic_trial_now(struct serve_gate *g, int64_t service, struct serve_trial *ret);

#endif
