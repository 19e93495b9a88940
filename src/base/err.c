#include "base/err.h"

#include "base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

/* Exit codes: 1 the program's or server's fault, 2 the input, 3 not signed in or not allowed, 4 absent,
 * 5 the state forbids it, 6 try again later, 7 another server runs there. */
static const struct err_info table[ERR_COUNT] = {
    [ERR_NONE] = {"none", 200, 0, "No error"},
    [ERR_INVALID] = {"invalid", 422, 2, "A value breaks a rule"},
    [ERR_MALFORMED] = {"malformed", 400, 2, "The request cannot be read"},
    [ERR_UNAUTHORIZED] = {"unauthorized", 401, 3, "Nobody is signed in"},
    [ERR_FORBIDDEN] = {"forbidden", 403, 3, "A permission is missing"},
    [ERR_NOT_FOUND] = {"not_found", 404, 4, "It does not exist"},
    [ERR_METHOD] = {"method", 405, 2, "The address does not know this method"},
    [ERR_CONFLICT] = {"conflict", 409, 5, "The present state forbids it"},
    [ERR_EXISTS] = {"exists", 409, 5, "The value is taken"},
    [ERR_STALE] = {"stale", 412, 5, "It was changed meanwhile"},
    [ERR_TOO_LARGE] = {"too_large", 413, 2, "It is too large"},
    [ERR_MEDIA_TYPE] = {"media_type", 415, 2, "The content type is not accepted"},
    [ERR_PRECONDITION] = {"precondition", 428, 2, "If-Match is required"},
    [ERR_TOO_MANY] = {"too_many", 429, 6, "Too many requests"},
    [ERR_QUOTA] = {"quota", 507, 5, "The quota is used up"},
    [ERR_UNAVAILABLE] = {"unavailable", 503, 6, "Try again later"},
    [ERR_HELD] = {"held", 503, 7, "Another server has it"},
    [ERR_UPSTREAM] = {"upstream", 502, 6, "A server behind this one failed"},
    [ERR_INTERNAL] = {"internal", 500, 1, "The server failed"},
};

const struct err_info *err_info(enum err_code code)
{
    return &table[(unsigned)code < ERR_COUNT ? code : ERR_INTERNAL];
}

enum err_code err_from_status(int status)
{
    for (int i = ERR_INVALID; i < ERR_COUNT; i++)
        if (table[i].status == status)
            return (enum err_code)i;
    return ERR_INTERNAL;
}

/* Copies text of any bytes as printable UTF-8, cut at a character's end. */
static void sanitise(char *to, size_t cap, const char *from)
{
    struct str s = str_of(from);
    size_t n = 0;
    while (s.n) {
        size_t len = utf8_sequence(s);
        unsigned char c = (unsigned char)s.p[0];
        bool c1 = len == 2 && c == 0xc2 && (unsigned char)s.p[1] < 0xa0;
        bool bad = len == 0 || c < 0x20 || c == 0x7f || c1;
        size_t out = bad ? 1 : len;
        if (n + out >= cap)
            break;
        if (bad)
            to[n] = len == 1 && (c == '\n' || c == '\t' || c == '\r') ? ' ' : '?';
        else
            memcpy(to + n, s.p, len);
        n += out;
        s = (struct str){s.p + (len ? len : 1), s.n - (len ? len : 1)};
    }
    to[n] = 0;
}

/* Drops the beginning of a character that vsnprintf cut in two. */
static void drop_cut(char *text, size_t n)
{
    size_t back = 0;
    while (back < 3 && back < n && ((unsigned char)text[n - 1 - back] & 0xc0) == 0x80)
        back++;
    if (back < n && (unsigned char)text[n - 1 - back] >= 0xc0 &&
        !utf8_sequence((struct str){text + n - 1 - back, back + 1}))
        text[n - 1 - back] = 0;
}

static void fill(struct err *err, enum err_code code, const char *field, const char *text)
{
    err->code = code;
    sanitise(err->field, sizeof err->field, field ? field : "");
    sanitise(err->message, sizeof err->message, text);
    err->id = NULL;
    err->zh[0] = 0;
}

static void format_text(char *text, size_t size, const char *fmt, va_list args)
{
    int n = vsnprintf(text, size, fmt, args);
    if (n < 0)
        text[0] = 0;
    else if ((size_t)n >= size)
        drop_cut(text, size - 1);
}

bool(err_set)(struct err *err, enum err_code code, const char *field, const char *fmt, ...)
{
    if (!err)
        return false;
    char text[sizeof err->message];
    va_list args;
    va_start(args, fmt);
    format_text(text, sizeof text, fmt, args);
    va_end(args);
    fill(err, code, field, text);
    return false;
}

bool(err_message)(struct err *err, enum err_code code, const char *field, const char *id, const char *en,
                  const char *zh, ...)
{
    if (!err)
        return false;
    char text[sizeof err->message], chinese[sizeof err->zh];
    va_list args, again;
    va_start(args, zh);
    va_copy(again, args);
    format_text(text, sizeof text, en, args);
    format_text(chinese, sizeof chinese, zh, again);
    va_end(again);
    va_end(args);
    fill(err, code, field, text);
    err->id = id;
    sanitise(err->zh, sizeof err->zh, chinese);
    return false;
}

static void format_because(char *text, size_t size, const char *fmt, va_list args, const char *between,
                           const char *why)
{
    format_text(text, size, fmt, args);
    size_t n = strlen(text);
    if ((size_t)snprintf(text + n, size - n, "%s%s", between, why) >= size - n)
        drop_cut(text, size - 1);
}

bool(err_because)(struct err *err, enum err_code code, const char *field, const struct err *why,
                  const char *id, const char *en, const char *zh, ...)
{
    if (!err)
        return false;
    char text[sizeof err->message], chinese[sizeof err->zh];
    va_list args, again;
    va_start(args, zh);
    va_copy(again, args);
    format_because(text, sizeof text, en, args, ": ", why->message);
    format_because(chinese, sizeof chinese, zh, again, "：", err_zh(why));
    va_end(again);
    va_end(args);
    fill(err, code, field, text);
    err->id = id;
    sanitise(err->zh, sizeof err->zh, chinese);
    return false;
}

const char *err_zh(const struct err *err)
{
    return err->id ? err->zh : err->message;
}

bool err_chinese(struct err *err, const char *id, const char *zh, ...)
{
    if (!err)
        return false;
    char text[sizeof err->zh];
    va_list args;
    va_start(args, zh);
    format_text(text, sizeof text, zh, args);
    va_end(args);
    err->id = id;
    sanitise(err->zh, sizeof err->zh, text);
    return false;
}

bool(err_errno)(struct err *err, int errnum, const char *fmt, ...)
{
    if (!err)
        return false;
    char text[sizeof err->message], reason[128];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const char *why = strerror_r(errnum, reason, sizeof reason);
    size_t room = sizeof text - strlen(why) - 3; /* the reason is never what is cut */
    size_t len = n < 0 ? 0 : (size_t)n;
    if (len > room) {
        len = room;
        text[len] = 0;
        drop_cut(text, len);
        len = strlen(text);
    }
    snprintf(text + len, sizeof text - len, ": %s", why);
    fill(err, errnum == ENOSPC || errnum == EDQUOT ? ERR_UNAVAILABLE : ERR_INTERNAL, NULL, text);
    return false;
}

bool err_keep(struct err *err, const struct err *one)
{
    if (err && !err->code)
        *err = *one;
    return false;
}
