/* The size of a JPEG or PNG from its first bytes, without a worker: what an import of a million pictures
 * needs. Anything unusual is left to the worker. */
#include "media/media.h"

#include <stdio.h>

static uint32_t be16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t be32(const uint8_t *p)
{
    return be16(p) << 16 | be16(p + 2);
}

static void fill(struct media_info *ret, const char *format, uint32_t w, uint32_t h, int orientation,
                 int bands)
{
    bool swapped = orientation >= 5;
    *ret = (struct media_info){.width = swapped ? h : w,
                               .height = swapped ? w : h,
                               .orientation = orientation,
                               .bands = bands,
                               .frames = 1};
    snprintf(ret->kind, sizeof ret->kind, "image");
    snprintf(ret->format, sizeof ret->format, "%s", format);
}

/* Whether a note of the camera stands before the pixels: then the worker is asked. */
static bool has_exif(const uint8_t *p, size_t n)
{
    for (size_t at = 8; at + 12 <= n;) {
        uint32_t length = be32(p + at);
        if (memcmp(p + at + 4, "eXIf", 4) == 0)
            return true;
        if (memcmp(p + at + 4, "IDAT", 4) == 0 || length > n - at)
            return false;
        at += 12 + (size_t)length;
    }
    return false;
}

static bool quick_png(const uint8_t *p, size_t n, struct media_info *ret)
{
    static const uint8_t magic[] = {0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0, 0, 0, 13, 'I', 'H', 'D', 'R'};
    static const int bands[] = {1, 0, 3, 1, 2, 0, 4};
    if (n < 33 || memcmp(p, magic, sizeof magic) != 0 || has_exif(p, n))
        return false;
    uint32_t w = be32(p + 16), h = be32(p + 20);
    if (!w || !h || w > INT32_MAX || h > INT32_MAX || p[25] >= countof(bands) || !bands[p[25]])
        return false;
    fill(ret, "png", w, h, 1, bands[p[25]]);
    return true;
}

static uint32_t tiff16(const uint8_t *p, bool little)
{
    return little ? (uint32_t)p[1] << 8 | p[0] : be16(p);
}

static uint32_t tiff32(const uint8_t *p, bool little)
{
    return little ? tiff16(p + 2, true) << 16 | tiff16(p, true) : be32(p);
}

/* Tag 0x0112 of the first directory; otherwise (another kind of segment, no such tag) what was known. */
static int exif_orientation(const uint8_t *p, size_t n, int known)
{
    if (n < 14 || memcmp(p, "Exif\0\0", 6) != 0)
        return known;
    p += 6;
    n -= 6;
    bool little = p[0] == 'I';
    uint32_t at = tiff32(p + 4, little);
    if (at > n || n - at < 2)
        return known;
    uint32_t count = tiff16(p + at, little);
    for (uint32_t i = 0; i < count && (size_t)at + 2 + (i + 1) * 12 <= n; i++) {
        const uint8_t *e = p + at + 2 + (size_t)i * 12;
        uint32_t v = tiff16(e + 8, little);
        if (tiff16(e, little) == 0x0112)
            return v >= 1 && v <= 8 ? (int)v : known;
    }
    return known;
}

static bool is_frame(uint8_t marker)
{
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

static bool quick_jpeg(const uint8_t *p, size_t n, struct media_info *ret)
{
    int orientation = 1;
    if (n < 4 || p[0] != 0xff || p[1] != 0xd8)
        return false;
    for (size_t at = 2; at + 4 <= n;) {
        if (p[at] != 0xff)
            return false;
        uint8_t marker = p[at + 1];
        if (marker == 0xff) {
            at++;
            continue;
        }
        size_t length = be16(p + at + 2);
        if (length < 2 || at + 2 + length > n)
            return false;
        if (marker == 0xe1)
            orientation = exif_orientation(p + at + 4, length - 2, orientation);
        if (is_frame(marker) && length >= 8) {
            uint32_t h = be16(p + at + 5), w = be16(p + at + 7);
            if (w && h)
                fill(ret, "jpeg", w, h, orientation, p[at + 9]);
            return w && h;
        }
        if (marker == 0xda || marker == 0xd9)
            return false;
        at += 2 + length;
    }
    return false;
}

bool media_quick(struct str bytes, struct media_info *ret)
{
    const uint8_t *p = (const uint8_t *)bytes.p;
    return quick_jpeg(p, bytes.n, ret) || quick_png(p, bytes.n, ret);
}

bool media_upright(int orientation, int64_t w, int64_t h, double ret[6])
{
    const double wide = (double)w, high = (double)h;
    const double turns[][6] = {
        {0, 1, 0, 1, 0, 0},         /* 5: along the main diagonal */
        {0, -1, high, 1, 0, 0},     /* 6: a quarter clockwise */
        {0, -1, high, -1, 0, wide}, /* 7: along the other diagonal */
        {0, 1, 0, -1, 0, wide},     /* 8: a quarter the other way */
    };
    if (orientation < 5 || orientation > 8)
        return false;
    memcpy(ret, turns[orientation - 5], sizeof turns[0]);
    return true;
}
