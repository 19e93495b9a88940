/* HTTP/1.0 and 1.1 on a connection. Every connection of the server starts here; one that opens with the
 * HTTP/2 preface is handed to http2. */
#ifndef INGOT_NET_HTTP1_H
#define INGOT_NET_HTTP1_H

#include "net/conn.h"

/* Takes the connection's events. */
void http1_start(struct conn *c);
extern const struct conn_events http1_events;

#endif
