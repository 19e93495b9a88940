/* Pieces of samples that are decoded for people to look at: small pictures, tiles of large ones, wave forms
 * of sounds. Made on demand in turns (media/media.h), kept beside the data, and not made when the client has
 * left. */
#ifndef INGOT_API_THUMBNAILS_H
#define INGOT_API_THUMBNAILS_H

#include "api/route.h"
#include "core/data/sample.h"

/* Each answers, now or later; no thread waits for it. */
void thumbnail_run(struct api_call *call, const struct sample *s, int64_t project, unsigned side);
void tile_run(struct api_call *call, const struct sample *s, int64_t project, unsigned level, unsigned x,
              unsigned y);
void peaks_run(struct api_call *call, const struct sample *s, int64_t project, unsigned buckets);

#endif
