/* What a service version is: questions to its row. */
#ifndef INGOT_CORE_SERVE_VERSION_H
#define INGOT_CORE_SERVE_VERSION_H

#include "core/serve/serve.h"

#define VERSION_MODEL_PORT   8000
#define VERSION_MODEL_HEALTH "/v2/health/ready"
#define VERSION_LOOP         3 /* failures in a row after which it is said to fail */

/* Served by ingot-infer. */
bool version_is_model(const struct object *version);
/* How often replicas of this generation failed in a row. */
int64_t version_failures(const struct object *version);

/* It was changed in this write: until the controller has looked it is not said to serve. */
void version_unsettle(struct object *version);

#endif
