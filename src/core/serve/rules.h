/* The rules of a service for its canary, as people give them:
 * {"error_rate": 0.02, "p95_ratio": 1.5, "min_requests": 50, "golden_drop": 0.02, "agreement": 0.95,
 * "action": "rollback"}. All are optional; without error_rate and p95_ratio the canary's requests are not
 * judged, without golden_drop and agreement it is not held against production on the golden version. */
#ifndef INGOT_CORE_SERVE_RULES_H
#define INGOT_CORE_SERVE_RULES_H

#include "core/kind.h"
#include "core/serve/judge.h"

#define RULES_SCHEMA                                                                                         \
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"                                   \
    "\"error_rate\":{\"type\":[\"number\",\"null\"],\"minimum\":0,\"maximum\":1},"                           \
    "\"p95_ratio\":{\"type\":[\"number\",\"null\"],\"minimum\":1,\"maximum\":1000},"                         \
    "\"min_requests\":{\"type\":[\"integer\",\"null\"],\"minimum\":1,\"maximum\":1000000},"                  \
    "\"golden_drop\":{\"type\":[\"number\",\"null\"],\"minimum\":0,\"maximum\":1},"                          \
    "\"agreement\":{\"type\":[\"number\",\"null\"],\"minimum\":0,\"maximum\":1},"                            \
    "\"action\":{\"type\":[\"string\",\"null\"],\"enum\":[\"stop\",\"rollback\",null]}}}"

bool rules_check(struct arena *a, const struct field *f, const struct db_value *value, struct err *err);
/* False: there is nothing to judge by. *ret_rollback: a bad canary is retired; else it only gets no more
 * requests. */
bool rules_read(struct arena *a, struct str text, struct judge_rules *ret, bool *ret_rollback);

/* What a canary has to keep to on the golden version. */
struct golden_rules {
    double drop;      /* the main figure may be so much worse than production's; below 0: no rule */
    double agreement; /* the least part of the samples that both say the same of; below 0: no rule */
};
bool rules_read_golden(struct arena *a, struct str text, struct golden_rules *ret, bool *ret_rollback);

#endif
