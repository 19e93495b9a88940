/* The verbs of kinds over HTTP, as docs/api.md says: decode, call the engine, encode. */
#ifndef INGOT_API_REST_H
#define INGOT_API_REST_H

#include "api/router.h"

/* On a pool thread; answers. */
void rest_run(struct api_call *call, const struct target *t);

#endif
