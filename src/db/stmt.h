/* Prepared statements of one connection by key, the least recently used given up first. */
#ifndef INGOT_DB_STMT_H
#define INGOT_DB_STMT_H

#include "base/str.h"

struct stmt_cache;
/* drop frees a handle that is given up. */
struct stmt_cache *stmt_cache_new(size_t max, void (*drop)(void *owner, void *handle), void *owner);
void stmt_cache_free(struct stmt_cache *s);
void *stmt_cache_get(struct stmt_cache *s, struct str key);
/* key must not be there. */
void stmt_cache_add(struct stmt_cache *s, struct str key, void *handle);
void stmt_cache_drop(struct stmt_cache *s, struct str key);

#endif
