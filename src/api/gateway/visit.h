/* One request at the gateway, from its route to its end. In the request's arena. */
#ifndef INGOT_API_GATEWAY_VISIT_H
#define INGOT_API_GATEWAY_VISIT_H

#include "core/caller.h"
#include "core/serve/gate.h"
#include "core/serve/request_log.h"
#include "core/serve/traffic.h"
#include "net/http.h"

#define VISIT_TRIES 4

struct visit {
    struct core *core;
    struct request *r;
    struct serve_routes *routes;     /* held; NULL once it is over */
    const struct serve_route *route; /* of them; NULL: nothing is at this address */
    struct str prefix;               /* "/vision/fruit"; empty with a host name of its own */
    struct str rest;                 /* what follows, with its slash; empty: nothing does */
    struct str secret;               /* that the request shows */
    bool inside;                     /* by the platform's own API: its origin, its caller, its path */
    bool crosses;                    /* a page of another origin asks, and may */
    enum serve_want want;

    const struct serve_key *key; /* whose limits it has entered, or NULL */
    int64_t user;
    bool entered; /* the service's count */

    const struct serve_side *side;
    const struct serve_upstream *up; /* taken, or NULL */
    uint64_t tried[VISIT_TRIES];
    size_t n_tried;
    char pool_key[24];
    const char *path; /* for the upstream */
    char id[REQUEST_ID_MAX], trace[64];
    struct header add[6];

    struct visit_right {
        struct core *core;
        int64_t service, project, key; /* key 0: the caller's permission */
        struct caller caller;          /* who they are; without their grants */
        bool watched;
    } right;
};

/* Holds the routes and gives it an id; a visit that has begun ends by visit_refuse or visit_forward. */
struct visit *visit_begin(struct core *core, struct request *r);
/* Lets go of everything that it holds and writes its line; answer after this, with what is in the arena. */
void visit_end(struct visit *v, int status, uint64_t sent, uint64_t took_us);

/* --- its right (right.c) --- */
/* What it is allowed by: its key, or c. */
void visit_allow(struct visit *v, const struct caller *c);
/* It may go on for long: it ends with its key, its service, its token or its user. Asked once; on the loop's
 * thread, or before the request goes to a replica. */
void visit_watch(struct visit *v);

/* --- answers of our own (answer.c) --- */
/* A problem document with the request's id; wait_ms: when to come again, 0: not told. Ends the visit. */
void visit_refuse(struct visit *v, int status, const struct err *err, uint64_t wait_ms);
/* The same without ending it: for the proxy, which has its own end. */
void visit_problem(struct visit *v, int status, const struct err *err, uint64_t wait_ms);
/* To a preflight request of a browser. Ends the visit. */
void visit_preflight(struct visit *v);
/* Whether pages of this origin may ask: those that the service names, and its own. */
bool visit_origin_ok(const struct visit *v, struct str origin);
/* For proxy_target.answering. */
size_t visit_answering(void *visit, int status, int64_t length, struct header *headers, size_t n);

/* --- to a replica (forward.c) --- */
/* Who asks is known and allowed: limits, choice, proxy. c: the platform's caller, or NULL. */
void visit_forward(struct visit *v, const struct caller *c);

#endif
