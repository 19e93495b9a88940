/* One request on its way through the server, and what its answers have in common. */
#ifndef INGOT_INFER_CALL_H
#define INGOT_INFER_CALL_H

#include "base/pool.h"
#include "infer/server.h"
#include "infer/squeeze.h"
#include "infer/trace.h"
#include "infer/v2_answer.h"
#include "infer/v2_request.h"

struct server {
    struct server_options o;
    struct http_server *http;
    struct pool *pool;
    atomic_bool ready;
    metric_number answers[6]; /* by the status' first digit */
};

struct call {
    struct server *server;
    struct request *request;
    struct arena *arena; /* the request's */
    struct trace trace;
    uint64_t began; /* clock_mono */
    /* of the address */
    struct str name, version;
    bool load; /* repository: load, not unload */
    /* held until the answer */
    struct served *served;
    struct served_part *part;
    /* the body */
    struct str body;
    struct buf expanded;
    uint64_t stages[STAGE_COUNT];
    /* of v2 */
    struct v2_request v2;
    struct batcher_job job;
};

/* Both answer and let go of the model; the call is gone afterwards. */
void call_answer(struct call *c, int status, const struct header *headers, size_t n, struct str body);
void call_fail(struct call *c, const struct err *err);
void call_json(struct call *c, struct buf *body); /* 200 */

/* Counts the request of c's model. */
void call_count(struct call *c, bool ok);
/* Finds the model of the address, or fails the call. */
bool call_model(struct call *c);
/* Reads the body, then goes on: with `then` on the loop's thread, or on one of the pool when it is heavy to
 * read or waits. */
void call_collect(struct call *c, bool waits, void (*then)(struct call *c, enum batcher_where where));
/* The body as it is to be read: expanded when it was sent compressed. */
bool call_expand(struct call *c, struct err *err);

/* Routes of other files. */
void v2_serve_infer(struct call *c);
void v2_serve_health(struct call *c);
void v2_serve_ready(struct call *c);
void v2_serve_server(struct call *c);
void v2_serve_model(struct call *c);
void v2_serve_model_ready(struct call *c);
void v2_serve_config(struct call *c);
void v2_serve_stats(struct call *c);
void v2_serve_index(struct call *c);
void v2_serve_load(struct call *c);
void v2_serve_unload(struct call *c);
void predict_serve(struct call *c);
void metrics_serve(struct call *c);

#endif
