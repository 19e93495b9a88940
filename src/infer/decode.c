#include "infer/decode.h"

#include "base/messages.h"
#include "infer/decode_formats.h"

static const struct {
    const char *magic;
    size_t n, at;
    bool (*decode)(struct decoding *d);
} formats[] = {
    {"\xff\xd8\xff", 3, 0, decode_jpeg},
    {"\x89PNG\r\n\x1a\n", 8, 0, decode_png},
    {"WEBP", 4, 8, decode_webp},
};

static int format_of(struct str bytes)
{
    for (size_t i = 0; i < countof(formats); i++)
        if (bytes.n >= formats[i].at + formats[i].n &&
            !memcmp(bytes.p + formats[i].at, formats[i].magic, formats[i].n))
            return (int)i;
    return -1;
}

bool picture_known(struct str bytes)
{
    return format_of(bytes) >= 0;
}

void picture_release(struct picture *p)
{
    free(p->rgb);
    p->rgb = NULL;
}

bool decode_damaged(struct decoding *d, const char *format, const char *why)
{
    return err_message(d->err, ERR_INVALID, "picture", MESSAGE_PICTURE_DAMAGED, format, why);
}

bool decode_allocate(struct decoding *d, uint64_t width, uint64_t height)
{
    if (!width || !height || width > DECODE_MAX_SIDE || height > DECODE_MAX_SIDE ||
        width * height > DECODE_MAX_PIXELS)
        return err_message(d->err, ERR_TOO_LARGE, "picture", MESSAGE_PICTURE_LARGE, (long long)width,
                           (long long)height, (long long)DECODE_MAX_PIXELS);
    free(d->picture.rgb);
    d->picture.rgb = malloc(width * height * 3);
    if (!d->picture.rgb)
        return err_set(d->err, ERR_UNAVAILABLE, NULL, "there is no memory for the picture");
    d->picture.width = (uint32_t)width;
    d->picture.height = (uint32_t)height;
    return true;
}

static uint32_t exif_number(struct str t, size_t at, size_t n, bool little)
{
    uint32_t v = 0;
    for (size_t i = 0; i < n; i++)
        v |= (uint32_t)(uint8_t)t.p[at + (little ? i : n - 1 - i)] << (8 * i);
    return v;
}

int decode_exif(struct str t)
{
    if (t.n < 14 || (memcmp(t.p, "II*\0", 4) && memcmp(t.p, "MM\0*", 4)))
        return 1;
    bool little = t.p[0] == 'I';
    size_t at = exif_number(t, 4, 4, little);
    if (at > t.n - 2)
        return 1;
    size_t n = exif_number(t, at, 2, little);
    at += 2;
    for (size_t i = 0; i < n && at + 12 <= t.n; i++, at += 12) {
        if (exif_number(t, at, 2, little) != 0x112)
            continue;
        uint32_t v = exif_number(t, at + 8, 2, little);
        return v >= 1 && v <= 8 ? (int)v : 1;
    }
    return 1;
}

/* Where the pixel of an upright picture comes from: begin, and the steps to the next column and row. */
static void upright_steps(int o, ptrdiff_t w, ptrdiff_t h, ptrdiff_t *from, ptrdiff_t *column, ptrdiff_t *row)
{
    bool turned = o >= 5, mirror_x = o == 2 || o == 3 || o == 7 || o == 8,
         mirror_y = o == 3 || o == 4 || o == 6 || o == 7;
    ptrdiff_t x = mirror_x ? -1 : 1, y = mirror_y ? -w : w;
    *from = (mirror_x ? w - 1 : 0) + (mirror_y ? (h - 1) * w : 0);
    *column = turned ? y : x;
    *row = turned ? x : y;
}

static bool make_upright(struct decoding *d)
{
    struct picture *p = &d->picture;
    if (d->orientation <= 1)
        return true;
    ptrdiff_t from, column, row;
    upright_steps(d->orientation, p->width, p->height, &from, &column, &row);
    struct picture up = *p;
    if (d->orientation >= 5) {
        up = (struct picture){NULL, p->height, p->width, p->full_height, p->full_width};
    }
    up.rgb = malloc((size_t)up.width * up.height * 3);
    if (!up.rgb)
        return err_set(d->err, ERR_UNAVAILABLE, NULL, "there is no memory for the picture");
    uint8_t *to = up.rgb;
    for (uint32_t y = 0; y < up.height; y++) {
        const uint8_t *at = p->rgb + 3 * (from + (ptrdiff_t)y * row);
        for (uint32_t x = 0; x < up.width; x++, at += 3 * column, to += 3)
            memcpy(to, at, 3);
    }
    free(p->rgb);
    *p = up;
    return true;
}

bool picture_decode(struct str bytes, uint32_t least_width, uint32_t least_height, struct picture *ret,
                    struct err *err)
{
    int format = format_of(bytes);
    if (format < 0)
        return err_message(err, ERR_MEDIA_TYPE, "picture", MESSAGE_PICTURE_FORMAT);
    struct decoding d = {.bytes = bytes,
                         .least_width = least_width,
                         .least_height = least_height,
                         .orientation = 1,
                         .err = err};
    if (!formats[format].decode(&d) || !make_upright(&d)) {
        picture_release(&d.picture);
        return false;
    }
    *ret = d.picture;
    return true;
}
