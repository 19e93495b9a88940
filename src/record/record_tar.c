/* tar files (ustar, with GNU long names and pax path and size) as a source of convert. */
#include "record_cli_internal.h"
#include "record_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define BLOCK      512u
#define MAX_HEADER (1u << 20) /* of a long name or pax header */
#define MAX_NAME   4096u

struct tar {
    FILE *in;
    const char *file;
    uint64_t at;
    char *long_name; /* for the next entry, or NULL */
    uint64_t pax_size;
    bool has_pax_size;
};

static bool read_bytes(struct tar *t, void *out, size_t n, struct record_err *err)
{
    size_t got = fread(out, 1, n, t->in);
    t->at += got;
    if (got == n)
        return true;
    if (ferror(t->in))
        return record_fail_errno(err, "%.300s", t->file);
    return record_fail(err, RECORD_E_CORRUPT, "%.300s: ends in the middle of an entry, at byte %" PRIu64,
                       t->file, t->at);
}

/* Octal, or GNU's binary for large values. */
static bool number(const uint8_t *p, size_t n, uint64_t *ret)
{
    uint64_t v = 0;
    if (p[0] & 0x80) {
        for (size_t i = 1; i + 8 < n; i++)
            if (p[i])
                return false;
        for (size_t i = n - 8; i < n; i++)
            v = v << 8 | p[i];
        *ret = v;
        return p[0] == 0x80;
    }
    size_t i = 0;
    while (i < n && p[i] == ' ')
        i++;
    for (; i < n && p[i] >= '0' && p[i] <= '7'; i++) {
        if (v >> 60)
            return false;
        v = v << 3 | (uint64_t)(p[i] - '0');
    }
    *ret = v;
    return i == n || p[i] == 0 || p[i] == ' ';
}

static bool checksum_is_right(const uint8_t *h)
{
    uint64_t wanted, sum = 0;
    for (size_t i = 0; i < BLOCK; i++)
        sum += i >= 148 && i < 156 ? ' ' : h[i];
    return number(h + 148, 8, &wanted) && wanted == sum;
}

/* The content of an entry and its padding; to be freed. */
static char *content(struct tar *t, uint64_t size, struct record_err *err)
{
    uint64_t padded = (size + BLOCK - 1) / BLOCK * BLOCK;
    char *data = malloc((size_t)padded + 1);
    if (!data)
        return record_fail(err, RECORD_E_MEMORY, "%.300s: out of memory", t->file), NULL;
    if (!read_bytes(t, data, (size_t)padded, err)) {
        free(data);
        return NULL;
    }
    data[size] = 0;
    return data;
}

/* Lines "LENGTH KEY=VALUE\n". */
static bool parse_pax(struct tar *t, const char *p, size_t size, struct record_err *err)
{
    while (size) {
        char *end;
        unsigned long long n = strtoull(p, &end, 10);
        if (end == p || *end != ' ' || n > size || n < (size_t)(end - p) + 3 || p[n - 1] != '\n')
            return record_fail(err, RECORD_E_CORRUPT, "%.300s: a malformed pax header, near byte %" PRIu64,
                               t->file, t->at);
        const char *key = end + 1;
        size_t length = (size_t)(p + n - 1 - key);
        if (length > 5 && memcmp(key, "path=", 5) == 0) {
            free(t->long_name);
            t->long_name = strndup(key + 5, length - 5);
            if (!t->long_name)
                return record_fail(err, RECORD_E_MEMORY, "out of memory");
        } else if (length > 5 && memcmp(key, "size=", 5) == 0) {
            t->pax_size = strtoull(key + 5, NULL, 10);
            t->has_pax_size = true;
        }
        p += n;
        size -= n;
    }
    return true;
}

static bool take_extension(struct tar *t, char type, uint64_t size, struct record_err *err)
{
    if (size > MAX_HEADER)
        return record_fail(err, RECORD_E_LIMIT, "%.300s: a header of %" PRIu64 " bytes", t->file, size);
    char *data = content(t, size, err);
    bool ok = data;
    if (ok && type == 'x')
        ok = parse_pax(t, data, (size_t)size, err);
    if (ok && type == 'L') {
        free(t->long_name);
        t->long_name = data;
        return true;
    }
    free(data);
    return ok;
}

/* The entry's name into out, without "./" before it. */
static bool entry_name(struct tar *t, const uint8_t *h, char out[MAX_NAME], struct record_err *err)
{
    int n;
    if (t->long_name)
        n = snprintf(out, MAX_NAME, "%s", t->long_name);
    else if (memcmp(h + 257, "ustar\0", 6) == 0 && h[345])
        n = snprintf(out, MAX_NAME, "%.155s/%.100s", (const char *)h + 345, (const char *)h);
    else
        n = snprintf(out, MAX_NAME, "%.100s", (const char *)h);
    if (n < 0 || (size_t)n >= MAX_NAME)
        return record_fail(err, RECORD_E_LIMIT, "%.300s: a name of more than 4095 bytes", t->file);
    while (strncmp(out, "./", 2) == 0)
        memmove(out, out + 2, strlen(out + 2) + 1);
    return true;
}

static bool take_file(struct record_convert *c, struct tar *t, const char *name, uint64_t size,
                      struct record_err *err)
{
    if (size > RECORD_MAX_SIZE)
        return record_fail(err, RECORD_E_LIMIT, "%.200s: %.200s: larger than 4 GiB", t->file, name);
    char *data = content(t, size, err);
    bool ok = data && record_add_file(c, name, data, (size_t)size, err);
    free(data);
    return ok;
}

static bool take_entry(struct record_convert *c, struct tar *t, const uint8_t *h, struct record_err *err)
{
    char name[MAX_NAME], type = (char)h[156];
    uint64_t size;
    if (!checksum_is_right(h) || !number(h + 124, 12, &size))
        return record_fail(err, RECORD_E_FORMAT,
                           "%.300s: no tar header at byte %" PRIu64 "; is it compressed?", t->file,
                           t->at - BLOCK);
    if (type == 'x' || type == 'L')
        return take_extension(t, type, size, err);
    if (t->has_pax_size)
        size = t->pax_size;
    bool ok = entry_name(t, h, name, err);
    free(t->long_name);
    t->long_name = NULL;
    t->has_pax_size = false;
    if (!ok)
        return false;
    if (type == '0' || type == 0 || type == '7')
        return take_file(c, t, name, size, err);
    if (type != '5' && type != 'g')
        record_skip(c, name, type == '1' || type == '2' ? "a link" : "not a regular file");
    if (type == '1' || type == '2' || type == '5')
        return true;
    return take_extension(t, 0, size, err);
}

bool record_from_tar(struct record_convert *c, const char *file, struct record_err *err)
{
    static const uint8_t zero[BLOCK];
    uint8_t h[BLOCK];
    struct tar t = {.in = fopen(file, "rbe"), .file = file};
    if (!t.in)
        return record_fail_errno(err, "%.300s", file);
    bool ok = true;
    while (ok && (ok = read_bytes(&t, h, BLOCK, err)) && memcmp(h, zero, BLOCK) != 0)
        ok = take_entry(c, &t, h, err);
    free(t.long_name);
    if (t.in)
        fclose(t.in);
    return ok;
}
