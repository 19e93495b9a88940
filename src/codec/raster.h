/* Polygons as masks, for formats that know holes only there. */
#ifndef INGOT_CODEC_RASTER_H
#define INGOT_CODEC_RASTER_H

#include "codec/model.h"

/* The pixels of a picture of w x h whose middle lies in a ring and in no hole; a ring that crosses itself is
 * filled by the even-odd rule. counts and size of *s are set (in the arena), its rings and holes are taken
 * away and it is a mask. False, and nothing changed, when the picture has no size or more than
 * ANNOTATION_MAX_PIXELS, or no pixel's middle is inside. */
bool raster_polygon(struct arena *a, struct shape *s, uint32_t w, uint32_t h);

#endif
