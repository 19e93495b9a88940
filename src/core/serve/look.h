/* One look of the controller at services, their versions and replicas, and what its files do with it. All is
 * in the arena of the look. */
#ifndef INGOT_CORE_SERVE_LOOK_H
#define INGOT_CORE_SERVE_LOOK_H

#include "core/serve/replica.h"

/* One slot of a service: the version that is to be there, and what is. */
struct look_slot {
    const struct object *target; /* NULL: none */
    int64_t wanted;
    int64_t ready;                          /* that get requests, whichever version they are of */
    int64_t current, current_ready, queued; /* of the target's generation: alive, ready, in the queue */
    int64_t alive;
    struct words waits; /* why one of them waits or starts */
};

struct look_service {
    const struct object *service;
    struct look_slot slot[SLOTS];
    /* Told by state.c: */
    const char *state;
    struct words reason;
};

struct look {
    struct core *core;
    struct arena *arena;
    int64_t now;
    struct object *service, *version;
    size_t n_services, n_versions;
    struct replica *replica;
    size_t n_replicas;
    struct look_service *of; /* by service */
    bool changed;            /* something was written: look again soon */
    bool starting;           /* something is about to answer: likewise */
};

/* Services and versions; then the replicas, which are read again after each change. */
bool look_objects(struct look *l, struct err *err);
bool look_replicas(struct look *l, struct err *err);
const struct object *look_version(const struct look *l, int64_t id);
const struct object *look_service_of(const struct look *l, int64_t id);

/* health_round.c: what became of the jobs, what the checks say. */
struct checks; /* what is remembered of checks from look to look */
struct checks *checks_new(void);
void checks_free(struct checks *c);
bool look_settle(struct look *l, struct err *err);
bool look_check(struct look *l, struct checks *c, struct err *err);
/* rollout.c: starts and drains. */
bool look_roll(struct look *l, struct err *err);
/* state.c: what is told about services and versions. */
bool look_tell(struct look *l, struct err *err);
/* canary.c: asks whether canaries keep the rules of their services, and stops or rolls back those that do
 * not. */
bool look_judge(struct look *l, struct err *err);
/* publish.c: the routes; *seen is a hash of those that were published last. */
bool look_publish(struct look *l, uint64_t *seen, struct err *err);

#endif
