/* An input that FFmpeg reads: sound or video. Nothing but the file itself is opened. */
#ifndef INGOT_MEDIA_WORKER_SOURCE_H
#define INGOT_MEDIA_WORKER_SOURCE_H

#include "media/worker/worker.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

struct source {
    int fd;
    int64_t at, size;
    AVIOContext *io;
    AVFormatContext *format;
    AVCodecContext *codec;
};

bool source_open(struct work *w, struct source *s, struct err *err);
void source_close(struct source *s);
#define auto_source __attribute__((cleanup(source_close)))

/* The best stream of that kind; NULL: none. */
AVStream *source_stream(struct source *s, enum AVMediaType type);
/* Opens s->codec for it. */
bool source_decoder(struct source *s, const AVStream *stream, struct err *err);
/* What FFmpeg says about a failure. */
bool source_failed(struct err *err, int code);

#endif
