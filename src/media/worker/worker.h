/* The program ingot-media: decodes files for the server, one request at a time (see media/media.h). */
#ifndef INGOT_MEDIA_WORKER_WORKER_H
#define INGOT_MEDIA_WORKER_WORKER_H

#include "base/json.h"

struct work {
    int sock;
    int fd; /* the input */
    yyjson_val *request;
    struct arena *arena;
    uint64_t max_pixels;
    struct buf *answer; /* members of the answer's JSON object */
    struct buf *data;
};

/* Each handles one op; false with err->message for people. */
bool image_probe(struct work *w, struct err *err);
bool image_thumbnail(struct work *w, struct err *err);
bool image_tile(struct work *w, struct err *err);
bool image_measure(struct work *w, struct err *err);
bool image_transform(struct work *w, struct err *err);
bool av_probe(struct work *w, struct err *err);
bool av_frames(struct work *w, struct err *err);
bool av_peaks(struct work *w, struct err *err);

/* Sends one of several answers ("more": true). */
bool work_send_more(struct work *w, struct str json, struct str data, struct err *err);

#endif
