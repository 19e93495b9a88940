/* Video and audio, with FFmpeg; plain sound files too. */
#include "media/worker/source.h"

#include <errno.h>
#include <libavutil/display.h>
#include <libswscale/swscale.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#define LIFE_S   5 /* a sign of life at least so often, when no frame is wanted */
#define ALLOW    2 /* frames that a video may have fewer than it says, and 1 in ALLOW_IN more */
#define ALLOW_IN 50

static const char *short_name(const struct source *s)
{
    const char *name = s->format->iformat->name;
    if (strncmp(name, "mov,", 4) == 0)
        return "mp4";
    if (strncmp(name, "matroska", 8) == 0)
        return "webm";
    return name;
}

static double duration_of(const struct source *s)
{
    return s->format->duration > 0 ? (double)s->format->duration / AV_TIME_BASE : 0;
}

bool av_probe(struct work *w, struct err *err)
{
    auto_source struct source s = {0};
    if (!source_open(w, &s, err))
        return false;
    AVStream *video = source_stream(&s, AVMEDIA_TYPE_VIDEO), *audio = source_stream(&s, AVMEDIA_TYPE_AUDIO);
    if (!video && !audio)
        return err_set(err, ERR_INVALID, "file", "the file has neither sound nor video");
    double rate = video ? av_q2d(video->avg_frame_rate) : 0;
    int64_t frames =
        video && video->nb_frames > 0 ? video->nb_frames : (int64_t)llround(rate * duration_of(&s));
    buf_printf(w->answer,
               "\"kind\":\"%s\",\"format\":\"%s\",\"width\":%d,\"height\":%d,\"orientation\":1,\"bands\":3,"
               "\"frames\":%lld,\"duration\":%.6f,\"rate\":%d,\"channels\":%d",
               video ? "video" : "audio", short_name(&s), video ? video->codecpar->width : 0,
               video ? video->codecpar->height : 0, (long long)(video ? frames : 0), duration_of(&s),
               audio ? audio->codecpar->sample_rate : 0, audio ? audio->codecpar->ch_layout.nb_channels : 0);
    return true;
}

/* --- frames --- */

struct picking {
    struct work *work;
    AVStream *stream;
    int64_t every, max, seen, sent;
    double per_second, next_time;
    int quarters; /* clockwise, that a player turns the video by */
    AVCodecContext *encoder;
    struct SwsContext *scaler;
    AVFrame *flat, *picture; /* in the encoder's format: as it is stored; upright */
    AVPacket *packet;
    time_t told;    /* the server heard of us */
    int64_t broken; /* packets that could not be decoded */
    bool cut;       /* the file ends in the middle */
};

/* Telephones store what they see as the chip lies and note how to turn it. */
static int quarters_of(const AVStream *stream)
{
    const int32_t *matrix =
        (const int32_t *)(const void *)av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, NULL);
    double degrees = matrix ? -av_display_rotation_get(matrix) : 0;
    return isfinite(degrees) ? ((int)lround(degrees / 90) % 4 + 4) % 4 : 0;
}

/* One plane of w x h samples, turned clockwise. */
static void turn_plane(const uint8_t *from, int from_line, uint8_t *to, int to_line, int w, int h,
                       int quarters)
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int tx = quarters == 1 ? h - 1 - y : quarters == 2 ? w - 1 - x : y;
            int ty = quarters == 1 ? x : quarters == 2 ? h - 1 - y : w - 1 - x;
            to[(ptrdiff_t)ty * to_line + tx] = from[(ptrdiff_t)y * from_line + x];
        }
}

static void turn(const AVFrame *from, AVFrame *to, int quarters)
{
    for (int i = 0; i < 3; i++) {
        int half = i > 0;
        turn_plane(from->data[i], from->linesize[i], to->data[i], to->linesize[i],
                   (from->width + half) >> half, (from->height + half) >> half, quarters);
    }
}

static AVFrame *frame_of(int width, int height)
{
    AVFrame *f = av_frame_alloc();
    f->format = AV_PIX_FMT_YUVJ420P;
    f->width = width;
    f->height = height;
    if (av_frame_get_buffer(f, 0) < 0)
        av_frame_free(&f);
    return f;
}

static bool wanted(struct picking *p, double time)
{
    if (p->every > 0)
        return p->seen % p->every == 0;
    if (time + 1e-9 < p->next_time)
        return false;
    p->next_time += 1 / p->per_second;
    if (p->next_time <= time)
        p->next_time = time + 1 / p->per_second;
    return true;
}

static bool encoder_open(struct picking *p, const AVFrame *f, struct err *err)
{
    const AVCodec *mjpeg = avcodec_find_encoder(AV_CODEC_ID_MJPEG);
    p->encoder = mjpeg ? avcodec_alloc_context3(mjpeg) : NULL;
    if (!p->encoder)
        return err_set(err, ERR_INTERNAL, NULL, "FFmpeg has no JPEG encoder here");
    bool swapped = p->quarters % 2;
    p->encoder->width = swapped ? f->height : f->width;
    p->encoder->height = swapped ? f->width : f->height;
    p->encoder->pix_fmt = AV_PIX_FMT_YUVJ420P;
    p->encoder->color_range = AVCOL_RANGE_JPEG;
    p->encoder->time_base = (AVRational){1, 25};
    p->encoder->flags |= AV_CODEC_FLAG_QSCALE;
    p->encoder->global_quality = FF_QP2LAMBDA * 2;
    p->flat = frame_of(f->width, f->height);
    p->picture = frame_of(p->encoder->width, p->encoder->height);
    p->packet = av_packet_alloc();
    int code = p->flat && p->picture ? avcodec_open2(p->encoder, mjpeg, NULL) : AVERROR(ENOMEM);
    return code >= 0 || source_failed(err, code);
}

