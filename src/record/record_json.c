#include "record_json.h"

#include "record_internal.h"

#define MAX_DEPTH 128

void record_json_init(struct record_json *j, const char *text, size_t size)
{
    *j = (struct record_json){.p = text, .end = text + size};
}

static bool fail(struct record_json *j, const char *what)
{
    if (!j->what)
        j->what = what;
    return false;
}

char record_json_peek(struct record_json *j)
{
    while (j->p < j->end && (*j->p == ' ' || *j->p == '\t' || *j->p == '\n' || *j->p == '\r'))
        j->p++;
    return j->p < j->end ? *j->p : 0;
}

bool record_json_take(struct record_json *j, char c)
{
    if (record_json_peek(j) != c || j->p == j->end)
        return false;
    j->p++;
    return true;
}

static int hex4(struct record_json *j)
{
    int v = 0;
    if (j->end - j->p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = *j->p++;
        int d = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
        if (d < 0)
            return -1;
        v = v << 4 | d;
    }
    return v;
}

static size_t utf8_put(uint32_t c, char out[4])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n; --i; c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)(lead[n] | c);
    return n;
}

/* After "\u": one code point, with its second half if it is a surrogate pair. */
static bool unicode_escape(struct record_json *j, uint32_t *ret)
{
    int hi = hex4(j);
    if (hi < 0)
        return fail(j, "a \\u escape without four hex digits");
    if (hi >= 0xDC00 && hi <= 0xDFFF)
        return fail(j, "a lone surrogate in a \\u escape");
    *ret = (uint32_t)hi;
    if (hi < 0xD800 || hi > 0xDBFF)
        return true;
    if (j->end - j->p < 6 || j->p[0] != '\\' || j->p[1] != 'u')
        return fail(j, "a lone surrogate in a \\u escape");
    j->p += 2;
    int lo = hex4(j);
    if (lo < 0xDC00 || lo > 0xDFFF)
        return fail(j, "a lone surrogate in a \\u escape");
    *ret = 0x10000 + ((uint32_t)(hi - 0xD800) << 10) + (uint32_t)(lo - 0xDC00);
    return true;
}

static bool escape(struct record_json *j, char out[4], size_t *ret_n)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    uint32_t c;
    if (j->p == j->end)
        return fail(j, "a string without an end");
    char e = *j->p++;
    const char *at = e ? strchr(from, e) : NULL;
    if (at) {
        out[0] = to[at - from];
        *ret_n = 1;
        return true;
    }
    if (e != 'u')
        return fail(j, "an unknown escape in a string");
    if (!unicode_escape(j, &c))
        return false;
    *ret_n = utf8_put(c, out);
    return true;
}

/* out NULL: only checked. */
static bool string(struct record_json *j, char *out, size_t size)
{
    size_t used = 0;
    if (!record_json_take(j, '"'))
        return fail(j, "no string where one is needed");
    while (j->p < j->end && *j->p != '"') {
        char piece[4] = {*j->p++};
        size_t n = 1;
        if ((unsigned char)piece[0] < 0x20)
            return fail(j, "a control character in a string");
        if (piece[0] == '\\' && !escape(j, piece, &n))
            return false;
        if (!out)
            continue;
        if (piece[0] == 0)
            return fail(j, "a NUL character in a string");
        if (used + n >= size)
            return fail(j, "a string that is too long");
        memcpy(out + used, piece, n);
        used += n;
    }
    if (j->p == j->end)
        return fail(j, "a string without an end");
    j->p++;
    if (out)
        out[used] = 0;
    return true;
}

bool record_json_string(struct record_json *j, char *out, size_t size)
{
    return string(j, out, size);
}

static bool digits(struct record_json *j)
{
    const char *start = j->p;
    while (j->p < j->end && *j->p >= '0' && *j->p <= '9')
        j->p++;
    return j->p > start;
}

