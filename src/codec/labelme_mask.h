/* Masks of LabelMe: two corners (the second pixel included) and the pixels between them, a PNG in base64. */
#ifndef INGOT_CODEC_LABELME_MASK_H
#define INGOT_CODEC_LABELME_MASK_H

#include "codec/model.h"

/* Pixels that the masks of one file may have together. */
#define LABELME_MASK_PIXELS (4ULL * ANNOTATION_MAX_PIXELS)

/* A mask of a picture of width x height pixels whose top left corner is at corner[0..1]; corner[2..3] is its
 * last pixel. *budget shrinks by its pixels. False with the reason; *ret_repaired: NULL, or how it differs
 * from what the file says. */
bool labelme_mask_read(struct arena *a, struct str base64, const double corner[4], const uint32_t picture[2],
                       uint64_t *budget, struct shape *ret, const char **ret_repaired, const char **ret_why);

/* The box (corners as above) and the PNG in base64; false when no pixel is set. */
bool labelme_mask_write(struct arena *a, const struct shape *mask, double ret_corner[4],
                        struct str *ret_base64);

#endif
