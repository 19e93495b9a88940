/* Idle keep-alive connections to upstream servers, per loop, found by the text of their address. */
#ifndef INGOT_NET_UPSTREAM_H
#define INGOT_NET_UPSTREAM_H

#include "net/conn.h"

struct upstream_pool;
struct upstream_pool *upstream_pool_new(void);
void upstream_pool_free(struct upstream_pool *p); /* must be clear */
/* Closes all. */
void upstream_pool_clear(struct upstream_pool *p);
/* An idle connection to there, which is the caller's then; NULL when there is none. surely: the kernel is
 * asked whether the other side has ended it just now, for requests that cannot be sent twice. */
struct conn *upstream_take(struct upstream_pool *p, const char *key, bool surely);
/* Keeps c (no output waiting, an answer just ended) for a while, or closes it when there are enough. */
void upstream_give(struct upstream_pool *p, const char *key, struct conn *c);

#endif
