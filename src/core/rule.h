/* Rules for texts, by name: which characters, what shape. Lengths are the field's own (min, max).
 * One table, shown in the API's description of the kinds and used by every check. */
#ifndef INGOT_CORE_RULE_H
#define INGOT_CORE_RULE_H

#include "base/arena.h"
#include "base/err.h"

struct rule {
    const char *name;           /* "name", as in struct field */
    const char *says, *says_zh; /* the rule as people read it: "names are 1 to 50 characters without ..." */
    const char *pattern;        /* ECMA 262 regular expression of the same, for OpenAPI; NULL: none */
    int64_t min, max;           /* characters, when the field has none */
    /* NULL: any text. Returns what is wrong ("contains \"/\""), written to why, or NULL. */
    const char *(*wrong)(struct str text, char why[80]);
};

/* NULL when there is no such rule. */
const struct rule *rule_find(const char *name);
/* text is valid UTF-8. ERR_INVALID naming field, value (shortened) and rule. */
bool rule_check(const struct rule *r, const char *field, struct str text, struct err *err);
/* The value as shown in errors: quoted, at most 40 characters, in a static-size buffer. */
#define RULE_SHORT 176
const char *rule_short(struct str text, char ret[RULE_SHORT]);

extern const struct rule rules[];
extern const size_t rule_count;

#endif
