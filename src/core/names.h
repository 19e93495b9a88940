/* The names of referenced objects ({"id": 7, "name": "x"}), read in one query per kind for a whole page. */
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
/* STR_NULL when the object is gone or has no name. */
struct str names_get(const struct names *n, const struct kind *k, int64_t id);

#endif
