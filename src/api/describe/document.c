#include "api/describe/document.h"

#include "api/range.h"
#include "api/web/web.h"
#include "base/hash.h"

#include <stdio.h>
#include <zlib.h>

/* Leaves out empty when it cannot be packed. */
static void pack(struct str text, struct buf *out)
{
    z_stream z = {0};
    if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return;
    size_t room = deflateBound(&z, text.n);
    buf_reserve(out, room);
    z.next_in = (Bytef *)text.p;
    z.avail_in = (uInt)text.n;
    z.next_out = (Bytef *)out->p;
    z.avail_out = (uInt)room;
    if (deflate(&z, Z_FINISH) == Z_STREAM_END)
        out->n = z.total_out;
    deflateEnd(&z);
}

static void make(struct document *d)
{
    pthread_mutex_lock(&d->lock);
    if (!d->plain.n) {
        uint8_t digest[SHA256_SIZE];
        char hex[SHA256_HEX + 1];
        d->write(&d->plain);
        pack(buf_view(&d->plain), &d->gzip);
        sha256_of(buf_view(&d->plain), digest);
        hex_encode(digest, sizeof digest, hex);
        snprintf(d->etag, sizeof d->etag, "\"%.32s\"", hex);
    }
    pthread_mutex_unlock(&d->lock);
}

void document_respond(struct request *r, struct document *d)
{
    make(d);
    const bool packed = d->gzip.n && web_accepts(request_header(r, "accept-encoding"), "gzip");
    const struct header headers[] = {
        {STR("ETag"), str_of(d->etag)},
        {STR("Cache-Control"), STR("private, no-cache")},
        {STR("Vary"), STR("Accept-Encoding")},
        {STR("X-Content-Type-Options"), STR("nosniff")},
        {STR("Content-Type"), STR("application/json")},
        {STR("Content-Encoding"), STR("gzip")},
    };
    if (range_names_etag(request_header(r, "if-none-match"), d->etag))
        respond_static(r, 304, headers, 4, STR_NULL);
    else
        respond_static(r, 200, headers, packed ? 6 : 5, buf_view(packed ? &d->gzip : &d->plain));
}
