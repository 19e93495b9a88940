/* HTTP/2 on a connection (RFC 9113), after TLS or by prior knowledge. */
#ifndef INGOT_NET_HTTP2_H
#define INGOT_NET_HTTP2_H

#include "net/conn.h"

/* Takes the connection's events; the input begins with the preface. */
void http2_start(struct conn *c);

#endif
