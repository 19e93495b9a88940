/* What changes with every request at the gateway, beside the immutable routes (core/serve/route.h): the
 * chooser's place, how much each key has used of its limits, what each replica has in hand and whether it is
 * sick, and the figures of each version. Kept by id, so that it lives on when routes are published anew; gone
 * when no snapshot names it any more.
 *
 * Functions that take a route, a side, a key or an upstream take those of a published snapshot that the
 * caller holds. They are for loop threads: atomic additions, no lock. `now` is clock_mono(). */
#ifndef INGOT_CORE_SERVE_GATE_H
#define INGOT_CORE_SERVE_GATE_H

#include "core/serve/judge.h"
#include "core/serve/route.h"

struct serve_gate; /* core->gate */
/* With the empty routes in force. */
struct serve_gate *serve_gate_new(void);
/* After the last request. NULL is fine. */
void serve_gate_free(struct serve_gate *g);

/* --- keys --- */
/* The service's key with this text, compared in constant time; expired ones too. NULL: it is none of them. */
const struct serve_key *serve_key_find(const struct serve_route *r, struct str secret);
/* One request more: false when it is over the key's limits, and may come again after *ret_wait_ms. Each that
 * was let in leaves. */
bool serve_key_enter(const struct serve_route *r, const struct serve_key *k, uint64_t now,
                     uint64_t *ret_wait_ms);
void serve_key_leave(const struct serve_route *r, const struct serve_key *k);
/* Calls fn for each key that was used since the last call, with the time (microseconds) of its last use. */
void serve_keys_used(struct core *core, void (*fn)(void *ctx, int64_t key, int64_t at), void *ctx);

/* --- the chooser --- */
enum serve_want { SERVE_ANY, SERVE_PRODUCTION, SERVE_CANARY };
/* The side for the next request: exactly `share` of every thousand in a row go to the canary, evenly spread
 * and counted over all threads. A side without replicas is passed over; NULL: no side has any. A wanted side
 * that has none is NULL too. */
const struct serve_side *serve_choose(const struct serve_route *r, enum serve_want want);

/* --- replicas --- */
/* A service may have so many requests in hand; further ones are refused, so that a slow service leaves
 * connections to the others. */
#define SERVE_IN_HAND 8000
/* One request more of the service; false: it has too many. */
bool serve_enter(const struct serve_route *r);
void serve_leave(const struct serve_route *r);
/* The healthy replica with the fewest requests in hand, but for those that were tried; when all are sick, the
 * one that has rested longest. NULL: there is none left. It is the caller's until serve_done. */
const struct serve_upstream *serve_take(const struct serve_route *r, const struct serve_side *side,
                                        const uint64_t *tried, size_t n_tried, uint64_t now);
/* well: it answered as HTTP. Otherwise it is left alone for a while: a second after the first failure, twice
 * as long after each further one, half a minute at the most. */
void serve_done(const struct serve_route *r, const struct serve_side *side, const struct serve_upstream *up,
                bool well, uint64_t now);
/* Nothing was learned of it: the client left. */
void serve_give_back(const struct serve_route *r, const struct serve_side *side,
                     const struct serve_upstream *up);

/* What is known of a replica, by its key, also of one that newer routes left out while it ends its requests.
 * False: nothing is known, and nothing is in hand. */
struct serve_replica {
    unsigned in_hand;  /* requests */
    unsigned failures; /* in a row */
    bool resting;      /* it is left alone for now */
};
bool serve_replica(struct core *core, uint64_t key, struct serve_replica *ret);

#endif
