/* The gateway: services on a listener of their own, where the platform's session does not exist.
 *
 * /PROJECT/SERVICE/... goes to a replica of the service, and so does everything for a host name of its own.
 * Who asks shows an API key of the service or a platform token that may invoke it; cookies are never looked
 * at. A request runs on its loop thread from the socket to the replica: the routes are a snapshot in memory
 * (core/serve/route.h), only a token that no cache knows is looked up on a pool thread. docs/gateway.md. */
#ifndef INGOT_API_GATEWAY_H
#define INGOT_API_GATEWAY_H

#include "net/http.h"

/* For http_options.handler of its listener; ctx is the struct core. */
void gateway_handle(struct request *r, void *core);

/* Connections that its listener takes: twice what one service may have in hand, and some. */
#define GATEWAY_CONNECTIONS 20000

#endif
