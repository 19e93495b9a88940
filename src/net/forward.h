/* Published TCP ports: whatever connects to one is joined, byte by byte, with a socket that the owner gives.
 * One thread serves all of them. Functions may be called from any thread but from inside `connect` and
 * `passing`. */
#ifndef INGOT_NET_FORWARD_H
#define INGOT_NET_FORWARD_H

#include "base/err.h"

#define FORWARD_MEMORY 32

struct forwards;
struct forward;

struct forward_target {
    int (*connect)(void *ctx); /* a connected socket, the forward's then; -1: the visitor is sent away */
    /* n bytes went through, from the visitor (inward) or to it; may be NULL. `memory` is of this connection,
     * zeroed at first, for what the owner wants to remember of it. */
    void (*passing)(void *ctx, void *memory, bool inward, size_t n);
    void *ctx; /* must live until forward_close */
};

struct forwards *forwards_new(void);
void forwards_free(struct forwards *f); /* NULL is fine; closes all that is open */

/* host: an address; port 0: any free one. ERR_EXISTS when the port is taken. */
struct forward *forward_open(struct forwards *f, const char *host, uint16_t port,
                             const struct forward_target *t, struct err *err);
uint16_t forward_port(const struct forward *w);
/* Ends its connections too. NULL is fine. */
void forward_close(struct forwards *f, struct forward *w);

#endif
