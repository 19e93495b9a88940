/* The HTTP server: one request/response interface over HTTP/1.1, HTTP/2 (h2 by ALPN and h2c by prior
 * knowledge), plain and TLS. N loop threads accept on one address. The handler is called on a loop thread
 * when the header is complete; it must not block: what blocks goes to a pool and answers later, from any
 * thread.
 *
 * Every request is answered exactly once, by one of the respond_* functions. A request stays valid until it
 * is answered; for a streamed answer until `closed` was called. When the client goes away first, answering is
 * still required and harmless.
 *
 * Refused here, before the handler: malformed and smuggled requests, HTTP/0.9, missing or double Host, header
 * over limits, bodies over limits, slow clients (each with a precise 4xx and Connection: close). */
#ifndef INGOT_NET_HTTP_H
#define INGOT_NET_HTTP_H

#include "base/arena.h"
#include "base/err.h"
#include "net/traffic.h"

struct http_server;
struct request;
struct stream;

struct header {
    struct str name; /* lower case in requests */
    struct str value;
};

/* What the handler may read; nothing here is written by it except `user`. */
struct request {
    struct arena *arena; /* of this request; use it from one thread at a time */
    struct str method;   /* "GET" */
    struct str path;     /* as sent, undecoded, without the query; starts with '/' */
    struct str query;    /* as sent, without '?' */
    struct str host;     /* Host or :authority */
    const struct header *headers;
    size_t header_count;
    int64_t content_length; /* -1: unknown (chunked), 0: none */
    char peer[48];          /* address without port */
    bool tls;
    int64_t tag;          /* the server's (http_options) */
    int version;          /* 10, 11, 20 */
    uint64_t id;          /* for the logs */
    void *user;           /* the handler's own */
    const char *log_user; /* shown in the access log; set by the handler in the arena, may be NULL */
    enum traffic traffic; /* what it is for, in metrics; set by the handler before it returns */
};

/* The first header of that (lower case) name; STR_NULL when absent. */
struct str request_header(const struct request *r, const char *name);
/* Value of a cookie, undecoded; STR_NULL when absent. */
struct str request_cookie(const struct request *r, const char *name);
/* How many of that name there are; *ret is the first. */
size_t request_cookies(const struct request *r, const char *name, struct str *ret);
/* Percent-decodes a query parameter (also '+') into the arena; false when absent. Malformed escapes: err. */
bool request_param(struct request *r, const char *name, struct str *ret, struct err *err);

/* --- the body (from any thread, once per request) --- */
/* Collects at most limit bytes, then calls done on the loop thread; over the limit the request is answered
 * with 413 and done is not called. done gets STR_NULL when the client went away (then respond is still
 * needed). */
void request_collect(struct request *r, size_t limit,
                     void (*done)(struct request *r, struct str body, bool complete));
/* The same with an answer of the caller's own to a body that is larger. */
void request_collect_else(struct request *r, size_t limit,
                          void (*done)(struct request *r, struct str body, bool complete),
                          void (*large)(struct request *r));
/* Streams it: data on the loop thread, with back-pressure: after request_pause nothing (nor the end) comes
 * until request_resume (both from any thread). end is called once: complete is false when the client went
 * away or broke the framing. After an answer other than a streamed one neither is called any more. */
struct body_sink {
    void (*data)(struct request *r, struct str piece);
    void (*end)(struct request *r, bool complete);
};
void request_stream(struct request *r, const struct body_sink *sink);
void request_pause(struct request *r);
void request_resume(struct request *r);

/* --- its end --- */
/* Calls over once, on the loop's thread, when the client has left or has the whole answer: before that the
 * request stays valid for request_abort. From any thread before the answer, once per request. On HTTP/1 a
 * client that has ended its side may still read its answer; with eager, before the answer, it has left. */
void request_watch(struct request *r, bool eager, void (*over)(void *ctx), void *ctx);
/* Breaks the request off, answered or not: the stream of HTTP/2, otherwise the connection. From any thread.
 */
void request_abort(struct request *r);

