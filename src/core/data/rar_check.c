#include "core/data/rar_check.h"

#include "base/base.h"
#include "base/messages.h"

#include <string.h>
#include <unistd.h>

#define HEADER_BYTES (64 << 10) /* that are looked at; names and extra areas are far shorter */

enum flaw { NONE, VOLUMES, SOLID_4, ENCRYPTED_BYTES, COPIES };

/* --- RAR 4: the main header follows the signature: CRC (2), type (1), flags (2) --- */

static enum flaw look_4(const uint8_t *p, size_t n)
{
    enum { MAIN = 0x73, VOLUME = 0x0001, SOLID = 0x0008, ENCRYPTED = 0x0080 };
    if (n < 12 || p[9] != MAIN)
        return NONE;
    unsigned flags = p[10] | (unsigned)p[11] << 8;
    return flags & VOLUME ? VOLUMES : flags & ENCRYPTED ? ENCRYPTED_BYTES : flags & SOLID ? SOLID_4 : NONE;
}

/* --- RAR 5: blocks, each a CRC (4), the size of its header, and the header: type, flags, sizes of what
 * follows it, then what belongs to the type --- */

struct cursor {
    const uint8_t *p, *end;
    bool bad;
};

static uint64_t number(struct cursor *c)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 63 && c->p < c->end; shift += 7) {
        uint8_t byte = *c->p++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return v;
    }
    c->bad = true;
    return 0;
}

/* The extra area, the last bytes of a file's header, is a list of records. */
static enum flaw look_at_extra(const uint8_t *p, const uint8_t *end)
{
    enum { ENCRYPTION = 1, REDIRECTION = 5, FILE_COPY = 5 };
    struct cursor c = {p, end, false};
    while (c.p < c.end) {
        uint64_t size = number(&c);
        if (c.bad || size > (uint64_t)(c.end - c.p))
            return NONE;
        struct cursor record = {c.p, c.p + size, false};
        uint64_t kind = number(&record);
        if (kind == ENCRYPTION)
            return ENCRYPTED_BYTES;
        if (kind == REDIRECTION && number(&record) == FILE_COPY && !record.bad)
            return COPIES;
        c.p += size;
    }
    return NONE;
}

struct block {
    uint64_t type, flags, extra, data;
    struct cursor rest; /* after these */
    uint64_t size;      /* of the whole block without its data */
};

static bool read_block(const uint8_t *p, size_t n, struct block *ret)
{
    enum { HAS_EXTRA = 1, HAS_DATA = 2 };
    struct cursor c = {p + 4, p + n, n < 7};
    uint64_t header = c.bad ? 0 : number(&c);
    if (c.bad || header > (uint64_t)(c.end - c.p))
        return false;
    c.end = c.p + header;
    *ret = (struct block){.size = (uint64_t)(c.end - p)};
    ret->type = number(&c);
    ret->flags = number(&c);
    if (ret->flags & HAS_EXTRA)
        ret->extra = number(&c);
    if (ret->flags & HAS_DATA)
        ret->data = number(&c);
    ret->rest = c;
    return !c.bad && ret->extra <= (uint64_t)(c.end - c.p);
}

static enum flaw look_at_block(struct block *b)
{
    enum { MAIN = 1, FILE_BLOCK = 2, ENCRYPTION = 4, VOLUME = 1 };
    if (b->type == ENCRYPTION)
        return ENCRYPTED_BYTES;
    if (b->type == MAIN && number(&b->rest) & VOLUME)
        return VOLUMES;
    return b->type == FILE_BLOCK ? look_at_extra(b->rest.end - b->extra, b->rest.end) : NONE;
}

static enum flaw look_5(int fd, uint8_t *space)
{
    enum { END = 5 };
    off_t at = 8;
    for (;;) {
        struct block b;
        ssize_t n = pread(fd, space, HEADER_BYTES, at);
        if (n <= 0 || !read_block(space, (size_t)n, &b) || b.type == END)
            return NONE;
        enum flaw why = look_at_block(&b);
        if (why || b.data > (uint64_t)INT64_MAX / 2)
            return why;
        at += (off_t)(b.size + b.data);
    }
}

bool rar_check(int fd, struct err *err)
{
    auto_free uint8_t *space = base_alloc(HEADER_BYTES);
    ssize_t n = pread(fd, space, HEADER_BYTES, 0);
    if (n < 8 || memcmp(space, "Rar!\x1a\x07", 6) != 0)
        return true;
    switch (space[6] == 0 ? look_4(space, (size_t)n) : look_5(fd, space)) {
    case VOLUMES:
        return err_message(err, ERR_INVALID, NULL, MESSAGE_RAR_VOLUMES);
    case SOLID_4:
        return err_message(err, ERR_INVALID, NULL, MESSAGE_RAR_SOLID);
    case ENCRYPTED_BYTES:
        return err_message(err, ERR_INVALID, NULL, MESSAGE_ENCRYPTED);
    case COPIES:
        return err_message(err, ERR_INVALID, NULL, MESSAGE_RAR_COPIES);
    default:
        return true;
    }
}
