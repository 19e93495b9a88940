/* The rules of a service for its canary, as people give them:
 * {"error_rate": 0.02, "p95_ratio": 1.5, "min_requests": 50, "action": "rollback"}. All are optional; without
 * error_rate and p95_ratio the canary is not judged. */
#ifndef INGOT_CORE_SERVE_RULES_H
#define INGOT_CORE_SERVE_RULES_H

#include "core/kind.h"
#include "core/serve/judge.h"

#define RULES_SCHEMA                                                                                         \
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"                                   \
    "\"error_rate\":{\"type\":[\"number\",\"null\"],\"minimum\":0,\"maximum\":1},"                           \
    "\"p95_ratio\":{\"type\":[\"number\",\"null\"],\"minimum\":1,\"maximum\":1000},"                         \
    "\"min_requests\":{\"type\":[\"integer\",\"null\"],\"minimum\":1,\"maximum\":1000000},"                  \
    "\"action\":{\"type\":[\"string\",\"null\"],\"enum\":[\"stop\",\"rollback\",null]}}}"

bool rules_check(struct arena *a, const struct field *f, const struct db_value *value, struct err *err);
/* False: there is nothing to judge by. *ret_rollback: a bad canary is retired; else it only gets no more
 * requests. */
bool rules_read(struct arena *a, struct str text, struct judge_rules *ret, bool *ret_rollback);

#endif
