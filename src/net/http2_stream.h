/* One stream of an HTTP/2 connection: the exchange, its request as it arrives and the output that waits.
 * Shared by http2.c (the connection) and http2_stream.c (the exchange's side). */
#ifndef INGOT_NET_HTTP2_STREAM_H
#define INGOT_NET_HTTP2_STREAM_H

#include "net/conn.h"
#include "net/exchange.h"
#include "net/server.h"

#include <nghttp2/nghttp2.h>

struct http2 {
    struct conn *c;
    nghttp2_session *session;
    struct http2_stream *streams; /* doubly linked */
    unsigned count;
    uint64_t idle_since; /* uv_now when the last stream ended */
    bool used;           /* there was one */
    bool busy;           /* inside nghttp2: what was submitted is sent when it returns */
    bool draining;       /* ends with its last stream */
};

struct http2_stream {
    struct exchange x; /* first */
    struct http2 *h;
    struct http2_stream *next, *prev;
    int32_t id;
    bool begun;  /* the handler has it */
    bool in_end; /* the client has sent all */
    bool deferred, out_end, all_sent, drained;
    int status; /* the header was refused */
    const char *detail;

    struct header *headers;
    size_t cap, header_bytes;
    struct str large_cookie; /* the field with which the header became too large, when it was a Cookie */
    unsigned authorities, hosts, lengths;
    struct str method, path, protocol;
    struct str host; /* the header, beside :authority */

    struct buf in; /* not wanted yet; its window is not given back */
    struct buf out;
    size_t out_at;                /* of out, or of the answer's body or file */
    uint64_t in_moved, out_moved; /* uv_now of the last progress */
};

struct http2_stream *http2_stream_new(struct http2 *h, int32_t id);
/* Unlinks, tells the exchange and lets go of it. */
void http2_stream_close(struct http2_stream *s, bool complete);
/* A header field has come. */
void http2_stream_field(struct http2_stream *s, struct str name, struct str value);
/* The header is whole: begins the exchange or refuses it. */
void http2_stream_begin(struct http2_stream *s, bool ended);
void http2_stream_data(struct http2_stream *s, struct str piece);
void http2_stream_ended(struct http2_stream *s);
/* Bytes are kept for it, besides what every stream takes. */
bool http2_stream_keeps(const struct http2_stream *s);
/* Breaks off what makes no progress. */
void http2_stream_check_time(struct http2_stream *s, uint64_t now);

/* http2.c: sends what nghttp2 has, unless that is going on. */
void http2_flush(struct http2 *h);
/* Gives up the newest streams for which something is kept while that is too much. */
void http2_relieve(struct http2 *h);

#endif