/* --- the answer, from any thread --- */
/* Headers and body are copied. HEAD is cared for; Content-Length, Date and Connection are added. */
void respond(struct request *r, int status, const struct header *headers, size_t n, struct str body);
/* Body that is already in static memory or outlives the program's requests (assets): not copied. */
void respond_static(struct request *r, int status, const struct header *headers, size_t n, struct str body);
/* A file's bytes [offset, offset+length): sendfile when plain. Owns fd. */
void respond_file(struct request *r, int status, const struct header *headers, size_t n, int fd,
                  uint64_t offset, uint64_t length);
/* An answer of unknown length, written piece by piece from any thread (SSE, follow, export). The events come
 * on the loop thread; after `closed` the stream is gone and no call is allowed. */
struct stream_events {
    void (*drained)(struct stream *s, void *ctx); /* pending fell to 0 after a write */
    void (*closed)(struct stream *s,
                   void *ctx); /* ended by us and flushed, or the client left; always called once */
};
struct stream *respond_stream(struct request *r, int status, const struct header *headers, size_t n,
                              const struct stream_events *ev, void *ctx);
/* The same when the length is known (Content-Length): so many bytes are written, or it is aborted. */
struct stream *respond_stream_sized(struct request *r, int status, const struct header *headers, size_t n,
                                    uint64_t length, const struct stream_events *ev, void *ctx);
/* Copies; returns the bytes now waiting to be sent (the writer slows down by it). Ignored once closed is due.
 */
size_t stream_write(struct stream *s, struct str data);
void stream_end(struct stream *s);
/* Breaks the connection off instead, so that the client does not take a part for the whole. */
void stream_abort(struct stream *s);

/* --- WebSocket (RFC 6455, also over HTTP/2 by RFC 8441) --- */
struct ws;
struct ws_events {
    void (*message)(struct ws *w, bool text, struct str data,
                    void *ctx); /* whole messages, at most max_message */
    void (*drained)(struct ws *w, void *ctx);
    void (*closed)(struct ws *w, int code, void *ctx); /* always called once; w is gone after */
};
struct ws_options {
    size_t max_message;   /* 0: 1 MiB */
    const char *protocol; /* chosen subprotocol or NULL */
};
/* Answers 101 (or refuses with 400/426 and returns NULL, then the request is answered). Calls may come from
 * any thread until closed. Pings are answered; a ping is sent every 30 s and a silent peer is closed after 90
 * s. */
struct ws *respond_ws(struct request *r, const struct ws_options *o, const struct ws_events *ev, void *ctx);
size_t ws_send(struct ws *w, bool text, struct str data);
void ws_close(struct ws *w, int code, const char *reason);

/* --- proxy --- */
/* Why an upstream did not answer. */
enum proxy_failure {
    PROXY_FINE,
    PROXY_UNREACHABLE, /* there is no connection to it: nothing was sent */
    PROXY_BROKEN,      /* it ended the connection before its answer was whole */
    PROXY_GARBAGE,     /* what it says is not HTTP */
    PROXY_SILENT,      /* its time is up */
};
/* How it ended. */
struct proxy_end {
    enum proxy_failure failure; /* of the last upstream */
    int status;                 /* that the client got; 0: it left before */
    bool cut;                   /* the client did not get the whole answer */
    uint64_t sent;              /* bytes of the answer's body */
    uint64_t took_us;           /* until the answer began */
};
#define PROXY_ROOM 16 /* headers that `answering` may add */

/* Forwards the request (streaming both ways, WebSocket upgrades too) to an upstream and its answer back.
 * Hop-by-hop headers are dropped, X-Forwarded-* set, the platform's own cookie and Authorization removed when
 * strip_auth. */
