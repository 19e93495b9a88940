/* Operations on samples as clients send them, by POST or in a room: read, rights asked, written without a
 * thread that waits, answered with a result for each. */
#ifndef INGOT_API_REST_OPERATIONS_H
#define INGOT_API_REST_OPERATIONS_H

#include "api/route.h"
#include "core/data/sample_access.h"

#define OPERATIONS_MAX  1000                     /* of one request */
#define OPERATIONS_BODY ((16 << 20) + (1 << 20)) /* bytes: the largest annotation, and what is round it */

struct operations_where {
    int64_t dataset, version;
    int64_t sample, layer; /* of all of them; sample 0: each names its own */
};

/* body: {"operations":[...],"assignment":9?}. then is called once, on a thread of the pool, perhaps before
 * this returns, with `"results":[...]` or STR_NULL and the error. c, a and body last until then. */
typedef void (*operations_then)(void *ctx, struct str results, const struct err *err);
void operations_run(struct core *core, const struct caller *c, struct arena *a,
                    const struct operations_where *where, yyjson_val *body, operations_then then, void *ctx);

/* The version of the path's first two parameters, with a right to the sample of the third (0: to all). */
bool operations_find(struct api_call *call, int64_t sample, enum sample_right right, struct object *ret,
                     struct err *err);

#endif
