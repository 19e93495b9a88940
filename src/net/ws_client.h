/* The client's side of a WebSocket, for the command line (libcurl connects and does TLS). Blocking, one
 * thread at a time. */
#ifndef INGOT_NET_WS_CLIENT_H
#define INGOT_NET_WS_CLIENT_H

#include "net/client.h"
#include "net/ws_frame.h"

struct ws_client;

/* q's url is http or https; method and body are ignored. A refusal (any status but 101) gives NULL with
 * ret->status and ret->body set and err without a code; no answer at all ERR_UPSTREAM. frame gets messages
 * (text, binary) during ws_client_receive; false ends it. */
struct ws_client *ws_client_open(struct arena *a, const struct client_request *q,
                                 bool (*frame)(void *ctx, enum ws_opcode opcode, struct str payload),
                                 void *ctx, struct client_answer *ret, struct err *err);
void ws_client_free(struct ws_client *c);    /* NULL allowed */
int ws_client_fd(const struct ws_client *c); /* to poll for input */
/* Sends one whole message; waits until it is sent. */
bool ws_client_send(struct ws_client *c, enum ws_opcode opcode, struct str data, struct err *err);
/* Takes all that has arrived, without waiting; *ret_open is false when the other side has closed, or frame
 * said so. Call it once before the first poll. */
bool ws_client_receive(struct ws_client *c, bool *ret_open, struct err *err);

#endif