struct proxy_target {
    const char *host; /* address or name, or NULL with fd */
    uint16_t port;
    const char *unix_path; /* instead of host and port */
    int (*connect)(
        void *ctx);   /* instead of both: a connecting or connected non-blocking socket, -1 with errno */
    void *ctx;        /* for the functions here; lives as long as the request's arena */
    const char *key;  /* with connect: names the upstream; its idle connections are used again */
    const char *path; /* what to ask for instead of the request's path; NULL: the same */
    const char *host_header; /* NULL: the request's */
    bool strip_auth;
    bool plain_frames; /* no extensions of WebSockets: `passing` sees frames as long as their messages are */
    const char *strip_cookie;     /* beginning of the names of cookies to remove */
    const char *forwarded_prefix; /* X-Forwarded-Prefix or NULL */
    /* The upstream is a user's own program: its answers may not touch what the browser keeps for the rest
     * of this host (the cookies above, Clear-Site-Data, Strict-Transport-Security, wider service workers). */
    bool guarded;
    /* On the loop's thread for every piece of a tunnel (WebSocket), from the client or to it. May be NULL. */
    void (*passing)(void *ctx, bool from_client, struct str piece);
    /* Answers when `connect` gave nothing, on the loop's thread; NULL: 502. */
    void (*unreachable)(struct request *r, void *ctx);

    /* --- several upstreams; all that follows is optional, and called on the loop's thread --- */
    /* The upstream failed before the first byte of its answer, and the request can be sent again: to which
     * one? `connect` is asked for its socket next; *ret_key is its key. False: there is no other. */
    bool (*next)(void *ctx, enum proxy_failure why, const char **ret_key);
    bool resend;      /* every method may be sent again, not only GET, HEAD and OPTIONS */
    size_t keep_body; /* so many bytes of a body are kept for that; longer ones are sent once, and so are
                         others while the bodies of all requests take too much memory */
    /* --- limits --- */
    int64_t body_limit;     /* bytes; 413 beyond; 0: none */
    unsigned time_limit_ms; /* until the answer begins, and between its pieces but for event streams: 504;
                               0: the server's */
    /* --- headers --- */
    const struct header *add; /* for the upstream, instead of the client's of the same (lower case) name;
                                 value.p NULL: without it. They live as long as the request's arena */
    size_t n_add;
    bool no_cookies; /* the upstream gets none */
    /* May change the headers of the answer; there is room for PROXY_ROOM more. Returns their number. length:
     * bytes of the body, -1: the upstream does not say. On the loop's thread. */
    size_t (*answering)(void *ctx, int status, int64_t length, struct header *headers, size_t n);
    /* Answers in place of an upstream that did not, with this status; NULL: a problem document. */
    void (*refused)(struct request *r, void *ctx, int status, const char *detail);
    /* Once, at the end: the request's arena is still there, its client may not be. */
    void (*over)(void *ctx, const struct proxy_end *end);
};
/* Copies what it needs. 502 when the upstream cannot be reached or breaks off before its header, 504 when
 * silent. */
void respond_proxy(struct request *r, const struct proxy_target *t);

/* --- the server --- */
struct http_limits {            /* 0 takes the default */
    size_t max_header;          /* 32 KiB */
    unsigned max_headers;       /* 100 */
    size_t max_target;          /* 8 KiB */
    unsigned header_timeout_ms; /* 10 s for the whole header */
    unsigned idle_timeout_ms;   /* 75 s keep-alive */
    unsigned body_timeout_ms;   /* 30 s without a byte of the body */
    unsigned write_timeout_ms;  /* 30 s in which the client takes nothing */
    unsigned max_connections;   /* 10,000 */
    unsigned max_streams;       /* 128 per HTTP/2 connection */
    size_t max_kept;            /* 256 MiB kept for all clients together: bodies, answers they do not take */
    size_t max_kept_each;       /* 32 MiB for one connection of HTTP/2, unless it is for one request */
};

struct http_options {
    const char *listen;               /* "127.0.0.1:8080", "[::]:443"; port 0: any */
    int socket;                       /* a listening socket to use instead, and to close; 0: none */
    int64_t tag;                      /* of every request, for the handler to tell servers apart by */
    unsigned threads;                 /* 0: one per core */
    const char *cert_file, *key_file; /* TLS when both are set; reloaded when they change */
    void (*handler)(struct request *r, void *ctx);
    void *ctx;
    struct http_limits limits;
    int access_log_fd; /* -1: none; one line per request */
};

struct http_server *http_start(const struct http_options *o, struct err *err);
uint16_t http_port(const struct http_server *s);
/* Stops accepting, lets requests in flight finish for at most timeout_ms (streams and sockets are closed),
 * frees. */
void http_stop(struct http_server *s, unsigned timeout_ms);

#endif
