#include "codec/scan.h"

enum { PLAIN, QUOTE, OPEN, CLOSE };

static const uint8_t class_of[256] = {
    ['"'] = QUOTE, ['{'] = OPEN, ['['] = OPEN, ['}'] = CLOSE, [']'] = CLOSE};

void scan_init(struct scan *s, struct str text)
{
    if (str_starts(text, "\xef\xbb\xbf"))
        text = (struct str){text.p + 3, text.n - 3};
    *s = (struct scan){text.p, text.p, text.p ? text.p + text.n : NULL};
}

static bool broken(const struct scan *s, const char *what, struct err *err)
{
    return err_set(err, ERR_MALFORMED, NULL, "not valid JSON at byte %zu: %s", (size_t)(s->at - s->start),
                   what);
}

char scan_peek(struct scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\r' || *s->at == '\t'))
        s->at++;
    return s->at < s->end ? *s->at : 0;
}

bool scan_enter(struct scan *s, char open)
{
    if (scan_peek(s) != open)
        return false;
    s->at++;
    return true;
}

/* Past the string that starts at p (a quote); NULL when it does not end. */
static const char *string_end(const char *p, const char *end)
{
    for (const char *q = p + 1; q < end; q++) {
        q = memchr(q, '"', (size_t)(end - q));
        if (!q)
            return NULL;
        size_t escapes = 0;
        while (q - 1 - escapes > p && q[-1 - (ptrdiff_t)escapes] == '\\')
            escapes++;
        if (escapes % 2 == 0)
            return q + 1;
    }
    return NULL;
}

bool scan_key(struct scan *s, struct str *ret, bool *ret_end, struct err *err)
{
    char c = scan_peek(s);
    if (c == ',') {
        s->at++;
        c = scan_peek(s);
    } else if (c == '}') {
        s->at++;
        *ret_end = true;
        return true;
    }
    if (c != '"')
        return broken(s, c ? "a key is expected" : "it ends in the middle", err);
    const char *from = s->at, *to = string_end(from, s->end);
    if (!to)
        return broken(s, "a string does not end", err);
    s->at = to;
    if (scan_peek(s) != ':')
        return broken(s, "':' is expected", err);
    s->at++;
    *ret = (struct str){from + 1, (size_t)(to - from) - 2};
    *ret_end = false;
    return true;
}

bool scan_element(struct scan *s, bool first, bool *ret_end, struct err *err)
{
    char c = scan_peek(s);
    *ret_end = c == ']';
    if (c == ']') {
        s->at++;
        return true;
    }
    if (!c)
        return broken(s, "it ends in the middle of a list", err);
    if (first)
        return true;
    if (c != ',')
        return broken(s, "',' or ']' is expected", err);
    s->at++;
    return true;
}

/* A number or word: up to what may follow a value. */
static bool skip_scalar(struct scan *s, struct err *err)
{
    const char *from = s->at;
    while (s->at < s->end && !strchr(",]} \n\r\t", *s->at) && !class_of[(unsigned char)*s->at])
        s->at++;
    return s->at > from || broken(s, s->at < s->end ? "a value is expected" : "it ends in the middle", err);
}

/* A string at the top level of an object: a key if a colon follows. */
static void note_member(struct str name, const char *after, const char *end, const char *want,
                        struct scan_value *ret)
{
    if (!str_is(name, want))
        return;
    struct scan s = {after, after, end};
    if (scan_peek(&s) != ':')
        return;
    s.at++;
    scan_peek(&s);
    ret->wanted = (struct str){s.at, (size_t)(end - s.at)};
}

bool scan_skip(struct scan *s, const char *want, struct scan_value *ret, struct err *err)
{
    char c = scan_peek(s);
    const char *from = s->at, *p = from, *end = s->end;
    int depth = 0;
    *ret = (struct scan_value){.wanted = STR_NULL};
    if (class_of[(unsigned char)c] != OPEN && c != '"') {
        if (!skip_scalar(s, err))
            return false;
        ret->text = (struct str){from, (size_t)(s->at - from)};
        return true;
    }
    do {
        while (p < end && !class_of[(unsigned char)*p])
            p++;
        if (p == end)
            return broken(s, "a list or object that starts here does not end", err);
        if (*p == '"') {
            const char *to = string_end(p, end);
            if (!to)
                return broken(s, "a string in what starts here does not end", err);
            if (want && depth == 1)
                note_member((struct str){p + 1, (size_t)(to - p) - 2}, to, end, want, ret);
            p = to;
        } else if (class_of[(unsigned char)*p++] == OPEN) {
            depth++;
            ret->depth = depth > ret->depth ? depth : ret->depth;
        } else {
            depth--;
        }
    } while (depth > 0);
    s->at = p;
    ret->text = (struct str){from, (size_t)(p - from)};
    return true;
}
