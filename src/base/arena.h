/* Memory with one lifetime: allocate freely, release all at once. One per request, job tick, command, chunk.
 * Not thread-safe. An allocation never fails (the program ends when memory is gone), so sizes that a client
 * controls are limited before they reach it. Memory is aligned for any type. */
#ifndef INGOT_BASE_ARENA_H
#define INGOT_BASE_ARENA_H

#include "base/str.h"

#include <stdarg.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks;
    char *at, *end;
};

void arena_init(struct arena *a);
void arena_release(struct arena *a);      /* may be initialised or used again afterwards */
size_t arena_size(const struct arena *a); /* bytes that it has taken */

/* Chunks of released arenas that the next ones begin with, for a thread that makes and releases many. Zeroed
 * at first. */
struct arena_spares {
    struct arena_chunk *chunks;
    unsigned count;
};
void arena_init_spare(struct arena *a, struct arena_spares *s);
void arena_release_spare(struct arena *a, struct arena_spares *s);
void arena_spares_release(struct arena_spares *s);

void *arena_alloc(struct arena *a, size_t size) __attribute__((returns_nonnull));
void *arena_zalloc(struct arena *a, size_t size) __attribute__((returns_nonnull));
void *arena_copy(struct arena *a, const void *p, size_t n);
/* Grows the newest allocation in place when possible. */
void *arena_grow(struct arena *a, void *p, size_t old_size, size_t new_size);
char *arena_strdup(struct arena *a, const char *z);  /* NULL stays NULL */
char *arena_strz(struct arena *a, struct str s);     /* NUL-terminated copy */
struct str arena_str(struct arena *a, struct str s); /* copy, also NUL-terminated */
char *arena_printf(struct arena *a, const char *fmt, ...) printf_like(2, 3);
char *arena_vprintf(struct arena *a, const char *fmt, va_list args);

#define arena_new(a, type)          ((type *)arena_zalloc((a), sizeof(type)))
#define arena_array(a, type, count) ((type *)arena_zalloc((a), sizeof(type) * (count)))

static inline void arena_release_ptr(struct arena *a)
{
    arena_release(a);
}
#define auto_arena __attribute__((cleanup(arena_release_ptr)))

#endif
