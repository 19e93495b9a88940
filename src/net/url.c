#include "net/url.h"

#define MAX_PARAMS 64

static int hex_digit(char ch)
{
    if (ch >= '0' && ch <= '9')
        return ch - '0';
    ch |= 0x20;
    return ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

/* Decodes into the arena; `slashes`: whether an escape may stand for one. */
static bool decode(struct arena *a, struct str raw, bool plus, bool slashes, struct str *ret, struct err *err)
{
    char *out = arena_alloc(a, raw.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < raw.n; i++) {
        char ch = raw.p[i];
        if (ch == '%') {
            int high = i + 2 < raw.n ? hex_digit(raw.p[i + 1]) : -1;
            int low = i + 2 < raw.n ? hex_digit(raw.p[i + 2]) : -1;
            if (high < 0 || low < 0)
                return err_set(err, ERR_MALFORMED, NULL, "'" STR_FMT "' has a '%%' without two hex digits",
                               STR_ARG(raw));
            ch = (char)(high * 16 + low);
            i += 2;
            if (!slashes && (ch == '/' || ch == '\\'))
                return err_set(err, ERR_MALFORMED, NULL, "'" STR_FMT "' has an escaped slash", STR_ARG(raw));
        } else if (ch == '+' && plus) {
            ch = ' ';
        }
        if (!ch)
            return err_set(err, ERR_MALFORMED, NULL, "'" STR_FMT "' has a NUL", STR_ARG(raw));
        out[n++] = ch;
    }
    out[n] = '\0';
    if (!utf8_valid((struct str){out, n}))
        return err_set(err, ERR_MALFORMED, NULL, "'" STR_FMT "' is not UTF-8", STR_ARG(raw));
    *ret = (struct str){out, n};
    return true;
}

bool url_segment(struct arena *a, struct str raw, struct str *ret, struct err *err)
{
    struct str s;
    if (!decode(a, raw, false, false, &s, err))
        return false;
    if (str_is(s, ".") || str_is(s, ".."))
        return err_set(err, ERR_MALFORMED, NULL, "'" STR_FMT "' is not allowed in a path", STR_ARG(raw));
    *ret = s;
    return true;
}

bool url_value(struct arena *a, struct str raw, struct str *ret, struct err *err)
{
    return decode(a, raw, true, true, ret, err);
}

char *url_encode(struct arena *a, struct str s)
{
    static const char digits[] = "0123456789ABCDEF";
    char *out = arena_alloc(a, s.n * 3 + 1), *to = out;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char ch = (unsigned char)s.p[i];
        bool plain = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
                     (ch && strchr("-._~", ch));
        if (plain) {
            *to++ = (char)ch;
            continue;
        }
        *to++ = '%';
        *to++ = digits[ch >> 4];
        *to++ = digits[ch & 15];
    }
    *to = '\0';
    return out;
}

bool url_query(struct arena *a, struct str query, struct url_param **ret, size_t *ret_n, struct err *err)
{
    struct url_param *list = arena_array(a, struct url_param, MAX_PARAMS);
    size_t n = 0;
    while (query.n) {
        struct str value, pair = str_cut(query, '&', &query);
        if (!pair.n)
            continue;
        struct str name = str_cut(pair, '=', &value);
        if (n == MAX_PARAMS)
            return err_set(err, ERR_MALFORMED, NULL, "the query has more than %d parameters", MAX_PARAMS);
        if (!url_value(a, name, &list[n].name, err) ||
            !url_value(a, value.p ? value : STR(""), &list[n].value, err))
            return false;
        n++;
    }
    *ret = list;
    *ret_n = n;
    return true;
}
