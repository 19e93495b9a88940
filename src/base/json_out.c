#include "base/json.h"

#include <math.h>
#include <stdio.h>

void json_begin(struct json_out *o, struct buf *buf)
{
    *o = (struct json_out){.buf = buf, .first = 1};
}

/* The comma before a value or key, unless it is the first at its level (or follows its key). */
static void comma(struct json_out *o)
{
    uint64_t bit = UINT64_C(1) << o->depth;
    if (o->first & bit)
        o->first &= ~bit;
    else
        buf_char(o->buf, ',');
}

static void open_level(struct json_out *o, char c)
{
    comma(o);
    buf_char(o->buf, c);
    if (++o->depth > 63) {
        fprintf(stderr, "ingot: JSON written deeper than 63 levels\n");
        abort();
    }
    o->first |= UINT64_C(1) << o->depth;
}

static void close_level(struct json_out *o, char c)
{
    if (o->depth == 0) {
        fprintf(stderr, "ingot: JSON closed more often than opened\n");
        abort();
    }
    o->first &= ~(UINT64_C(1) << o->depth);
    o->depth--;
    buf_char(o->buf, c);
}

void json_object(struct json_out *o)
{
    open_level(o, '{');
}

void json_object_end(struct json_out *o)
{
    close_level(o, '}');
}

void json_array(struct json_out *o)
{
    open_level(o, '[');
}

void json_array_end(struct json_out *o)
{
    close_level(o, ']');
}

static void escape(struct buf *b, unsigned char c)
{
    static const char short_form[32] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't',
    };
    if (c == '"' || c == '\\')
        buf_add(b, (char[]){'\\', (char)c}, 2);
    else if (c < 32 && short_form[c])
        buf_add(b, (char[]){'\\', short_form[c]}, 2);
    else
        buf_printf(b, "\\u%04x", c);
}

/* Invalid UTF-8 becomes U+FFFD: what is written is always valid JSON. */
static void quoted(struct buf *b, struct str s)
{
    buf_reserve(b, s.n + 2);
    buf_char(b, '"');
    size_t from = 0;
    for (size_t i = 0; i < s.n;) {
        unsigned char c = (unsigned char)s.p[i];
        size_t len = c < 0x80 ? 1 : utf8_sequence((struct str){s.p + i, s.n - i});
        if (len && c >= 0x20 && c != '"' && c != '\\' && c != 0x7f) {
            i += len;
            continue;
        }
        buf_add(b, s.p + from, i - from);
        if (len)
            escape(b, c);
        else
            buf_z(b, "\xef\xbf\xbd");
        from = ++i;
    }
    buf_add(b, s.p ? s.p + from : NULL, s.n - from);
    buf_char(b, '"');
}

void json_key(struct json_out *o, const char *key)
{
    comma(o);
    quoted(o->buf, str_of(key));
    buf_char(o->buf, ':');
    o->first |= UINT64_C(1) << o->depth; /* no comma before its value */
}

void json_raw(struct json_out *o, struct str text)
{
    comma(o);
    buf_str(o->buf, text);
}

void json_null(struct json_out *o)
{
    json_raw(o, STR("null"));
}

void json_string(struct json_out *o, struct str s)
{
    if (!s.p) {
        json_null(o);
        return;
    }
    comma(o);
    quoted(o->buf, s);
}

void json_z(struct json_out *o, const char *z)
{
    json_string(o, str_of(z));
}

void json_int(struct json_out *o, int64_t v)
{
    comma(o);
    buf_printf(o->buf, "%lld", (long long)v);
}

void json_real(struct json_out *o, double v)
{
    if (!isfinite(v)) {
        json_null(o);
        return;
    }
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    comma(o);
    buf_z(o->buf, text);
}

void json_bool(struct json_out *o, bool v)
{
    json_raw(o, v ? STR("true") : STR("false"));
}

void json_value(struct json_out *o, yyjson_val *v)
{
    size_t n = 0;
    auto_free char *text = v ? yyjson_val_write_opts(v, 0, NULL, &n, NULL) : NULL;
    json_raw(o, text ? (struct str){text, n} : STR("null"));
}

void json_kz(struct json_out *o, const char *key, const char *z)
{
    json_key(o, key);
    json_z(o, z);
}

void json_kstr(struct json_out *o, const char *key, struct str s)
{
    json_key(o, key);
    json_string(o, s);
}

void json_kint(struct json_out *o, const char *key, int64_t v)
{
    json_key(o, key);
    json_int(o, v);
}

void json_kbool(struct json_out *o, const char *key, bool v)
{
    json_key(o, key);
    json_bool(o, v);
}
