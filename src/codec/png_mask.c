#include "codec/png_mask.h"

#include "codec/annotation.h"

#include <zlib.h>

enum { GREY = 0, RGB = 2, PALETTE = 3, GREY_ALPHA = 4, RGBA = 6, HEADER = 13, CHUNK = 12 };

static const char signature[8] = {'\x89', 'P', 'N', 'G', '\r', '\n', '\x1a', '\n'};

static uint32_t be32(const void *p)
{
    const uint8_t *b = p;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static bool no(const char **ret_why, const char *why)
{
    *ret_why = why;
    return false;
}

/* ---- reading ---- */

struct head {
    uint32_t width, height;
    uint8_t depth, colour;
    unsigned channels; /* of a pixel */
};

/* The next chunk; moves *at behind it. */
static bool next_chunk(struct str png, size_t *at, struct str *ret_type, struct str *ret_data,
                       const char **ret_why)
{
    if (*at > png.n || png.n - *at < CHUNK)
        return no(ret_why, "its PNG is cut off");
    size_t n = be32(png.p + *at);
    if (n > png.n - *at - CHUNK)
        return no(ret_why, "its PNG is cut off");
    *ret_type = (struct str){png.p + *at + 4, 4};
    *ret_data = (struct str){png.p + *at + 8, n};
    if (crc32(0, (const Bytef *)ret_type->p, (uInt)(4 + n)) != be32(ret_data->p + n))
        return no(ret_why, "its PNG is damaged: a checksum is wrong");
    *at += CHUNK + n;
    return true;
}

static bool known_layout(struct head *h)
{
    static const struct {
        uint8_t colour, channels;
        uint32_t depths; /* bit per allowed depth */
    } layouts[] = {
        {GREY, 1, 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 | 1 << 16},
        {RGB, 3, 1 << 8 | 1 << 16},
        {PALETTE, 1, 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8},
        {GREY_ALPHA, 2, 1 << 8 | 1 << 16},
        {RGBA, 4, 1 << 8 | 1 << 16},
    };
    for (size_t i = 0; i < countof(layouts); i++) {
        if (layouts[i].colour != h->colour)
            continue;
        h->channels = layouts[i].channels;
        return h->depth <= 16 && (layouts[i].depths >> h->depth & 1);
    }
    return false;
}

/* Reads the header; *at is then behind it. */
static bool read_head(struct str png, size_t *at, struct head *ret, const char **ret_why)
{
    struct str type, data;
    if (png.n < sizeof signature || memcmp(png.p, signature, sizeof signature))
        return no(ret_why, "it is no PNG picture");
    *at = sizeof signature;
    if (!next_chunk(png, at, &type, &data, ret_why))
        return false;
    if (!str_is(type, "IHDR") || data.n != HEADER)
        return no(ret_why, "its PNG has no header");
    *ret = (struct head){.width = be32(data.p),
                         .height = be32(data.p + 4),
                         .depth = (uint8_t)data.p[8],
                         .colour = (uint8_t)data.p[9]};
    if (!known_layout(ret) || data.p[10] || data.p[11])
        return no(ret_why, "its PNG has a layout of pixels that does not exist");
    if (data.p[12])
        return no(ret_why, "its PNG is interlaced; that is not read");
    if (!ret->width || !ret->height || ret->width > ANNOTATION_MAX_SIDE ||
        ret->height > ANNOTATION_MAX_SIDE || (uint64_t)ret->width * ret->height > ANNOTATION_MAX_PIXELS)
        return no(ret_why, "its PNG is empty or too large");
    return true;
}

bool png_mask_size(struct str png, uint32_t *ret_width, uint32_t *ret_height, const char **ret_why)
{
    struct head h;
    size_t at;
    if (!read_head(png, &at, &h, ret_why))
        return false;
    *ret_width = h.width;
    *ret_height = h.height;
    return true;
}

static uint8_t paeth(int left, int up, int corner)
{
    int p = left + up - corner, a = abs(p - left), b = abs(p - up), c = abs(p - corner);
    return (uint8_t)(a <= b && a <= c ? left : b <= c ? up : corner);
}

/* Undoes the filter of a row of n bytes; a pixel is `step` bytes (at least 1). */
static bool unfilter(uint8_t filter, uint8_t *row, const uint8_t *above, size_t n, size_t step)
{
    for (size_t i = 0; i < n && filter; i++) {
        uint8_t left = i >= step ? row[i - step] : 0, corner = i >= step ? above[i - step] : 0;
        switch (filter) {
        case 1:
            row[i] = (uint8_t)(row[i] + left);
            break;
        case 2:
            row[i] = (uint8_t)(row[i] + above[i]);
            break;
        case 3:
            row[i] = (uint8_t)(row[i] + (left + above[i]) / 2);
            break;
        case 4:
            row[i] = (uint8_t)(row[i] + paeth(left, above[i], corner));
            break;
        default:
            return false;
        }
    }
    return true;
}

static bool pixel_set(const struct head *h, const uint8_t *row, uint32_t x)
{
    if (h->depth < 8) {
        size_t bit = (size_t)x * h->depth;
        return (row[bit >> 3] >> (8 - h->depth - (bit & 7))) & ((1 << h->depth) - 1);
    }
    size_t bytes = h->depth / 8U, colours = h->channels - (h->colour == GREY_ALPHA || h->colour == RGBA);
    const uint8_t *p = row + (size_t)x * h->channels * bytes;
    for (size_t i = 0; i < colours * bytes; i++)
        if (p[i])
            return true;
    return false;
}

struct rows {
    struct head head;
    z_stream z;
    uint8_t *row, *above; /* each with its filter before it */
    size_t size;          /* of a row with its filter */
    uint32_t done;
    uint8_t *bits;
};

static bool take_row(struct rows *r, const char **ret_why)
{
    const struct head *h = &r->head;
    size_t step = h->depth < 8 ? 1 : h->channels * h->depth / 8U;
    if (!unfilter(r->row[0], r->row + 1, r->above + 1, r->size - 1, step))
        return no(ret_why, "its PNG is damaged: a row has an unknown filter");
    uint64_t at = (uint64_t)r->done++ * h->width;
    for (uint32_t x = 0; x < h->width; x++, at++)
        if (pixel_set(h, r->row + 1, x))
            r->bits[at >> 3] |= (uint8_t)(1 << (at & 7));
    uint8_t *swap = r->row;
    r->row = r->above;
    r->above = swap;
    r->z.next_out = r->row;
    r->z.avail_out = (uInt)r->size;
    return true;
}

/* Unpacks what one chunk holds; bytes after the last row are left alone. */
static bool take_data(struct rows *r, struct str data, const char **ret_why)
{
    r->z.next_in = (Bytef *)(uintptr_t)data.p;
    r->z.avail_in = (uInt)data.n;
    for (int code = Z_OK; r->done < r->head.height && code == Z_OK;) {
        code = inflate(&r->z, Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            return no(ret_why, "its PNG is damaged: it cannot be unpacked");
        if (!r->z.avail_out) {
            if (!take_row(r, ret_why))
                return false;
            continue;
        }
        if (!r->z.avail_in)
            break;
    }
    return true;
}

static bool read_rows(struct str png, size_t at, struct rows *r, const char **ret_why)
{
    struct str type, data;
    while (r->done < r->head.height) {
        if (!next_chunk(png, &at, &type, &data, ret_why))
            return false;
        if (str_is(type, "IDAT") && !take_data(r, data, ret_why))
            return false;
        if (str_is(type, "IEND"))
            break;
    }
    return r->done == r->head.height || no(ret_why, "its PNG has too few rows");
}

bool png_mask_read(struct str png, uint8_t **ret_bits, const char **ret_why)
{
    struct rows r = {0};
    size_t at;
    if (!read_head(png, &at, &r.head, ret_why))
        return false;
    r.size = 1 + ((size_t)r.head.width * r.head.channels * r.head.depth + 7) / 8;
    auto_free uint8_t *space = base_zalloc(2 * r.size);
    r.row = space;
    r.above = space + r.size;
    r.bits = base_zalloc((uint64_t)r.head.width * r.head.height / 8 + 1);
    r.z.next_out = r.row;
    r.z.avail_out = (uInt)r.size;
    bool ok = inflateInit(&r.z) == Z_OK || no(ret_why, "its PNG cannot be unpacked");
    ok = ok && read_rows(png, at, &r, ret_why);
    inflateEnd(&r.z);
    if (ok)
        *ret_bits = r.bits;
    else
        free(r.bits);
    return ok;
}

/* ---- writing ---- */

static void put32(struct buf *b, uint32_t v)
{
    buf_add(b, (uint8_t[]){(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v}, 4);
}

static void put_chunk(struct buf *b, const char *type, const void *p, size_t n)
{
    put32(b, (uint32_t)n);
    size_t from = b->n;
    buf_add(b, type, 4);
    buf_add(b, p, n);
    put32(b, (uint32_t)crc32(0, (const Bytef *)b->p + from, (uInt)(4 + n)));
}

void png_mask_write(struct buf *b, uint32_t width, uint32_t height,
                    bool (*set)(const void *ctx, uint32_t x, uint32_t y), const void *ctx)
{
    auto_buf struct buf head = {0};
    size_t row = 1 + ((size_t)width + 7) / 8;
    auto_free uint8_t *rows = base_zalloc(row * height);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            if (set(ctx, x, y))
                rows[row * y + 1 + x / 8] |= (uint8_t)(0x80 >> (x & 7));
    uLongf n = compressBound(row * height);
    auto_free uint8_t *packed = base_alloc(n);
    if (compress2(packed, &n, rows, row * height, 6) != Z_OK)
        abort(); /* only memory can fail, and it never does */
    put32(&head, width);
    put32(&head, height);
    buf_add(&head, (uint8_t[]){1, GREY, 0, 0, 0}, 5);
    buf_add(b, signature, sizeof signature);
    put_chunk(b, "IHDR", head.p, head.n);
    put_chunk(b, "IDAT", packed, n);
    put_chunk(b, "IEND", "", 0);
}
