/* What the address of a model service offers, and what that is called inside of ingot-infer. */
#ifndef INGOT_API_GATEWAY_MODEL_PATH_H
#define INGOT_API_GATEWAY_MODEL_PATH_H

#include "base/arena.h"
#include "base/err.h"
#include "core/serve/route.h"

/* rest: what follows /PROJECT/SERVICE, with its slash. Any name of the service in it becomes `model`. NULL:
 * ERR_FORBIDDEN for loading and unloading, ERR_NOT_FOUND for what is not offered. */
const char *model_path(const struct serve_route *r, const char *model, struct str rest, struct arena *a,
                       struct err *err);

#endif
