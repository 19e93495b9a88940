/* PNG pictures as masks, the way LabelMe keeps them: a pixel is set when it is not black. Written for masks
 * alone: pictures of samples are decoded in a process of their own (media/). */
#ifndef INGOT_CODEC_PNG_MASK_H
#define INGOT_CODEC_PNG_MASK_H

#include "base/buf.h"

/* Width and height of the picture; false with the reason when it is no PNG, or one that is not read
 * (interlaced). Sides are at most ANNOTATION_MAX_SIDE, pixels at most ANNOTATION_MAX_PIXELS. */
bool png_mask_size(struct str png, uint32_t *ret_width, uint32_t *ret_height, const char **ret_why);

/* One bit per pixel, row by row without gaps; freed by the caller. A pixel is set when its grey value, its
 * number in the palette or one of its colours is not 0; transparency says nothing. False with the reason. */
bool png_mask_read(struct str png, uint8_t **ret_bits, const char **ret_why);

/* Appends a PNG of one bit per pixel; `set` says which pixels are white. */
void png_mask_write(struct buf *b, uint32_t width, uint32_t height,
                    bool (*set)(const void *ctx, uint32_t x, uint32_t y), const void *ctx);

#endif
