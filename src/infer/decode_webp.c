#include "infer/decode_formats.h"

#include <webp/decode.h>

static uint32_t little(const char *p)
{
    const uint8_t *b = (const uint8_t *)p;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* The chunk EXIF of the RIFF file. */
static int orientation_of(struct str bytes)
{
    for (size_t at = 12; at + 8 <= bytes.n;) {
        size_t n = little(bytes.p + at + 4);
        if (n > bytes.n - at - 8)
            return 1;
        if (!memcmp(bytes.p + at, "EXIF", 4)) {
            struct str exif = {bytes.p + at + 8, n};
            if (exif.n > 6 && !memcmp(exif.p, "Exif\0\0", 6))
                exif = (struct str){exif.p + 6, exif.n - 6};
            return decode_exif(exif);
        }
        at += 8 + n + (n & 1);
    }
    return 1;
}

bool decode_webp(struct decoding *d)
{
    WebPBitstreamFeatures f;
    const uint8_t *bytes = (const uint8_t *)d->bytes.p;
    if (WebPGetFeatures(bytes, d->bytes.n, &f) != VP8_STATUS_OK)
        return decode_damaged(d, "WebP", "its header cannot be read");
    if (f.has_animation)
        return decode_damaged(d, "WebP", "it is an animation");
    if (f.width <= 0 || f.height <= 0 || !decode_allocate(d, (uint64_t)f.width, (uint64_t)f.height))
        return false;
    d->picture.full_width = d->picture.width;
    d->picture.full_height = d->picture.height;
    size_t stride = (size_t)f.width * 3;
    if (!WebPDecodeRGBInto(bytes, d->bytes.n, d->picture.rgb, stride * (size_t)f.height, (int)stride))
        return decode_damaged(d, "WebP", "its pixels cannot be read");
    d->orientation = orientation_of(d->bytes);
    return true;
}