static bool number(struct record_json *j)
{
    if (*j->p == '-')
        j->p++;
    bool zero = j->p < j->end && *j->p == '0';
    const char *start = j->p;
    if (!digits(j) || (zero && j->p - start > 1))
        return fail(j, "a malformed number");
    if (j->p < j->end && *j->p == '.') {
        j->p++;
        if (!digits(j))
            return fail(j, "a malformed number");
    }
    if (j->p < j->end && (*j->p == 'e' || *j->p == 'E')) {
        j->p++;
        if (j->p < j->end && (*j->p == '+' || *j->p == '-'))
            j->p++;
        if (!digits(j))
            return fail(j, "a malformed number");
    }
    return true;
}

bool record_json_int(struct record_json *j, int64_t *ret)
{
    record_json_peek(j);
    bool minus = j->p < j->end && *j->p == '-';
    if (minus)
        j->p++;
    int64_t v = 0;
    const char *start = j->p;
    while (j->p < j->end && *j->p >= '0' && *j->p <= '9') {
        if (j->p - start >= 15)
            return fail(j, "a number that is too large");
        v = v * 10 + (*j->p++ - '0');
    }
    if (j->p == start || (j->p < j->end && (*j->p == '.' || *j->p == 'e' || *j->p == 'E')))
        return fail(j, "no whole number where one is needed");
    *ret = minus ? -v : v;
    return true;
}

bool record_json_next(struct record_json *j, char close, bool *first)
{
    if (j->what)
        return false;
    if (record_json_take(j, close))
        return false;
    if (!*first && !record_json_take(j, ','))
        return fail(j, "no comma or closing bracket where one is needed");
    *first = false;
    return true;
}

bool record_json_member(struct record_json *j, char *out, size_t size)
{
    if (!string(j, out, size))
        return false;
    return record_json_take(j, ':') || fail(j, "no colon after a member's name");
}

static bool word(struct record_json *j, const char *w)
{
    size_t n = strlen(w);
    if ((size_t)(j->end - j->p) < n || memcmp(j->p, w, n) != 0)
        return fail(j, "something that is not JSON");
    j->p += n;
    return true;
}

bool record_json_skip(struct record_json *j)
{
    char c = record_json_peek(j), close = c == '{' ? '}' : ']';
    if (c == '"')
        return string(j, NULL, 0);
    if (c == '-' || (c >= '0' && c <= '9'))
        return number(j);
    if (c != '{' && c != '[')
        return word(j, c == 't' ? "true" : c == 'f' ? "false" : "null");
    if (++j->depth > MAX_DEPTH)
        return fail(j, "more than 128 levels of nesting");
    j->p++;
    for (bool first = true; record_json_next(j, close, &first);) {
        if (c == '{' && !record_json_member(j, NULL, 0))
            return false;
        if (!record_json_skip(j))
            return false;
    }
    j->depth--;
    return !j->what;
}

bool record_json_valid(const char *text, size_t size)
{
    struct record_json j;
    record_json_init(&j, text, size);
    return record_utf8_valid(text, size) && record_json_skip(&j) && record_json_peek(&j) == 0 && j.p == j.end;
}

bool record_utf8_valid(const void *data, size_t size)
{
    const unsigned char *p = data, *end = p + size;
    while (p < end) {
        if (*p < 0x80) {
            p++;
            continue;
        }
        unsigned n = *p >= 0xF0 ? 4 : *p >= 0xE0 ? 3 : 2;
        if (*p < 0xC2 || *p > 0xF4 || (size_t)(end - p) < n)
            return false;
        unsigned low = *p == 0xE0 ? 0xA0 : *p == 0xF0 ? 0x90 : 0x80;
        unsigned high = *p == 0xED ? 0x9F : *p == 0xF4 ? 0x8F : 0xBF;
        if (p[1] < low || p[1] > high)
            return false;
        for (unsigned i = 2; i < n; i++)
            if ((p[i] & 0xC0) != 0x80)
                return false;
        p += n;
    }
    return true;
}
