/* Replicas: the table beside the kinds that says which job runs for which version, slot and generation, and
 * how it is. The job's own row says whether it runs; what of both counts is struct replica. */
#ifndef INGOT_CORE_SERVE_REPLICA_H
#define INGOT_CORE_SERVE_REPLICA_H

#include "core/serve/serve.h"

enum replica_state {
    REPLICA_STARTING, /* it does not answer yet */
    REPLICA_READY,    /* it gets requests */
    REPLICA_SICK,     /* it stopped answering its checks and gets none */
    REPLICA_DRAINING, /* it gets no new ones and is stopped when drain_at is over */
    REPLICA_OVER,     /* its job has ended, and is kept for its log */
};
extern const char *const replica_state_names[];

struct replica {
    int64_t job, service, version, generation;
    enum slot slot;
    enum replica_state state;
    int64_t attempt;  /* of the job, which the state is about */
    int64_t since;    /* of the state */
    int64_t drain_at; /* 0: not asked to end */
    uint16_t port;
    const char *health_path;
    /* Of the job: */
    bool there;
    enum job_state job_state;
    int64_t job_attempt, started_at;
    struct str reason, reason_zh;
};
extern const char replica_sql[]; /* the table */

/* All there are, in the order of their start. */
bool replica_list(struct core *core, struct arena *a, struct replica **ret, size_t *ret_n, struct err *err);
struct exec_id replica_container(const struct replica *r);
/* As the routes and the gateway's figures name it. */
uint64_t replica_key(const struct replica *r);
/* Whether it may get requests: it answered, and its container is still the one that did. */
bool replica_answers(const struct replica *r);

/* --- inside a write --- */
bool replica_start(struct op *op, const struct object *service, const struct object *version, enum slot slot,
                   struct err *err);
/* A replica that is not as it was read is left alone: the next look sees it. */
bool replica_set(struct op *op, const struct replica *r, enum replica_state state, int64_t drain_at,
                 struct err *err);
/* Stops all of a service, or of one version (0: all) at once. */
bool replica_stop_all(struct op *op, int64_t service, int64_t version, struct err *err);
/* Forgets one that is over, with its job. */
bool replica_forget(struct op *op, int64_t job, struct err *err);

#endif
