/* A borrowed string: pointer and length, not necessarily NUL-terminated, never freed through this type. */
#ifndef INGOT_BASE_STR_H
#define INGOT_BASE_STR_H

#include "base/base.h"

struct str {
    const char *p;
    size_t n;
};

#define STR(lit)   ((struct str){(lit), sizeof(lit) - 1})
#define STR_NULL   ((struct str){NULL, 0})
#define STR_FMT    "%.*s"
#define STR_ARG(s) (int)(s).n, (s).p ? (s).p : ""

struct str str_of(const char *z); /* NULL gives STR_NULL */
bool str_eq(struct str a, struct str b);
bool str_is(struct str a, const char *z);
bool str_ieq(struct str a, struct str b); /* ASCII case ignored */
bool str_starts(struct str s, const char *prefix);
bool str_ends(struct str s, const char *suffix);
struct str str_trim(struct str s); /* ASCII white space at both ends */
/* Cuts s at the first sep: the part before is returned, *rest is what follows (STR_NULL when there was none).
 */
struct str str_cut(struct str s, char sep, struct str *rest);
ptrdiff_t str_find(struct str s, struct str what); /* -1 when absent */
/* Strict decimal numbers: the whole string, in range, no sign for u64; false leaves *ret. */
bool str_to_i64(struct str s, int64_t *ret);
bool str_to_u64(struct str s, uint64_t *ret);
bool str_to_real(struct str s, double *ret); /* finite only */

/* UTF-8: valid (no overlong, no surrogates, NUL allowed as a byte), count of characters (code points). */
bool utf8_valid(struct str s);
size_t utf8_count(struct str s);
/* The bytes of the valid character that s starts with; 0 when there is none. */
size_t utf8_sequence(struct str s);
/* The code point at *i, which moves past it; an invalid byte reads as U+FFFD. */
uint32_t utf8_next(struct str s, size_t *i);

#endif
