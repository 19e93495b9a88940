/* The bytes of small samples, made on the spot: a drawn picture, a tone. */
#ifndef INGOT_CODEC_EXAMPLE_MEDIA_H
#define INGOT_CODEC_EXAMPLE_MEDIA_H

#include "base/buf.h"

enum { EXAMPLE_WIDTH = 96, EXAMPLE_HEIGHT = 64 };

/* A PNG of EXAMPLE_WIDTH x EXAMPLE_HEIGHT: a background with a box and a disc on it, where the examples'
 * annotations say: the box at (8,12), 36 x 30; the disc round (70,32) with radius 18. */
void example_png(struct buf *b, unsigned variant);
void example_wav(struct buf *b, unsigned variant); /* half a second of a tone, 8 kHz mono */

#endif
