/* The names of referenced objects ({"id": 7, "name": "x"}; of children also those of their parents), read in
 * one query per kind for a whole page. */
#ifndef INGOT_CORE_NAMES_H
#define INGOT_CORE_NAMES_H

#include "core/kinds.h"

struct names {
    struct arena *arena;
    struct name_entry *slots; /* open addressing, at most half full */
    size_t size;              /* a power of two */
};

/* Room for at most `most` different references. */
void names_init(struct names *n, struct arena *a, size_t most);
/* Wants a name; kind NULL and id 0 are ignored. */
void names_want(struct names *n, const struct kind *k, int64_t id);
/* Reads all that are wanted. */
bool names_load(struct names *n, struct db *db, struct err *err);
struct name_entry {
    const struct kind *kind;
    int64_t id, of;           /* of: the parent, 0 when it has none */
    struct str name, of_name; /* STR_NULL when the object is gone or has no name */
};
/* Of what was wanted. */
const struct name_entry *names_get(const struct names *n, const struct kind *k, int64_t id);

#endif
