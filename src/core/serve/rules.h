/* The rules of a service for its canary, as people give them:
 * {"error_rate": 0.02, "p95_ratio": 1.5, "min_requests": 50, "golden_drop": 0.02, "agreement": 0.95,
 * "action": "rollback"}. All are optional; without error_rate and p95_ratio the canary's requests are not
 * judged, without golden_drop and agreement it is not held against production on the golden version. */
#ifndef INGOT_CORE_SERVE_RULES_H
#define INGOT_CORE_SERVE_RULES_H

#include "core/kind.h"
#include "core/serve/judge.h"

/* The members of the field, ended by name NULL. */
extern const struct field rules_members[];

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
