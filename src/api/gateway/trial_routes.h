/* Trying a model version (core/serve/trial.h) and a manifest of it by the platform's own API. */
#ifndef INGOT_API_GATEWAY_TRIAL_ROUTES_H
#define INGOT_API_GATEWAY_TRIAL_ROUTES_H

#include "api/route.h"

extern const struct route trial_routes[];

#endif
