/* The routes of services: what the gateway reads for each request, on loop threads, without the database.
 *
 * The controller of services derives them from rows and publishes all of them at once, as an immutable
 * snapshot that is counted by reference. While the database is lost the last ones stay in force. What changes
 * with every request (the chooser's place, limits of keys, sick replicas, figures) is not in the snapshot but
 * beside it (core/serve/gate.h), by the ids that the snapshot names: it lives on through the next one. */
#ifndef INGOT_CORE_SERVE_ROUTE_H
#define INGOT_CORE_SERVE_ROUTE_H

#include "core/core.h"
#include "exec/exec.h"

/* A replica that answers. */
struct serve_upstream {
    struct exec_id id;
    uint16_t port;
    int64_t version;
    uint64_t key; /* unique per replica */
};

/* All replicas of one version that are ready. */
struct serve_side {
    int64_t version;
    int64_t generation;
    bool model; /* served by ingot-infer */
    const struct serve_upstream *upstreams;
    size_t n;
    /* What ingot-infer calls the model, as its replicas were started; NULL: the service's name. */
    const char *model_name;
};

enum serve_resend {
    SERVE_RESEND_SAFE, /* GET, HEAD, OPTIONS, or when nothing was sent */
    SERVE_RESEND_ALL,  /* small bodies are kept and sent to another replica */
};

struct serve_key {
    int64_t id;
    unsigned char hash[32]; /* SHA-256 of its text */
    int64_t expires_at;     /* microseconds; 0: never */
    double rate;            /* requests per second; 0: no limit, also below */
    int64_t burst, concurrency;
};

struct serve_route {
    int64_t service, project;
    const char *project_name, *name;   /* as in the address */
    const char *project_title, *title; /* as people gave them */
    /* Further names: "old" of the service in this project, or "project/old" where the project had another
     * name. A name that a service has now wins. */
    const char *const *aliases;
    size_t n_aliases;
    const char *host;                     /* host name of its own, NULL: none */
    int64_t share;                        /* thousandths of requests that go to the canary */
    struct serve_side production, canary; /* n == 0: none ready */
    bool has_canary;
    const char *state, *reason, *reason_zh;          /* why it does not answer */
    int64_t body_limit, header_limit, time_limit_ms; /* 0: the gateway's own */
    enum serve_resend resend;
    const char *const *origins; /* that pages may send requests from; "*": any */
    size_t n_origins;
    const struct serve_key *keys;
    size_t n_keys;
};

struct serve_routes; /* immutable snapshot, ref-counted */

/* Copies; one reference, the caller's. */
struct serve_routes *serve_routes_new(const struct serve_route *r, size_t n);
/* From now on these are the routes of every request that begins; takes the reference. Any thread. */
void serve_routes_publish(struct core *core, struct serve_routes *routes);
/* Whenever routes were published fn is called, under the gate's lock: be quick. One listener; NULL: none. */
void serve_routes_on_publish(struct core *core, void (*fn)(void));
/* Waits until routes were published for the first time since the start, for some seconds at the most; not at
 * all where there is no service. Before that the gateway knows none: it begins to listen afterwards, and
 * clients of the server before wait meanwhile. */
void serve_routes_wait(struct core *core);
/* Never NULL after the start. Any thread; release each. */
struct serve_routes *serve_routes_acquire(struct core *core);
void serve_routes_release(struct serve_routes *r);

/* --- finding; what is found lives as long as the snapshot is held --- */
/* By the address: each of both is the name or "id.7". */
const struct serve_route *serve_routes_find(const struct serve_routes *r, struct str project,
                                            struct str service);
/* By Host, with or without a port, in whichever case. */
const struct serve_route *serve_routes_host(const struct serve_routes *r, struct str host);
const struct serve_route *serve_routes_service(const struct serve_routes *r, int64_t service);
size_t serve_routes_count(const struct serve_routes *r);
const struct serve_route *serve_routes_at(const struct serve_routes *r, size_t i);

#endif
