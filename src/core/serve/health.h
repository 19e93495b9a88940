/* Asks replicas whether they are well: GET of their health path, all of them at once. */
#ifndef INGOT_CORE_SERVE_HEALTH_H
#define INGOT_CORE_SERVE_HEALTH_H

#include "core/serve/serve.h"

struct health_question {
    struct exec_id container;
    uint16_t port;
    const char *path;
    /* The answer: */
    bool well;       /* a status below 400 */
    char reason[96]; /* else: what came instead */
};

/* Blocks for at most as long as one may take to answer. */
void health_ask(struct core *core, struct health_question *q, size_t n);

#endif
