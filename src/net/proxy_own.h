/* What the files of the proxy share: one forwarded request.
 *
 * proxy.c moves the bytes, proxy_connect.c gets connections, proxy_again.c keeps bodies and sends requests
 * again. */
#ifndef INGOT_NET_PROXY_OWN_H
#define INGOT_NET_PROXY_OWN_H

#include "net/conn.h"
#include "net/proxy_answer.h"
#include "net/proxy_head.h"
#include "net/server.h"
#include "net/upstream.h"

struct address {
    struct sockaddr_storage to;
    socklen_t n;
};

struct proxy {
    struct exchange *x;
    struct proxy_target t; /* copied */
    char *key;             /* of the pool; NULL: not kept */
    struct conn *c;
    struct proxy_answer answer;
    struct buf head; /* of the request, until the answer begins */
    struct buf kept; /* of its body, likewise */
    uv_getaddrinfo_t resolving;
    char port[8];
    struct address *addresses; /* of the name, in order; those before `tried` cannot be reached */
    size_t address_count, tried;
    uint64_t answer_by; /* uv_now; 0: the time has not begun */
    int64_t body_bytes; /* that came */
    unsigned attempts;
    struct proxy_end end;
    bool reused, retried; /* the connection was idle before; a second attempt at the same upstream */
    bool connected, body_sent, tunnel, feeding;
    bool taking;    /* the body's pieces come to us */
    bool body_in;   /* all of them came */
    bool keeping;   /* all that came is in `kept` */
    bool no_socket; /* `connect` gave none */
    bool counted, told, events;
};

extern const struct conn_events proxy_up_events;

/* Gets a connection, fresh or idle; fails by proxy_fail. */
void proxy_connect(struct proxy *p, bool may_reuse);
/* The next address of the same name; false when there is none left. */
bool proxy_connect_next(struct proxy *p);
/* There is one. */
void proxy_connected(struct proxy *p, struct conn *c);

void proxy_drop_upstream(struct proxy *p);
/* Ends it: before the upstream's answer began by an answer of our own, after that by cutting it off. */
void proxy_fail(struct proxy *p, enum proxy_failure why, int status, const char *detail);

/* A piece of the body came: keeps it when it may have to be sent again. */
void proxy_keep(struct proxy *p, struct str piece);
void proxy_keep_no_more(struct proxy *p);
/* The upstream has failed: the request is on its way again, to it or to another one. False: it cannot be. */
bool proxy_again(struct proxy *p, enum proxy_failure why);
/* That, or the end. */
void proxy_failed(struct proxy *p, enum proxy_failure why, int status, const char *detail);
/* Whether asking twice is allowed, as far as method and body say. */
bool proxy_may_repeat(const struct proxy *p);

#endif
