#include "base/arena.h"

#include <stdalign.h>
#include <stdio.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_EXACT 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_EXACT 1
#endif
#endif

enum { CHUNK_MIN = 4096, CHUNK_MAX = 256 * 1024 };
enum { SPARE_SIZE = 8192, SPARE_COUNT = 16 }; /* most requests fit one */
enum { ALIGN = alignof(max_align_t) };

struct arena_chunk {
    struct arena_chunk *next;
    size_t size; /* of data */
    alignas(max_align_t) char data[];
};

void arena_init(struct arena *a)
{
    *a = (struct arena){0};
}

void arena_release(struct arena *a)
{
    for (struct arena_chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    *a = (struct arena){0};
}

size_t arena_size(const struct arena *a)
{
    size_t n = 0;
    for (const struct arena_chunk *c = a->chunks; c; c = c->next)
        n += sizeof *c + c->size;
    return n;
}

static struct arena_chunk *chunk_new(size_t size)
{
    if (size > PTRDIFF_MAX / 2) {
        fprintf(stderr, "ingot: an allocation of %zu bytes\n", size);
        abort();
    }
    struct arena_chunk *c = base_alloc(sizeof *c + size);
    c->size = size;
    return c;
}

static void *alloc_slow(struct arena *a, size_t size)
{
#ifdef ARENA_EXACT
    /* Under ASan every allocation is a block of its own, so that it sees each byte too far. */
    struct arena_chunk *own = chunk_new(size);
    own->next = a->chunks;
    a->chunks = own;
    return own->data;
#else
    size_t usual = a->chunks ? a->chunks->size * 2 : CHUNK_MIN;
    usual = usual < CHUNK_MIN ? CHUNK_MIN : usual > CHUNK_MAX ? CHUNK_MAX : usual;
    if (size > usual / 2 && a->chunks) {
        /* A large one goes behind the current chunk, whose rest stays in use. */
        struct arena_chunk *c = chunk_new(size);
        c->next = a->chunks->next;
        a->chunks->next = c;
        return c->data;
    }
    struct arena_chunk *c = chunk_new(size > usual ? size : usual);
    c->next = a->chunks;
    a->chunks = c;
    a->at = c->data + size;
    a->end = c->data + c->size;
    return c->data;
#endif
}

void arena_init_spare(struct arena *a, struct arena_spares *s)
{
    arena_init(a);
#ifndef ARENA_EXACT
    struct arena_chunk *c = s->chunks;
    if (c) {
        s->chunks = c->next;
        s->count--;
    } else {
        c = chunk_new(SPARE_SIZE);
    }
    c->next = NULL;
    *a = (struct arena){c, c->data, c->data + c->size};
#else
    (void)s;
#endif
}

void arena_release_spare(struct arena *a, struct arena_spares *s)
{
    for (struct arena_chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        if (c->size == SPARE_SIZE && s->count < SPARE_COUNT) {
            c->next = s->chunks;
            s->chunks = c;
            s->count++;
        } else {
            free(c);
        }
    }
    arena_init(a);
}

void arena_spares_release(struct arena_spares *s)
{
    arena_release(&(struct arena){.chunks = s->chunks});
    *s = (struct arena_spares){0};
}

void *arena_alloc(struct arena *a, size_t size)
{
    if (size > PTRDIFF_MAX / 2)
        return alloc_slow(a, size);
#ifdef ARENA_EXACT
    size_t rounded = size;
#else
    size_t rounded = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
#endif
    if (a->at && rounded <= (size_t)(a->end - a->at)) {
        void *p = a->at;
        a->at += rounded;
        return p;
    }
    return alloc_slow(a, rounded);
}

void *arena_zalloc(struct arena *a, size_t size)
{
    return memset(arena_alloc(a, size), 0, size);
}

void *arena_copy(struct arena *a, const void *p, size_t n)
{
    void *q = arena_alloc(a, n);
    if (n)
        memcpy(q, p, n);
    return q;
}

void *arena_grow(struct arena *a, void *p, size_t old_size, size_t new_size)
{
    if (new_size <= old_size && p)
        return p;
#ifndef ARENA_EXACT
    size_t rounded = (old_size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (p && a->at && (char *)p + rounded == a->at && new_size <= (size_t)(a->end - (char *)p)) {
        size_t want = (new_size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
        a->at = want <= (size_t)(a->end - (char *)p) ? (char *)p + want : a->end;
        return p;
    }
#endif
    void *q = arena_alloc(a, new_size);
    if (p && old_size)
        memcpy(q, p, old_size);
    return q;
}

char *arena_strdup(struct arena *a, const char *z)
{
    return z ? arena_copy(a, z, strlen(z) + 1) : NULL;
}

char *arena_strz(struct arena *a, struct str s)
{
    char *p = arena_alloc(a, s.n + 1);
    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = 0;
    return p;
}

struct str arena_str(struct arena *a, struct str s)
{
    return s.p ? (struct str){arena_strz(a, s), s.n} : STR_NULL;
}

char *arena_vprintf(struct arena *a, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    char small[256];
    int n = vsnprintf(small, sizeof small, fmt, args);
    char *p;
    if (n < 0) {
        p = arena_strdup(a, "");
    } else if ((size_t)n < sizeof small) {
        p = arena_copy(a, small, (size_t)n + 1);
    } else {
        p = arena_alloc(a, (size_t)n + 1);
        vsnprintf(p, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *p = arena_vprintf(a, fmt, args);
    va_end(args);
    return p;
}
