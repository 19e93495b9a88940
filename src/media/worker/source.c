#include "media/worker/source.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER (64 << 10)

static int source_read(void *ctx, uint8_t *buffer, int n)
{
    struct source *s = ctx;
    ssize_t got = pread(s->fd, buffer, (size_t)n, s->at);
    if (got <= 0)
        return got == 0 ? AVERROR_EOF : AVERROR(errno);
    s->at += got;
    return (int)got;
}

static int64_t source_seek(void *ctx, int64_t offset, int whence)
{
    struct source *s = ctx;
    if (whence == AVSEEK_SIZE)
        return s->size;
    int64_t to = whence == SEEK_SET ? offset : whence == SEEK_CUR ? s->at + offset : s->size + offset;
    if (to < 0)
        return AVERROR(EINVAL);
    return s->at = to;
}

void source_close(struct source *s)
{
    avcodec_free_context(&s->codec);
    avformat_close_input(&s->format);
    if (s->io)
        av_freep(&s->io->buffer);
    avio_context_free(&s->io);
}

bool source_failed(struct err *err, int code)
{
    char text[AV_ERROR_MAX_STRING_SIZE] = {0};
    av_strerror(code, text, sizeof text);
    return err_set(err, ERR_INVALID, "file", "the file cannot be read as sound or video: %s", text);
}

bool source_open(struct work *w, struct source *s, struct err *err)
{
    struct stat st;
    if (fstat(w->fd, &st) != 0 || st.st_size == 0)
        return err_set(err, ERR_INVALID, "file", "the file is empty");
    av_log_set_level(AV_LOG_QUIET);
    s->fd = w->fd;
    s->size = st.st_size;
    s->io = avio_alloc_context(av_malloc(BUFFER), BUFFER, 0, s, source_read, NULL, source_seek);
    s->format = avformat_alloc_context();
    s->format->pb = s->io;
    /* No playlist, no protocol: nothing outside the file itself is opened. */
    s->format->protocol_whitelist = av_strdup("none");
    s->format->format_whitelist =
        av_strdup("mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,flv,ogg,wav,flac,mp3,aac,asf");
    int code = avformat_open_input(&s->format, NULL, NULL, NULL);
    if (code >= 0)
        code = avformat_find_stream_info(s->format, NULL);
    return code >= 0 || source_failed(err, code);
}

AVStream *source_stream(struct source *s, enum AVMediaType type)
{
    int i = av_find_best_stream(s->format, type, -1, -1, NULL, 0);
    AVStream *st = i >= 0 ? s->format->streams[i] : NULL;
    /* Cover art of a sound file is no video. */
    return st && st->disposition & AV_DISPOSITION_ATTACHED_PIC ? NULL : st;
}

bool source_decoder(struct source *s, const AVStream *stream, struct err *err)
{
    const AVCodec *codec = avcodec_find_decoder(stream->codecpar->codec_id);
    s->codec = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!s->codec)
        return err_set(err, ERR_INVALID, "file", "the file's codec is not known");
    int code = avcodec_parameters_to_context(s->codec, stream->codecpar);
    s->codec->thread_count = 1;
    if (code >= 0)
        code = avcodec_open2(s->codec, codec, NULL);
    return code >= 0 || source_failed(err, code);
}
