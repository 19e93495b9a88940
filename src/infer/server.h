/* The HTTP side of ingot-infer: the Open Inference Protocol v2, predict, and figures, over the models
 * (models.h). One table of routes, server.c. */
#ifndef INGOT_INFER_SERVER_H
#define INGOT_INFER_SERVER_H

#include "infer/trial.h"
#include "net/http.h"

struct server_options {
    struct http_options http; /* handler and ctx are set here */
    struct models *models;
    size_t max_body;     /* of a request, also when it is expanded */
    unsigned threads;    /* for what may not hold up a loop: predict, loading, large bodies */
    unsigned max_queue;  /* requests that wait for these */
    bool allow_load;     /* repository load and unload */
    struct trial *trial; /* predict asks it instead of the models; NULL: nothing is tried */
};

struct server;
struct server *server_start(const struct server_options *o, struct err *err);
uint16_t server_port(const struct server *s);
/* Whether the health route says ready: after the models are there, until it drains. */
void server_set_ready(struct server *s, bool ready);
/* Stops accepting, lets what is in flight finish for at most so long, frees. */
void server_stop(struct server *s, unsigned timeout_ms);

#endif
