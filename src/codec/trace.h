/* Outlines of masks, for formats that know polygons only. */
#ifndef INGOT_CODEC_TRACE_H
#define INGOT_CODEC_TRACE_H

#include "codec/model.h"

/* The rings round each connected part of a mask (pixels that share a side), along the pixels' edges; holes
 * are counted and left out. False when there would be more than ANNOTATION_MAX_POINTS points. */
bool trace_mask(struct arena *a, const struct shape *mask, struct ring **ret_rings, uint32_t *ret_count,
                uint32_t *ret_holes);

#endif
