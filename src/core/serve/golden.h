/* Canaries on the golden version of their service: a published dataset version whose labels are the truth.
 * Production's model and the canary's are evaluated on it (core/evaluate), once each, as any evaluation; when
 * both reports are there the canary is held against production by the rules golden_drop and agreement. What
 * breaks one beyond chance is stopped or rolled back, as by the rules about requests. */
#ifndef INGOT_CORE_SERVE_GOLDEN_H
#define INGOT_CORE_SERVE_GOLDEN_H

#include "core/engine.h"

/* The field golden_result: what came of it. */
#define GOLDEN_SCHEMA                                                                                        \
    "{\"type\":[\"object\",\"null\"],\"properties\":{"                                                       \
    "\"state\":{\"type\":\"string\",\"enum\":[\"evaluating\",\"kept\",\"broken\",\"failed\"]},"              \
    "\"production\":{\"type\":\"integer\",\"description\":\"its service version\"},"                         \
    "\"canary\":{\"type\":\"integer\",\"description\":\"its service version\"},"                             \
    "\"production_evaluation\":{\"type\":[\"integer\",\"null\"]},"                                           \
    "\"canary_evaluation\":{\"type\":[\"integer\",\"null\"]},"                                               \
    "\"figure\":{\"type\":\"string\"},\"production_value\":{\"type\":[\"number\",\"null\"]},"                \
    "\"canary_value\":{\"type\":[\"number\",\"null\"]},\"low\":{\"type\":[\"number\",\"null\"]},"            \
    "\"high\":{\"type\":[\"number\",\"null\"]},\"samples\":{\"type\":\"integer\"},"                          \
    "\"agree\":{\"type\":\"integer\"},\"agree_low\":{\"type\":\"number\"},"                                  \
    "\"agree_high\":{\"type\":\"number\"},\"reason\":{\"type\":\"string\"},"                                 \
    "\"reason_zh\":{\"type\":\"string\"}}}"

/* Inside a write: the version that a service is given as golden must be published. */
bool golden_check(struct op *op, const struct object *service, struct err *err);

#endif
