#include "base/str.h"

#include <math.h>

struct str str_of(const char *z)
{
    return z ? (struct str){z, strlen(z)} : STR_NULL;
}

bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool str_is(struct str a, const char *z)
{
    return str_eq(a, str_of(z));
}

static unsigned char lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : c;
}

bool str_ieq(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (lower((unsigned char)a.p[i]) != lower((unsigned char)b.p[i]))
            return false;
    return true;
}

bool str_starts(struct str s, const char *prefix)
{
    size_t n = strlen(prefix);
    return s.n >= n && (n == 0 || memcmp(s.p, prefix, n) == 0);
}

bool str_ends(struct str s, const char *suffix)
{
    size_t n = strlen(suffix);
    return s.n >= n && (n == 0 || memcmp(s.p + s.n - n, suffix, n) == 0);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
    while (s.n && is_space(s.p[0]))
        s = (struct str){s.p + 1, s.n - 1};
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

struct str str_cut(struct str s, char sep, struct str *rest)
{
    const char *at = s.n ? memchr(s.p, sep, s.n) : NULL;
    if (!at) {
        *rest = STR_NULL;
        return s;
    }
    size_t n = (size_t)(at - s.p);
    *rest = (struct str){at + 1, s.n - n - 1};
    return (struct str){s.p, n};
}

ptrdiff_t str_find(struct str s, struct str what)
{
    if (what.n == 0)
        return 0;
    if (s.n < what.n)
        return -1;
    const char *at = memmem(s.p, s.n, what.p, what.n);
    return at ? at - s.p : -1;
}

bool str_to_u64(struct str s, uint64_t *ret)
{
    uint64_t v = 0;
    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(s.p[i] - '0'), &v))
            return false;
    }
    *ret = v;
    return true;
}

bool str_to_i64(struct str s, int64_t *ret)
{
    bool minus = s.n && s.p[0] == '-';
    uint64_t v;
    if (!str_to_u64(minus ? (struct str){s.p + 1, s.n - 1} : s, &v))
        return false;
    if (v > (uint64_t)INT64_MAX + minus)
        return false;
    *ret = minus ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

static size_t digits(struct str s, size_t *i)
{
    size_t from = *i;
    while (*i < s.n && s.p[*i] >= '0' && s.p[*i] <= '9')
        ++*i;
    return *i - from;
}

/* -?digits(.digits)?([eE][+-]?digits)? */
static bool looks_real(struct str s)
{
    size_t i = s.n && s.p[0] == '-';
    if (!digits(s, &i))
        return false;
    if (i < s.n && s.p[i] == '.') {
        i++;
        if (!digits(s, &i))
            return false;
    }
    if (i < s.n && (s.p[i] == 'e' || s.p[i] == 'E')) {
        i++;
        if (i < s.n && (s.p[i] == '+' || s.p[i] == '-'))
            i++;
        if (!digits(s, &i))
            return false;
    }
    return i == s.n;
}

bool str_to_real(struct str s, double *ret)
{
    char text[400];
    if (s.n >= sizeof text || !looks_real(s))
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    double v = strtod(text, NULL);
    if (!isfinite(v))
        return false;
    *ret = v;
    return true;
}

/* The length of the valid sequence at p, 0 when there is none. */
static size_t sequence(const unsigned char *p, size_t n)
{
    if (p[0] < 0x80)
        return 1;
    size_t want = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || n < want)
        return 0;
    for (size_t i = 1; i < want; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
        (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return want;
}

size_t utf8_sequence(struct str s)
{
    return s.n ? sequence((const unsigned char *)s.p, s.n) : 0;
}

bool utf8_valid(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    for (size_t i = 0; i < s.n;) {
        size_t n = sequence(p + i, s.n - i);
        if (!n)
            return false;
        i += n;
    }
    return true;
}

size_t utf8_count(struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

uint32_t utf8_next(struct str s, size_t *i)
{
    const unsigned char *p = (const unsigned char *)s.p + *i;
    size_t n = sequence(p, s.n - *i);
    *i += n ? n : 1;
    switch (n) {
    case 1:
        return p[0];
    case 2:
        return (uint32_t)(p[0] & 0x1f) << 6 | (p[1] & 0x3f);
    case 3:
        return (uint32_t)(p[0] & 0x0f) << 12 | (uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
    case 4:
        return (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3f) << 12 | (uint32_t)(p[2] & 0x3f) << 6 |
               (p[3] & 0x3f);
    default:
        return 0xfffd;
    }
}
