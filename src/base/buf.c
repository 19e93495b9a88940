#include "base/buf.h"

#include <stdio.h>

void buf_init(struct buf *b)
{
    *b = (struct buf){0};
}

void buf_release(struct buf *b)
{
    free(b->p);
    *b = (struct buf){0};
}

void buf_clear(struct buf *b)
{
    b->n = 0;
    if (b->p)
        b->p[0] = 0;
}

void buf_reserve(struct buf *b, size_t more)
{
    size_t need;
    if (__builtin_add_overflow(b->n, more, &need) || need > PTRDIFF_MAX / 2) {
        fprintf(stderr, "ingot: a buffer of more than %zu bytes\n", more);
        abort();
    }
    need++; /* the NUL */
    if (need <= b->cap)
        return;
    size_t cap = b->cap ? b->cap + b->cap / 2 : 64;
    b->cap = cap < need ? need : cap;
    b->p = base_realloc(b->p, b->cap);
}

void buf_add(struct buf *b, const void *p, size_t n)
{
    buf_reserve(b, n);
    if (n)
        memcpy(b->p + b->n, p, n);
    b->n += n;
    b->p[b->n] = 0;
}

void buf_str(struct buf *b, struct str s)
{
    buf_add(b, s.p, s.n);
}

void buf_z(struct buf *b, const char *z)
{
    buf_add(b, z, strlen(z));
}

void buf_char(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_vprintf(struct buf *b, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    buf_reserve(b, 64);
    int n = vsnprintf(b->p + b->n, b->cap - b->n, fmt, args);
    if (n >= 0 && (size_t)n >= b->cap - b->n) {
        buf_reserve(b, (size_t)n);
        vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    if (n > 0)
        b->n += (size_t)n;
    b->p[b->n] = 0;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    buf_vprintf(b, fmt, args);
    va_end(args);
}

void buf_consume(struct buf *b, size_t n)
{
    if (n == 0)
        return;
    if (n > b->n)
        n = b->n;
    if (b->n)
        memmove(b->p, b->p + n, b->n - n);
    b->n -= n;
    if (b->p)
        b->p[b->n] = 0;
}
