#include "base/base.h"

#include <stdio.h>

static void out_of_memory(size_t size)
{
    fprintf(stderr, "ingot: out of memory (%zu bytes)\n", size);
    abort();
}

void *base_alloc(size_t size)
{
    void *p = malloc(size ? size : 1);
    if (!p)
        out_of_memory(size);
    return p;
}

void *base_zalloc(size_t size)
{
    void *p = calloc(1, size ? size : 1);
    if (!p)
        out_of_memory(size);
    return p;
}

void *base_realloc(void *p, size_t size)
{
    void *q = realloc(p, size ? size : 1);
    if (!q)
        out_of_memory(size);
    return q;
}

char *base_strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char *p = base_alloc(n);
    memcpy(p, s, n);
    return p;
}
