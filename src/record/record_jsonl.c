/* JSON lines as a source of convert: a member of each line's object per field of the schema. */
#include "record_cli_internal.h"
#include "record_internal.h"
#include "record_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct lines {
    const struct record_schema *schema;
    const char *file;
    uint64_t line;
    struct record_value values[RECORD_MAX_FIELDS];
    char *scratch; /* decoded values of the line: never more than the line and 9 bytes a field */
    size_t room, used;
};

static bool bad(const struct lines *l, const char *field, const char *why, struct record_err *err)
{
    return record_fail(err, RECORD_E_ARG, "%.200s: line %" PRIu64 ": \"%.100s\": %s", l->file, l->line, field,
                       why);
}

static bool decode_base64(char *text, size_t *size)
{
    size_t n = strlen(text), out = 0;
    uint32_t v = 0;
    if (n % 4)
        return false;
    size_t pad = n && text[n - 1] == '=' ? (text[n - 2] == '=' ? 2 : 1) : 0;
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        int d = c >= 'A' && c <= 'Z'   ? c - 'A'
                : c >= 'a' && c <= 'z' ? c - 'a' + 26
                : c >= '0' && c <= '9' ? c - '0' + 52
                : c == '+'             ? 62
                : c == '/'             ? 63
                : i >= n - pad         ? 0
                                       : -1;
        if (d < 0)
            return false;
        v = v << 6 | (uint32_t)d;
        if (i % 4 == 3) {
            text[out++] = (char)(v >> 16);
            text[out++] = (char)(v >> 8);
            text[out++] = (char)v;
        }
    }
    *size = out - pad;
    return true;
}

static bool take_number(struct lines *l, size_t i, const struct record_field *f, const char *text,
                        size_t size, struct record_err *err)
{
    char copy[64], *end;
    uint64_t bits;
    if (size >= sizeof copy)
        return bad(l, f->name, "a number that is too long", err);
    memcpy(copy, text, size);
    copy[size] = 0;
    errno = 0;
    if (f->type == RECORD_INT64) {
        bits = (uint64_t)strtoll(copy, &end, 10);
        if (end == copy || *end || errno)
            return bad(l, f->name, "a whole number of 64 bits is needed", err);
    } else {
        double v = strtod(copy, &end);
        if (end == copy || *end || (copy[0] != '-' && (copy[0] < '0' || copy[0] > '9')))
            return bad(l, f->name, "a number is needed", err);
        memcpy(&bits, &v, 8);
    }
    record_put64((uint8_t *)l->scratch + l->used, bits);
    l->values[i] = (struct record_value){l->scratch + l->used, 8};
    l->used += 8;
    return true;
}

static bool take_string(struct lines *l, size_t i, const struct record_field *f, const char *text,
                        size_t size, struct record_err *err)
{
    struct record_json j;
    size_t length;
    if (text[0] != '"')
        return bad(l, f->name, "a string is needed", err);
    char *out = l->scratch + l->used;
    record_json_init(&j, text, size);
    if (!record_json_string(&j, out, size + 1)) /* without quotes and escapes it gets shorter only */
        return bad(l, f->name, j.what, err);
    length = strlen(out);
    l->used += length + 1;
    if (f->type != RECORD_UTF8 && !decode_base64(out, &length))
        return bad(l, f->name, "base64 is needed", err);
    l->values[i] = (struct record_value){out, length};
    return true;
}

static bool take_member(struct lines *l, const char *name, const char *text, size_t size,
                        struct record_err *err)
{
    int i = record_schema_find(l->schema, name);
    if (i < 0)
        return bad(l, name, "the schema has no such field", err);
    const struct record_field *f = record_schema_field(l->schema, (size_t)i);
    if (l->values[i].data)
        return bad(l, name, "stands there twice", err);
    if (f->type == RECORD_JSON) {
        l->values[i] = (struct record_value){text, size};
        return true;
    }
    if (size == 4 && memcmp(text, "null", 4) == 0)
        return true;
    if (f->type == RECORD_INT64 || f->type == RECORD_FLOAT64)
        return take_number(l, (size_t)i, f, text, size, err);
    return take_string(l, (size_t)i, f, text, size, err);
}

static bool parse_line(struct lines *l, const char *text, size_t size, struct record_err *err)
{
    struct record_json j;
    char name[RECORD_MAX_NAME + 1];
    if (!record_json_valid(text, size))
        return record_fail(err, RECORD_E_ARG, "%.200s: line %" PRIu64 ": not valid JSON", l->file, l->line);
    record_json_init(&j, text, size);
    if (!record_json_take(&j, '{'))
        return record_fail(err, RECORD_E_ARG, "%.200s: line %" PRIu64 ": an object is needed", l->file,
                           l->line);
    for (bool first = true; record_json_next(&j, '}', &first);) {
        if (!record_json_member(&j, name, sizeof name))
            break;
        record_json_peek(&j);
        const char *start = j.p;
        if (!record_json_skip(&j))
            break;
        if (!take_member(l, name, start, (size_t)(j.p - start), err))
            return false;
    }
    return !j.what ||
           record_fail(err, RECORD_E_ARG, "%.200s: line %" PRIu64 ": %s", l->file, l->line, j.what);
}

static bool make_room(struct lines *l, size_t size, struct record_err *err)
{
    size_t wanted = size + 9 * RECORD_MAX_FIELDS;
    l->used = 0;
    if (wanted <= l->room)
        return true;
    char *more = realloc(l->scratch, wanted * 2);
    if (!more)
        return record_fail(err, RECORD_E_MEMORY, "out of memory");
    l->scratch = more;
    l->room = wanted * 2;
    return true;
}

static bool add_line(struct record_convert *c, struct lines *l, const char *text, size_t size,
                     struct record_err *err)
{
    struct record_err inner;
    memset(l->values, 0, sizeof l->values);
    if (!c->args->schema)
        l->values[0] = (struct record_value){text, size};
    else if (!make_room(l, size, err) || !parse_line(l, text, size, err))
        return false;
    if (record_writer_add(c->writer, l->values, record_schema_count(l->schema), &inner))
        return true;
    return record_fail(err, inner.code, "%.150s: line %" PRIu64 ": %.250s", l->file, l->line, inner.message);
}

bool record_from_jsonl(struct record_convert *c, const char *file, const struct record_schema *schema,
                       struct record_err *err)
{
    struct lines l = {.schema = schema, .file = file};
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    bool ok = true;
    FILE *in = fopen(file, "rbe");
    if (!in)
        return record_fail_errno(err, "%.300s", file);
    while (ok && (n = getline(&line, &room, in)) >= 0) {
        l.line++;
        while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
            n--;
        if (n > 0)
            ok = add_line(c, &l, line, (size_t)n, err);
    }
    if (ok && ferror(in))
        ok = record_fail_errno(err, "%.300s", file);
    free(line);
    free(l.scratch);
    fclose(in);
    return ok;
}
