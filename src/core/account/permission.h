/* The table of permissions, derived from the kinds: "<kind>.read|create|update|delete" for the verbs a kind
 * has, and what its actions name. Roles and tokens' scopes are lists of patterns over it: a name,
 * "dataset.*",
 * "*.read" or "*". The table is made at first use and never changes. */
#ifndef INGOT_CORE_ACCOUNT_PERMISSION_H
#define INGOT_CORE_ACCOUNT_PERMISSION_H

#include "core/kind.h"

struct permission {
    const char *name, *verb;
    const struct kind *kind; /* NULL: the platform's own */
    struct words title;
    bool in_project; /* can be held in one project */
};

#define PERMISSION_WORDS 8
#define PERMISSION_MAX   (PERMISSION_WORDS * 64)

struct permission_set {
    uint64_t word[PERMISSION_WORDS];
};

size_t permission_count(void);
const struct permission *permission_at(size_t i); /* in order of name */
/* Its place in the table, -1 when there is none. */
ptrdiff_t permission_find(const char *name);

bool permission_has(const struct permission_set *set, ptrdiff_t index);
void permission_add(struct permission_set *set, ptrdiff_t index);
void permission_unite(struct permission_set *set, const struct permission_set *other);
void permission_narrow(struct permission_set *set, const struct permission_set *other);
bool permission_contains(const struct permission_set *set, const struct permission_set *part);
struct permission_set permission_all(void);
struct permission_set permission_of_projects(void); /* all that are in_project */

/* Adds what the pattern means; false when it means nothing. */
bool permission_match(struct str pattern, struct permission_set *set);
/* Adds what a JSON list of patterns means. Patterns that mean nothing (of a kind that is gone) are skipped;
 * false only when the text is no list of texts. */
bool permission_parse(struct arena *a, struct str json, struct permission_set *set);
/* The check of fields that hold such lists. */
bool permission_check(struct arena *a, const struct field *f, const struct db_value *value, struct err *err);

#endif
