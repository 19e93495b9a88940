/* A socket in a loop, plain or TLS, as a pair of byte streams. A protocol (HTTP/1, HTTP/2, the answer parser
 * of the proxy) hangs on it by an event table.
 *
 * Reading: `data` returns how much it took; the rest is kept and given again after conn_kick. Writing: what
 * the socket does not take at once waits in order: bytes, then a borrowed piece, then a file's range;
 * `flushed` is called when all of it is gone. Only the loop's thread may use a connection. */
#ifndef INGOT_NET_CONN_H
#define INGOT_NET_CONN_H

#include "net/loop.h"

#include <openssl/ssl.h>
#include <sys/uio.h>

struct conn;

struct conn_events {
    size_t (*data)(struct conn *c, const char *p, size_t n);
    void (*eof)(struct conn *c);     /* nothing more will come; once */
    void (*hangup)(struct conn *c);  /* the peer ended its side while we do not read; may be NULL */
    void (*flushed)(struct conn *c); /* what had to wait is sent; never from inside a write call */
    void (*closed)(struct conn *c);  /* the connection broke; it is closed after this returns */
    void (*timeout)(struct conn *c); /* the deadline has passed (it was reset to none) */
    void (*drain)(struct conn *c);   /* the server stops: finish soon; may be NULL */
    void (*connected)(struct conn *c, int error); /* outgoing only; errno */
};

/* How bytes pass the socket. Each returns the count, or -1 with errno (EAGAIN: wait). */
struct conn_transport {
    ssize_t (*read)(struct conn *c, char *p, size_t n); /* 0: end */
    ssize_t (*write)(struct conn *c, const struct iovec *iov, int count, bool more);
    ssize_t (*file)(struct conn *c, int fd, uint64_t offset, uint64_t length);
    void (*shutdown)(struct conn *c);
};

struct conn {
    uv_poll_t poll;
    struct loop *loop;
    struct conn *next, *prev;
    const struct conn_transport *via;
    const struct conn_events *ev;
    void *proto;
    void *remains; /* of a former protocol; freed with the connection */
    SSL *ssl;
    struct buf in, out;
    size_t out_at; /* sent part of out */
    struct str ref;
    uint64_t file_at, file_left;
    uint64_t deadline, write_deadline; /* uv_now; 0: none */
    uint64_t lingered;                 /* bytes thrown away so far */
    size_t kept;                       /* bytes, by conn_keep */
    struct task later;                 /* a failure to tell, or input inside TLS to read */
    int fd, file_fd;
    uint8_t mask;                                    /* events asked of the poll handle */
    bool server_side : 1;                            /* counts as a client's connection */
    bool reading : 1;                                /* the protocol wants input */
    bool eof : 1;                                    /* the peer ended its side */
    bool delivering : 1;                             /* inside data */
    bool again : 1;                                  /* conn_kick came meanwhile */
    bool hung : 1;                                   /* `hangup` was told */
    bool waited : 1;                                 /* output had to wait: `flushed` is due */
    bool in_event : 1;                               /* it will be told right away */
    bool queued : 1;                                 /* `later` is */
    bool failed : 1;                                 /* broken; `closed` is due */
    bool closing : 1;                                /* conn_close was called */
    bool unwatched : 1;                              /* the loop has let go of it */
    bool lingering : 1;                              /* only the output is still wanted */
    bool shut : 1;                                   /* our side is ended */
    bool connecting : 1;                             /* outgoing, not there yet */
    bool read_wants_write : 1, write_wants_read : 1; /* TLS */
    char peer[48];
};

/* Takes fd. ssl (taken too) may be NULL. */
struct conn *conn_new(struct loop *l, int fd, SSL *ssl, const struct conn_events *ev, void *proto);
/* An outgoing socket that may still be connecting: `connected` tells. */
void conn_watch_connect(struct conn *c);
/* At once, without further events. The memory lives until the loop's next turn. */
void conn_close(struct conn *c);
/* Sends what waits, ends our side, then reads and drops until the peer ends its own (bounded in time and
 * size), so that the peer gets to see an answer that came before it was done sending. No further events. */
void conn_linger(struct conn *c);
/* Calls `closed` soon, from the loop. */
void conn_fail(struct conn *c);

void conn_read_start(struct conn *c);
void conn_read_stop(struct conn *c);
/* The protocol can take what it left before. Safe from inside `data`. */
void conn_kick(struct conn *c);
void conn_deadline(struct conn *c, unsigned ms); /* 0: none */

/* Between these, writes to c are joined into one. */
bool conn_cork(struct conn *c); /* true: the caller must uncork */
void conn_uncork(struct conn *c);
void conn_write(struct conn *c, const void *p, size_t n); /* copies what must wait */
/* Copies s, to be sent once the connection is there. */
void conn_write_later(struct conn *c, struct str s);
/* Borrows p until the output is flushed. */
void conn_write_ref(struct conn *c, struct str s);
/* Borrows fd until the output is flushed; the last thing written until then. */
void conn_write_file(struct conn *c, int fd, uint64_t offset, uint64_t length);
/* Bytes that wait for the socket (without corked ones). */
uint64_t conn_pending(const struct conn *c);
/* What is kept in memory for the client besides: requests, their bodies, answers that it has not taken. */
void conn_keep(struct conn *c, size_t n);
void conn_drop(struct conn *c, size_t n);
/* All connections together keep more than they may, and this one more than its share of that. */
bool conn_over_share(const struct conn *c);
/* The sweep: calls what is due. */
void conn_check_time(struct conn *c, uint64_t now);

#endif
