/* One request and its answer, between the protocol below (HTTP/1, HTTP/2) and the public functions above.
 *
 * Lifetime: the protocol holds one reference until the answer is sent or the client is gone, the handler
 * holds one until it has answered (for streams and sockets: until `closed`). Both are dropped on the loop's
 * thread. Calls from other threads set a bit in `posted` and queue `task`; the memory stays while one is set.
 */
#ifndef INGOT_NET_EXCHANGE_H
#define INGOT_NET_EXCHANGE_H

#include "net/http.h"
#include "net/loop.h"

#include <stdatomic.h>

enum answer_kind {
    ANSWER_MEMORY,
    ANSWER_FILE,
    ANSWER_STREAM,
    ANSWER_TUNNEL, /* 101, or 200 to an extended CONNECT: bytes both ways from here on */
};

struct exchange;
struct exchange_output;

struct answer {
    enum answer_kind kind;
    int status;
    const struct header *headers; /* need to live during ops->answer only */
    size_t n;
    struct str body; /* MEMORY: lives as long as the exchange */
    bool transient;  /* ... or no longer than ops->answer */
    int fd;          /* FILE: owned */
    uint64_t offset;
    int64_t length;                       /* FILE: bytes; STREAM: -1 unknown */
    const struct exchange_output *output; /* STREAM, TUNNEL: the owner */
    void *output_ctx;
    void (*opened)(struct exchange *x); /* called on the loop once it has begun; may be NULL */
};

/* What a protocol does for an exchange. */
struct exchange_ops {
    void (*answer)(struct exchange *x);                  /* sends x->answer */
    void (*write)(struct exchange *x, struct str piece); /* STREAM, TUNNEL */
    void (*end)(struct exchange *x);                     /* STREAM, TUNNEL */
    void (*resume)(struct exchange *x);                  /* the body is wanted (again) */
    void (*abort)(struct exchange *x);                   /* break it off */
    void (*relieve)(struct exchange *x);           /* more is kept for the client: give up what is too much */
    uint64_t (*pending)(const struct exchange *x); /* output that waits */
    struct conn *(*carrier)(const struct exchange *x); /* the client's connection */
};

/* What the owner of a streamed answer hears. */
struct exchange_output {
    void (*flushed)(struct exchange *x);             /* all that was written is sent */
    void (*gone)(struct exchange *x, bool complete); /* the answer is over; drop the handler's reference */
    void (*drain)(struct exchange *x);               /* the server stops; NULL: abort */
};

enum exchange_post {
    POST_SINK = 1,
    POST_RESUME = 2,
    POST_ANSWER = 4,
    POST_OUTPUT = 8,
    POST_ABORT = 16,
    POST_LATER = 32,
    POST_WATCH = 64
};

struct exchange {
    struct request pub;
    struct arena arena;
    struct loop *loop;
    const struct exchange_ops *ops;
    void *proto; /* NULL once the client is gone */
    struct task task;
    atomic_uint posted;
    atomic_bool paused;
    unsigned refs;
    uint64_t started; /* uv_hrtime, ns */
    uint64_t sent;    /* bytes of the answer's body */
    size_t kept;      /* bytes, by exchange_keep */

    bool answered;     /* an answer has begun */
    bool heard;        /* the handler has answered: what it wrote may be read */
    bool answered_for; /* by the server in the handler's place: the handler's own is dropped */
    bool logged;
    bool upgradable; /* asked for a protocol switch that the connection can do */
    bool connect;    /* extended CONNECT */

    bool body_done; /* all of it came */
    bool body_told; /* the sink heard its end */
    bool broken;    /* it will never be whole */
    struct body_sink sink, next_sink;

    struct answer answer, next_answer; /* the second is the handler's until it is posted */
    struct buf refusal;
    const struct exchange_output *output;
    void *output_ctx;

    struct exchange_watch { /* request_watch; the second is the handler's until it is posted */
        void (*over)(void *ctx);
        void *ctx;
        bool eager;
    } watch, next_watch;

    void (*later)(struct exchange *x); /* POST_LATER runs it on the loop */
    void *later_ctx;

    /* request_collect */
    size_t collect_limit;
    struct buf collected;
    void (*collect_done)(struct request *r, struct str body, bool complete);
    void (*collect_large)(struct request *r);

    /* What other threads wrote, until the loop takes it. */
    pthread_mutex_t out_lock;
    struct buf out;
    bool out_end;
    atomic_size_t pending;
    size_t inflight;
};

/* size: of a struct that begins with a struct exchange. Zeroed; both references are held. */
struct exchange *exchange_new(struct loop *l, size_t size, const struct exchange_ops *ops, void *proto);
void exchange_unref(struct exchange *x);
static inline struct exchange *exchange_of(const struct request *r)
{
    return container_of(r, struct exchange, pub);
}

/* --- from the protocol --- */
/* The header is whole: calls the handler. */
void exchange_begin(struct exchange *x);
bool exchange_wants_body(const struct exchange *x); /* a sink is set and not paused */
void exchange_body(struct exchange *x, struct str piece);
void exchange_body_end(struct exchange *x, bool complete);
void exchange_flushed(struct exchange *x);
/* The protocol lets go: the answer is sent, or (not complete) cannot be. Drops the protocol's reference. */
void exchange_finish(struct exchange *x, bool complete);
/* Answers in the handler's place with a problem document. */
void exchange_refuse(struct exchange *x, int status, const char *detail);
/* A header that is too large, 431: when it is the cookies, the browser is told to forget them. No handler has
 * the request. path: as far as it is known; cookie: of an unfinished Cookie header, or STR_NULL. */
void exchange_refuse_large(struct exchange *x, const char *detail, struct str path, struct str cookie);
void exchange_drain(struct exchange *x);

/* So many bytes more are kept until the exchange ends; it may end by that. Loop thread. */
void exchange_keep(struct exchange *x, size_t n);

/* --- from above --- */
void exchange_post(struct exchange *x, unsigned what);                    /* any thread */
void exchange_set_sink(struct exchange *x, const struct body_sink *sink); /* loop thread */
void exchange_set_watch(struct exchange *x, struct exchange_watch w);     /* loop thread */
/* Sends a, copying what it needs to when another thread calls; dropped when the client is gone. The body of
 * MEMORY is copied unless it is `lasting`. */
void exchange_answer(struct exchange *x, struct answer a, bool lasting);
/* The same from the queue, on any thread: never answers before it returns. */
void exchange_answer_later(struct exchange *x, struct answer a);
/* Any thread: head and data for a streamed answer, together; returns what waits. */
size_t exchange_write(struct exchange *x, struct str head, struct str data);
void exchange_write_end(struct exchange *x);

/* "Not Found" */
const char *http_reason(int status);
/* Appends a problem document. */
void http_problem(struct buf *b, int status, const char *detail);
extern const struct header http_problem_type;
bool http_answer_has_body(int status);

#endif
