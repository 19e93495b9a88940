/* A growing byte buffer on the heap. `buf_init` or `= {0}`; `buf_release` frees. Always NUL-terminated once
 * something was appended. */
#ifndef INGOT_BASE_BUF_H
#define INGOT_BASE_BUF_H

#include "base/str.h"

#include <stdarg.h>

struct buf {
    char *p;
    size_t n, cap;
};

void buf_init(struct buf *b);
void buf_release(struct buf *b);
void buf_clear(struct buf *b); /* keeps the memory */
void buf_reserve(struct buf *b, size_t more);
void buf_add(struct buf *b, const void *p, size_t n);
void buf_str(struct buf *b, struct str s);
void buf_z(struct buf *b, const char *z);
void buf_char(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) printf_like(2, 3);
void buf_vprintf(struct buf *b, const char *fmt, va_list args);
/* Drops the first n bytes. */
void buf_consume(struct buf *b, size_t n);
static inline struct str buf_view(const struct buf *b)
{
    return (struct str){b->p, b->n};
}
#define auto_buf __attribute__((cleanup(buf_release)))

#endif
