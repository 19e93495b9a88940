/* What the parts of the server share. */
#ifndef INGOT_NET_SERVER_H
#define INGOT_NET_SERVER_H

#include "net/http.h"
#include "net/loop.h"

#include <stdatomic.h>

struct tls;

struct http_server {
    struct http_limits limits; /* without zeroes */
    void (*handler)(struct request *r, void *ctx);
    void *ctx;
    int access_log_fd;
    uint16_t port;
    int64_t tag;     /* of each request */
    bool handed;     /* the listening sockets are another process's too */
    struct tls *tls; /* NULL: plain */
    atomic_uint connections;
    atomic_size_t kept; /* bytes, by conn_keep */
    atomic_ullong next_id;
    unsigned loop_count;
    struct loop **loops;
};

/* Accepts what waits on the loop's listening socket, as much as one turn of the loop is for; true: there may
 * be more. */
bool server_accept(struct loop *l);

#endif
