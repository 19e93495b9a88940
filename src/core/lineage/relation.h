/* How kinds are related by what was made from what: one row for each way. To add a kind to the lineage, add
 * its rows in relation.c; nothing else knows kinds. */
#ifndef INGOT_CORE_LINEAGE_RELATION_H
#define INGOT_CORE_LINEAGE_RELATION_H

#include "core/engine.h"

/* Where it is written down. */
enum relation_by {
    RELATION_TO,   /* a field of what was made refers to what it was made from */
    RELATION_FROM, /* a field of the source refers to what was made of it */
    RELATION_ROW,  /* core/made_from.h */
    RELATION_ANY,  /* RELATION_TO by two fields, of which `<field>_kind` names the kind */
};

struct relation {
    const char *as;        /* what the source was for it: "data" */
    const char *from, *to; /* kinds: the source, and what was made of it */
    enum relation_by by;
    const char *field; /* but of RELATION_ROW */
    const char *only;  /* RELATION_ROW: a further condition in SQL, or NULL */
};
extern const struct relation relations[];
extern const size_t relation_count;

/* Whether any row names the kind. */
bool relation_has(const struct kind *k);
/* "dataset_version, ...": for refusals. */
const char *relation_kinds(struct arena *a);

/* Objects of one kind whose neighbours are wanted. */
struct relation_near {
    const struct object *const *o;
    size_t n;
};
/* near and far: ids of the two that are related. */
struct relation_pair {
    int64_t near, far;
};
/* The sources of `near` (up) or what was made of them, at most `most`, the newest first; in the arena. */
bool relation_find(const struct relation *r, bool up, const struct relation_near *near, int64_t most,
                   struct db_conn *c, struct arena *a, struct relation_pair **ret, size_t *ret_n,
                   struct err *err);

#endif