static bool send_frame(struct picking *p, const AVFrame *f, double at, struct err *err)
{
    if (!p->encoder && !encoder_open(p, f, err))
        return false;
    p->scaler =
        sws_getCachedContext(p->scaler, f->width, f->height, (enum AVPixelFormat)f->format, p->flat->width,
                             p->flat->height, AV_PIX_FMT_YUVJ420P, SWS_BICUBIC, NULL, NULL, NULL);
    AVFrame *scaled = p->quarters ? p->flat : p->picture;
    if (!p->scaler || av_frame_make_writable(p->flat) < 0 || av_frame_make_writable(p->picture) < 0)
        return err_set(err, ERR_INVALID, "file", "the video's pixel format is not known");
    sws_scale(p->scaler, (const uint8_t *const *)f->data, f->linesize, 0, f->height, scaled->data,
              scaled->linesize);
    if (p->quarters)
        turn(p->flat, p->picture, p->quarters);
    p->picture->quality = p->encoder->global_quality;
    p->picture->pts = p->sent;
    int code = avcodec_send_frame(p->encoder, p->picture);
    if (code >= 0)
        code = avcodec_receive_packet(p->encoder, p->packet);
    if (code < 0)
        return source_failed(err, code);
    char text[128];
    int n =
        snprintf(text, sizeof text, "{\"more\":true,\"number\":%lld,\"time\":%.6f}", (long long)p->seen, at);
    bool ok = work_send_more(p->work, (struct str){text, (size_t)n},
                             (struct str){(const char *)p->packet->data, (size_t)p->packet->size}, err);
    av_packet_unref(p->packet);
    p->sent++;
    p->told = time(NULL);
    return ok;
}

/* Between frames that are wanted there may be minutes of decoding. */
static bool show_life(struct picking *p, struct err *err)
{
    time_t now = time(NULL);
    if (now - p->told < LIFE_S)
        return true;
    p->told = now;
    return work_send_more(p->work, STR("{\"more\":true,\"number\":-1}"), STR_NULL, err);
}

static bool take_frame(struct picking *p, const AVFrame *f, struct err *err)
{
    int64_t pts = f->best_effort_timestamp == AV_NOPTS_VALUE ? p->seen : f->best_effort_timestamp;
    int64_t start = p->stream->start_time == AV_NOPTS_VALUE ? 0 : p->stream->start_time;
    double time = (double)(pts - start) * av_q2d(p->stream->time_base);
    bool ok = true;
    if ((uint64_t)f->width * (uint64_t)f->height > p->work->max_pixels)
        return err_set(err, ERR_INVALID, "file", "frames of %d x %d pixels are over the limit", f->width,
                       f->height);
    if ((p->max == 0 || p->sent < p->max) && wanted(p, time))
        ok = send_frame(p, f, time, err);
    p->seen++;
    return ok && show_life(p, err);
}

/* A broken packet in the middle costs its frames, not the rest of the video. */
static bool decode(struct picking *p, struct source *s, const AVPacket *packet, AVFrame *f, struct err *err)
{
    if (avcodec_send_packet(s->codec, packet) < 0) {
        p->broken += packet != NULL;
        return true;
    }
    while (avcodec_receive_frame(s->codec, f) >= 0) {
        bool ok = take_frame(p, f, err);
        av_frame_unref(f);
        if (!ok)
            return false;
    }
    return true;
}

static bool decode_all(struct picking *p, struct source *s, struct err *err)
{
    AVPacket *packet = av_packet_alloc();
    AVFrame *f = av_frame_alloc();
    bool ok = true;
    int code = 0;
    while (ok && (p->max == 0 || p->sent < p->max) && (code = av_read_frame(s->format, packet)) >= 0) {
        if (packet->stream_index == p->stream->index)
            ok = decode(p, s, packet, f, err);
        av_packet_unref(packet);
    }
    ok = ok && decode(p, s, NULL, f, err);
    int64_t said =
        code < 0 ? p->stream->nb_frames : 0; /* 0 when the file does not say, or we did not go on */
    p->cut = (code < 0 && code != AVERROR_EOF) || p->seen < said - said / ALLOW_IN - ALLOW;
    av_packet_free(&packet);
    av_frame_free(&f);
    return ok;
}

bool av_frames(struct work *w, struct err *err)
{
    auto_source struct source s = {0};
    struct picking p = {.work = w,
                        .every = yyjson_get_sint(yyjson_obj_get(w->request, "every")),
                        .per_second = yyjson_get_num(yyjson_obj_get(w->request, "per_second")),
                        .max = yyjson_get_sint(yyjson_obj_get(w->request, "max"))};
    if (p.every <= 0 && !(p.per_second > 0))
        return err_set(err, ERR_INVALID, "every", "say every how many frames, or how many per second");
    if (!source_open(w, &s, err))
        return false;
    p.stream = source_stream(&s, AVMEDIA_TYPE_VIDEO);
    if (!p.stream)
        return err_set(err, ERR_INVALID, "file", "the file has no video");
    p.quarters = quarters_of(p.stream);
    p.told = time(NULL);
    bool ok = source_decoder(&s, p.stream, err) && decode_all(&p, &s, err);
    sws_freeContext(p.scaler);
    av_frame_free(&p.flat);
    av_frame_free(&p.picture);
    av_packet_free(&p.packet);
    avcodec_free_context(&p.encoder);
    if (ok)
        buf_printf(w->answer, "\"frames\":%lld,\"seen\":%lld,\"broken\":%lld,\"cut\":%s", (long long)p.sent,
                   (long long)p.seen, (long long)p.broken, p.cut ? "true" : "false");
    return ok;
}
