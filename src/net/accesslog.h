/* One line per request, buffered per loop and written before the loop sleeps:
 *   time peer user method path version status bytes milliseconds id
 * The query is left out: it may hold secrets. */
#ifndef INGOT_NET_ACCESSLOG_H
#define INGOT_NET_ACCESSLOG_H

#include "net/exchange.h"

void accesslog_add(struct exchange *x, int status);
/* For a request that was refused before it could be read. */
void accesslog_refused(struct loop *l, const char *peer, int status);
void accesslog_flush(struct loop *l);

#endif
