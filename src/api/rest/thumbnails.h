/* Small pictures of samples: made on demand in turns (media/media.h), kept beside the data, and not made when
 * the client has left. */
#ifndef INGOT_API_THUMBNAILS_H
#define INGOT_API_THUMBNAILS_H

#include "api/route.h"
#include "core/data/sample.h"

/* Answers, now or later; no thread waits for it. */
void thumbnail_run(struct api_call *call, const struct sample *s, int64_t project, unsigned side);

#endif
