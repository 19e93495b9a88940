/* What every file may assume: the standard integer types, a few macros, cleanup attributes. */
#ifndef INGOT_BASE_BASE_H
#define INGOT_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define countof(a)            (sizeof(a) / sizeof((a)[0]))
#define container_of(p, t, m) ((t *)((char *)(p)-offsetof(t, m)))
#define printf_like(f, a)     __attribute__((format(printf, f, a)))
#define unused_ok             __attribute__((unused)) /* not "unused": headers of libraries write that word */

static inline void base_free_ptr(void *p)
{
    free(*(void **)p);
}

static inline void base_close_fd(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

/* Scope cleanup: auto_free char *p = NULL; auto_fd int fd = -1; */
#define auto_free __attribute__((cleanup(base_free_ptr)))
#define auto_fd   __attribute__((cleanup(base_close_fd)))

/* malloc that ends the program instead of returning NULL; for sizes that no client controls. */
void *base_alloc(size_t size) __attribute__((malloc, returns_nonnull));
void *base_zalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *base_realloc(void *p, size_t size) __attribute__((returns_nonnull));
char *base_strdup(const char *s) __attribute__((malloc, returns_nonnull));

#endif
