/* The formats of pictures behind decode.h. Internal to src/infer. */
#ifndef INGOT_INFER_DECODE_FORMATS_H
#define INGOT_INFER_DECODE_FORMATS_H

#include "infer/decode.h"

/* What a format gives: pixels as they are in the file, and the orientation (1 to 8) that EXIF says. Fills
 * full_width and full_height; rgb is on the heap. */
struct decoding {
    struct str bytes;
    uint32_t least_width, least_height; /* 0: exact; already as the file has it, not upright */
    struct picture picture;
    int orientation;
    struct err *err;
};

bool decode_jpeg(struct decoding *d);
bool decode_png(struct decoding *d);
bool decode_webp(struct decoding *d);

/* Allocates picture.rgb of width x height within the limits. */
bool decode_allocate(struct decoding *d, uint64_t width, uint64_t height);
bool decode_damaged(struct decoding *d, const char *format, const char *why);
/* The orientation in a TIFF structure ("II*\0" or "MM\0*" on); 1 when it says none. */
int decode_exif(struct str tiff);

#endif
