/* The headers of a proxied request and of its answer: what is passed on, dropped and added. */
#ifndef INGOT_NET_PROXY_HEAD_H
#define INGOT_NET_PROXY_HEAD_H

#include "net/exchange.h"

/* Appends the whole request header for the upstream. */
void proxy_request_head(struct buf *b, struct exchange *x, const struct proxy_target *t);
/* Whether an answer's header belongs to the connection and not to the answer (upgrade: of a 101). */
bool proxy_drops_answer_header(struct str name, struct str connection, bool upgrade);
/* Whether a guarded upstream may not send this header. */
bool proxy_guards_answer_header(struct str name, struct str value, const struct proxy_target *t);
/* Whether the request asks for another protocol in a way the connection can do. */
bool proxy_wants_upgrade(const struct exchange *x);

#endif
