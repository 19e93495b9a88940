/* Asks replicas whether they are well: GET of their health path. Nothing here waits for a replica: a question
 * is looked after until it is answered or its time is over. */
#ifndef INGOT_CORE_SERVE_HEALTH_H
#define INGOT_CORE_SERVE_HEALTH_H

#include "core/serve/serve.h"

struct health_talk;

struct health_answer {
    bool well;       /* a status below 400 */
    char reason[96]; /* else: what came instead */
};

/* To be ended. */
struct health_talk *health_ask(struct core *core, struct exec_id container, uint16_t port, const char *path);
/* Goes on with it as far as it goes without waiting; true: it is over, and *ret says how. */
bool health_heard(struct health_talk *t, struct health_answer *ret);
/* Waits until one of them goes on, at most so long; NULLs are passed over. */
void health_wait(struct health_talk *const *t, size_t n, int ms);
void health_end(struct health_talk *t); /* NULL allowed */

#endif
