/* A hash table from strings to pointers. Keys are copied. Not thread-safe. */
#ifndef INGOT_BASE_MAP_H
#define INGOT_BASE_MAP_H

#include "base/str.h"

struct map;
struct map *map_new(void);
void map_free(struct map *m); /* values are the caller's */
void *map_get(const struct map *m, struct str key);
/* Returns the former value (NULL if none); value must not be NULL. */
void *map_set(struct map *m, struct str key, void *value);
void *map_remove(struct map *m, struct str key);
size_t map_count(const struct map *m);
/* for (size_t i = 0; map_next(m, &i, &key, &value);) — no changes meanwhile. */
bool map_next(const struct map *m, size_t *i, struct str *ret_key, void **ret_value);

#endif
