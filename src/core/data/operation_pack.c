#include "core/data/operation_pack.h"

#include "base/map.h"

#include <zstd.h>

#define LEVEL 12 /* packs are made in the background, and kept */

/* --- writing --- */

static void put_number(struct buf *b, int64_t v)
{
    uint64_t u = ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0); /* small ones of either sign are short */
    for (; u >= 0x80; u >>= 7)
        buf_char(b, (char)(u | 0x80));
    buf_char(b, (char)u);
}

static void put_text(struct buf *b, struct str s)
{
    put_number(b, (int64_t)s.n);
    buf_str(b, s);
}

struct clients {
    struct map *numbers; /* client -> its number + 1 */
    struct buf texts;
};

static int64_t client_number(struct clients *c, struct str client)
{
    uintptr_t number = (uintptr_t)map_get(c->numbers, client);
    if (number)
        return (int64_t)number - 1;
    number = map_count(c->numbers) + 1;
    map_set(c->numbers, client,
            (void *)number); // NOLINT(performance-no-int-to-ptr): a number, not an address
    put_text(&c->texts, client);
    return (int64_t)number - 1;
}

static void put_section(struct buf *b, struct clients *clients, const struct operation_section *s)
{
    put_number(b, s->sample);
    put_number(b, s->layer);
    put_number(b, s->before);
    put_number(b, s->base.revision);
    if (s->base.revision) {
        put_number(b, s->base.at);
        put_number(b, s->base.by);
        put_number(b, s->base.state);
        put_text(b, s->base.annotation);
    }
    put_number(b, (int64_t)s->n);
    struct operation_entry last = {0};
    for (size_t i = 0; i < s->n; i++) {
        const struct operation_entry *e = &s->entries[i];
        put_number(b, e->revision - last.revision);
        put_number(b, e->at / 1000 - last.at / 1000); /* milliseconds are enough */
        put_number(b, e->by - last.by);
        put_number(b, e->state);
        put_number(b, client_number(clients, e->client));
        put_number(b, e->number - last.number);
        put_text(b, e->body);
        last = *e;
    }
}

static bool compress(struct buf *out, struct str raw, struct err *err)
{
    size_t most = ZSTD_compressBound(raw.n);
    buf_reserve(out, most);
    size_t n = ZSTD_compress(out->p + out->n, most, raw.p, raw.n, LEVEL);
    if (ZSTD_isError(n))
        return err_set(err, ERR_INTERNAL, NULL, "operations cannot be packed: %s", ZSTD_getErrorName(n));
    out->n += n;
    return true;
}

bool operation_pack_write(struct buf *out, const struct operation_section *s, size_t n, struct err *err)
{
    struct clients clients = {.numbers = map_new()};
    auto_buf struct buf sections = {0}, raw = {0};
    for (size_t i = 0; i < n; i++)
        put_section(&sections, &clients, &s[i]);
    put_number(&raw, (int64_t)map_count(clients.numbers));
    buf_str(&raw, buf_view(&clients.texts));
    put_number(&raw, (int64_t)n);
    buf_str(&raw, buf_view(&sections));
    map_free(clients.numbers);
    buf_release(&clients.texts);
    if (raw.n > OPERATION_PACK_MAX)
        return err_set(err, ERR_INTERNAL, NULL, "too many operations for a pack");
    return compress(out, buf_view(&raw), err);
}

/* --- reading --- */

struct reading {
    const char *at, *end;
    bool broken;
};

static int64_t take_number(struct reading *r)
{
    uint64_t u = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (r->at == r->end)
            break;
        uint8_t c = (uint8_t)*r->at++;
        u |= (uint64_t)(c & 0x7f) << shift;
        if (!(c & 0x80))
            return (int64_t)(u >> 1) ^ -(int64_t)(u & 1);
    }
    r->broken = true;
    return 0;
}

static struct str take_text(struct reading *r)
{
    int64_t n = take_number(r);
    if (n < 0 || n > r->end - r->at) {
        r->broken = true;
        return STR("");
    }
    struct str s = {r->at, (size_t)n};
    r->at += n;
    return s;
}

/* How many things follow, each of at least a byte. */
static size_t take_count(struct reading *r)
{
    int64_t n = take_number(r);
    r->broken |= n < 0 || n > r->end - r->at;
    return r->broken ? 0 : (size_t)n;
}

static struct operation_entry take_entry(struct reading *r, const struct operation_entry *last,
                                         const struct str *clients, size_t n)
{
    struct operation_entry e = {.revision = last->revision + take_number(r)};
    e.at = last->at + take_number(r) * 1000;
    e.by = last->by + take_number(r);
    e.state = (enum sample_state)take_number(r);
    size_t client = (size_t)take_number(r);
    e.number = last->number + take_number(r);
    e.body = take_text(r);
    r->broken |= client >= n || (unsigned)e.state >= SAMPLE_STATE_COUNT;
    e.client = r->broken ? STR("") : clients[client];
    return e;
}

static struct operation_section take_section(struct reading *r, struct arena *a, const struct str *clients,
                                             size_t n)
{
    struct operation_section s = {.sample = take_number(r)};
    s.layer = take_number(r);
    s.before = take_number(r);
    s.base.revision = take_number(r);
    if (s.base.revision) {
        s.base.at = take_number(r);
        s.base.by = take_number(r);
        s.base.state = (enum sample_state)take_number(r);
        s.base.annotation = take_text(r);
        r->broken |= (unsigned)s.base.state >= SAMPLE_STATE_COUNT;
    }
    s.n = take_count(r);
    s.entries = arena_array(a, struct operation_entry, s.n + 1);
    struct operation_entry last = {0};
    for (size_t i = 0; i < s.n && !r->broken; i++)
        s.entries[i] = last = take_entry(r, &last, clients, n);
    return s;
}

static bool damaged(struct err *err)
{
    return err_set(err, ERR_INTERNAL, NULL, "packed operations of a sample are damaged");
}

static bool decompress(struct arena *a, struct str data, struct str *ret, struct err *err)
{
    unsigned long long size = ZSTD_getFrameContentSize(data.p, data.n);
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > OPERATION_PACK_MAX)
        return damaged(err);
    char *p = arena_alloc(a, (size_t)size + 1);
    if (ZSTD_decompress(p, (size_t)size, data.p, data.n) != size)
        return damaged(err);
    *ret = (struct str){p, (size_t)size};
    return true;
}

bool operation_pack_read(struct arena *a, struct str data, int64_t sample, int64_t layer,
                         struct operation_section *ret, bool *found, struct err *err)
{
    struct str raw;
    *found = false;
    if (!decompress(a, data, &raw, err))
        return false;
    struct reading r = {raw.p, raw.p + raw.n, false};
    size_t n = take_count(&r);
    struct str *clients = arena_array(a, struct str, n + 1);
    for (size_t i = 0; i < n && !r.broken; i++)
        clients[i] = take_text(&r);
    for (size_t left = take_count(&r); left > 0 && !r.broken && !*found; left--) {
        struct operation_section s = take_section(&r, a, clients, n);
        *found = s.sample == sample && s.layer == layer;
        if (*found)
            *ret = s;
    }
    return !r.broken || damaged(err);
}
