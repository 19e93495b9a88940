/* One event loop per thread, and the way into it from other threads. Everything a loop owns (connections,
 * exchanges, the pool of upstream connections) is touched by its thread only; other threads post a task. */
#ifndef INGOT_NET_LOOP_H
#define INGOT_NET_LOOP_H

#include "base/arena.h"
#include "base/buf.h"

#include <pthread.h>
#include <uv.h>

struct conn;
struct http_server;
struct upstream_pool;

/* Embedded in what it is about; run on the loop's thread. */
struct task {
    struct task *next;
    void (*run)(struct task *t);
};

#define LOOP_SCRATCH (64 * 1024)

struct loop {
    uv_loop_t uv;
    struct http_server *server;
    pthread_t thread;

    uv_async_t wake;
    pthread_mutex_t lock; /* of the three below */
    struct task *head, **tail;
    bool woken;

    uv_timer_t tick;     /* time-outs; runs while there are connections */
    uv_prepare_t before; /* writes the access log before the loop sleeps */
    uv_poll_t listener;
    int listen_fd;
    bool listening, accept_paused, stopping, expired;
    uint64_t stop_at, warned_at; /* uv_now of the hard end while stopping */

    struct conn *conns;         /* all, doubly linked */
    unsigned conn_count;        /* including those not yet freed */
    unsigned exchanges;         /* not yet freed */
    struct arena_spares spares; /* of theirs */
    struct upstream_pool *upstreams;

    struct buf cork; /* answers of the connection that is being served, sent in one write */
    struct conn *corked;
    struct buf log;           /* access log lines */
    char date[32], stamp[32]; /* of this second: for HTTP, for the log */
    int64_t date_second;
    char scratch[LOOP_SCRATCH];  /* what was just read */
    char scratch2[LOOP_SCRATCH]; /* what is about to be written (files over TLS) */
};

/* The loop of the calling thread, NULL on other threads. */
struct loop *loop_current(void);
/* Runs t on the loop's thread, in the order of posting. From any thread; t must not be queued already. */
void loop_post(struct loop *l, struct task *t);
/* Makes a loop around a listening socket, which it owns; the thread starts with loop_start. */
struct loop *loop_new(struct http_server *server, int listen_fd);
void loop_start(struct loop *l);
/* Asks the loop to drain: from any thread, once. */
void loop_stop(struct loop *l, unsigned timeout_ms);
/* Waits for the thread's end and frees. */
void loop_join(struct loop *l);
/* The sweep for time-outs is needed. */
void loop_tick_start(struct loop *l);

#endif
