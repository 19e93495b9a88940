#include "exec/tar.h"

#include "base/buf.h"

#include <stdio.h>

#define BLOCK 512

struct ustar {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100], magic[6],
        version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct ustar) == BLOCK, "a header is one block");

bool tar_data(struct tar *t, const void *p, size_t n, struct err *err)
{
    return n == 0 || t->sink(t->ctx, (struct str){p, n}, err);
}

bool tar_pad(struct tar *t, int64_t size, struct err *err)
{
    static const char zeros[BLOCK];
    return tar_data(t, zeros, (size_t)((BLOCK - size % BLOCK) % BLOCK), err);
}

bool tar_end(struct tar *t, struct err *err)
{
    static const char zeros[2 * BLOCK];
    return tar_data(t, zeros, sizeof zeros, err);
}

/* Digits and a NUL; what does not fit is 0 here and in the pax header. */
static void octal(char *to, size_t n, uint64_t v)
{
    char text[32];
    if (snprintf(text, sizeof text, "%0*llo", (int)n - 1, (unsigned long long)v) > (int)n - 1)
        snprintf(text, sizeof text, "%0*o", (int)n - 1, 0u);
    memcpy(to, text, n - 1);
}

static void put_text(char *to, size_t n, const char *text)
{
    size_t k = strlen(text);
    memcpy(to, text, k < n ? k : n);
}

static bool write_block(struct tar *t, const struct tar_entry *e, char type, int64_t size, struct err *err)
{
    struct ustar h = {0};
    unsigned sum = 0;
    put_text(h.name, sizeof h.name, e->path);
    octal(h.mode, sizeof h.mode, e->mode & 07777);
    octal(h.uid, sizeof h.uid, e->uid);
    octal(h.gid, sizeof h.gid, e->gid);
    octal(h.size, sizeof h.size, (uint64_t)size);
    octal(h.mtime, sizeof h.mtime, e->mtime > 0 ? (uint64_t)e->mtime : 0);
    h.type = type;
    if (e->link)
        put_text(h.link, sizeof h.link, e->link);
    memcpy(h.magic, "ustar", 6);
    memcpy(h.version, "00", 2);
    memset(h.sum, ' ', sizeof h.sum);
    const unsigned char *bytes = (const unsigned char *)&h;
    for (size_t i = 0; i < sizeof h; i++)
        sum += bytes[i];
    snprintf(h.sum, sizeof h.sum, "%06o", sum);
    return tar_data(t, &h, sizeof h, err);
}

/* "<length> key=value\n", where the length counts itself. */
static void record(struct buf *b, const char *key, struct str value)
{
    char digits[24];
    size_t rest = strlen(key) + value.n + 3, n = rest;
    for (;;) {
        size_t with = rest + (size_t)snprintf(digits, sizeof digits, "%zu", n);
        if (with == n)
            break;
        n = with;
    }
    buf_printf(b, "%zu %s=", n, key);
    buf_str(b, value);
    buf_char(b, '\n');
}

static void record_int(struct buf *b, const char *key, int64_t v)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)v);
    record(b, key, str_of(text));
}

static bool is_plain(const char *s)
{
    size_t n = 0;
    for (; s[n]; n++)
        if ((unsigned char)s[n] >= 0x80)
            return false;
    return n <= 100;
}

bool tar_header(struct tar *t, const struct tar_entry *e, struct err *err)
{
    auto_buf struct buf pax = {0};
    struct tar_entry x = {.path = "PaxHeaders/x", .mode = 0644};
    if (!is_plain(e->path))
        record(&pax, "path", str_of(e->path));
    if (e->link && !is_plain(e->link))
        record(&pax, "linkpath", str_of(e->link));
    if (e->size >= INT64_C(1) << 33)
        record_int(&pax, "size", e->size);
    if (e->uid > 07777777)
        record_int(&pax, "uid", e->uid);
    if (e->gid > 07777777)
        record_int(&pax, "gid", e->gid);
    if (e->capability.n)
        record(&pax, "SCHILY.xattr.security.capability", e->capability);
    if (pax.n && (!write_block(t, &x, 'x', (int64_t)pax.n, err) || !tar_data(t, pax.p, pax.n, err) ||
                  !tar_pad(t, (int64_t)pax.n, err)))
        return false;
    return write_block(t, e, e->type, e->size, err);
}
