/* Takes a request's body piece by piece on pool threads, with back-pressure: the client is slowed down to
 * what the disk takes, and no thread waits for the client. */
#ifndef INGOT_API_PUMP_H
#define INGOT_API_PUMP_H

#include "base/pool.h"
#include "net/http.h"

struct pump_ops {
    /* Up to about 512 KiB at a time, in order, never two at once. After false no more pieces come, only done.
     */
    bool (*piece)(void *ctx, struct str data, struct err *err);
    /* Once, on a pool thread. complete: all of the body came and every piece was taken; otherwise err says
     * why (ERR_MALFORMED when the client broke off). Answers the request and frees ctx. */
    void (*done)(struct request *r, void *ctx, bool complete, struct err *err);
};
void pump_start(struct request *r, struct pool *pool, const struct pump_ops *ops, void *ctx);

#endif
