/* A record as a line of JSON, for `record cat`. */
#include "record_cli_internal.h"
#include "record_internal.h"

#include <inttypes.h>
#include <math.h>

static void print_string(FILE *out, const char *p, size_t n)
{
    static const char names[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    putc('"', out);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)p[i];
        const char *at = names;
        while (*at && (unsigned char)*at != c)
            at += 2;
        if (c && *at)
            fprintf(out, "\\%c", at[1]);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            putc(c, out);
    }
    putc('"', out);
}

static void print_base64(FILE *out, const uint8_t *p, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    putc('"', out);
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v =
            (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) | (i + 2 < n ? p[i + 2] : 0);
        putc(digits[v >> 18], out);
        putc(digits[v >> 12 & 63], out);
        putc(i + 1 < n ? digits[v >> 6 & 63] : '=', out);
        putc(i + 2 < n ? digits[v & 63] : '=', out);
    }
    putc('"', out);
}

/* The file's JSON may contain line breaks outside strings; one record is one line. */
static void print_json(FILE *out, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        putc(p[i] == '\n' || p[i] == '\r' ? ' ' : p[i], out);
}

static void print_double(FILE *out, const void *p)
{
    uint64_t bits = record_le64(p);
    double v;
    memcpy(&v, &bits, 8);
    if (isfinite(v))
        fprintf(out, "%.17g", v);
    else
        fprintf(out, "null");
}

static void print_value(FILE *out, const struct record_field *f, const struct record_value *v, bool base64)
{
    if (!v->data) {
        fprintf(out, "null");
        return;
    }
    switch (f->type) {
    case RECORD_UTF8:
        print_string(out, v->data, v->size);
        break;
    case RECORD_JSON:
        print_json(out, v->data, v->size);
        break;
    case RECORD_INT64:
        fprintf(out, "%" PRId64, (int64_t)record_le64(v->data));
        break;
    case RECORD_FLOAT64:
        print_double(out, v->data);
        break;
    default:
        if (base64)
            print_base64(out, v->data, v->size);
        else
            fprintf(out, "{\"bytes\":%zu}", v->size);
    }
}

bool record_print_json(FILE *out, const struct record_schema *s, const struct record *rec, bool base64,
                       struct record_err *err)
{
    struct record_value v[RECORD_MAX_FIELDS];
    for (size_t i = 0; i < rec->fields; i++)
        if (!record_get(rec, i, &v[i], err) || !record_value_check(record_schema_field(s, i), &v[i], err))
            return false;
    putc('{', out);
    for (size_t i = 0; i < rec->fields; i++) {
        const struct record_field *f = record_schema_field(s, i);
        if (i)
            putc(',', out);
        print_string(out, f->name, strlen(f->name));
        putc(':', out);
        print_value(out, f, &v[i], base64);
    }
    fputs("}\n", out);
    return true;
}
