/* Pictures out of the bytes of a JPEG, PNG or WebP file that may be hostile: known by their first bytes,
 * bounded in pixels before anything is allocated, turned upright as their EXIF says. */
#ifndef INGOT_INFER_DECODE_H
#define INGOT_INFER_DECODE_H

#include "base/err.h"
#include "base/str.h"

#define DECODE_MAX_PIXELS ((uint64_t)64 << 20)
#define DECODE_MAX_SIDE   65500

struct picture {
    uint8_t *rgb; /* 3 bytes a pixel, rows without gaps; alpha is dropped */
    uint32_t width, height;
    uint32_t full_width, full_height; /* of the upright picture before it was shrunk in decoding */
};

/* least_width and least_height > 0: a JPEG may come at 1/2, 1/4 or 1/8 of its size, as long as it is at least
 * that large; exact pixels are lost. ERR_MEDIA_TYPE: another format; ERR_INVALID: damaged; ERR_TOO_LARGE. */
bool picture_decode(struct str bytes, uint32_t least_width, uint32_t least_height, struct picture *ret,
                    struct err *err);
void picture_release(struct picture *p);
#define auto_picture __attribute__((cleanup(picture_release)))

/* Whether the bytes begin as one of the formats does. */
bool picture_known(struct str bytes);

#endif
