/* The wave form of a sound: least and greatest value of equal parts of its time, with FFmpeg. */
#include "media/media.h"
#include "media/worker/source.h"

#include <math.h>
#include <time.h>

#define BLOCKS (2 * 16384) /* kept while decoding; each is of as many samples as make them enough */
#define LIFE_S 5

struct peak {
    float least, greatest;
};

struct peaks {
    struct work *work;
    struct peak *blocks;
    uint32_t count;
    uint64_t block, filled; /* samples of a block; of the one that grows */
    struct peak now;
    uint64_t samples;
    time_t told;
};

static const struct peak nothing = {INFINITY, -INFINITY};

static struct peak both(struct peak a, struct peak b)
{
    return (struct peak){fminf(a.least, b.least), fmaxf(a.greatest, b.greatest)};
}

/* There are never more than BLOCKS: then two become one, and those that come are twice as long. */
static void end_block(struct peaks *p)
{
    p->blocks[p->count++] = p->now;
    p->now = nothing;
    p->filled = 0;
    if (p->count < BLOCKS)
        return;
    for (uint32_t i = 0; i < BLOCKS / 2; i++)
        p->blocks[i] = both(p->blocks[2 * i], p->blocks[2 * i + 1]);
    p->count = BLOCKS / 2;
    p->block *= 2;
}

static double value_at(enum AVSampleFormat format, const uint8_t *at)
{
    int16_t small;
    int32_t whole;
    float real;
    double wide;
    switch (format) {
    case AV_SAMPLE_FMT_U8:
        return (*at - 128) / 128.0;
    case AV_SAMPLE_FMT_S16:
        memcpy(&small, at, sizeof small);
        return small / 32768.0;
    case AV_SAMPLE_FMT_S32:
        memcpy(&whole, at, sizeof whole);
        return whole / 2147483648.0;
    case AV_SAMPLE_FMT_FLT:
        memcpy(&real, at, sizeof real);
        return (double)real;
    case AV_SAMPLE_FMT_DBL:
        memcpy(&wide, at, sizeof wide);
        return wide;
    default:
        return 0;
    }
}

static void add_frame(struct peaks *p, const AVFrame *f)
{
    enum AVSampleFormat format = (enum AVSampleFormat)f->format, packed = av_get_packed_sample_fmt(format);
    int channels = f->ch_layout.nb_channels, bytes = av_get_bytes_per_sample(format);
    bool planar = av_sample_fmt_is_planar(format);
    for (int i = 0; i < f->nb_samples; i++) {
        for (int c = 0; c < channels; c++) {
            const uint8_t *at = planar ? f->extended_data[c] + (ptrdiff_t)i * bytes
                                       : f->extended_data[0] + ((ptrdiff_t)i * channels + c) * bytes;
            double v = value_at(packed, at);
            float sane = v != v ? 0 : v < -1 ? -1 : v > 1 ? 1 : (float)v;
            p->now = both(p->now, (struct peak){sane, sane});
        }
        p->samples++;
        if (++p->filled == p->block)
            end_block(p);
    }
}

static bool show_life(struct peaks *p, struct err *err)
{
    time_t now = time(NULL);
    if (now - p->told < LIFE_S)
        return true;
    p->told = now;
    return work_send_more(p->work, STR("{\"more\":true}"), STR_NULL, err);
}

static void drain(struct peaks *p, struct source *s, const AVPacket *packet, AVFrame *f)
{
    if (avcodec_send_packet(s->codec, packet) < 0)
        return; /* a broken packet costs its samples only */
    while (avcodec_receive_frame(s->codec, f) >= 0) {
        add_frame(p, f);
        av_frame_unref(f);
    }
}

static bool decode_all(struct peaks *p, struct source *s, int stream, struct err *err)
{
    AVPacket *packet = av_packet_alloc();
    AVFrame *f = av_frame_alloc();
    bool ok = true;
    while (ok && av_read_frame(s->format, packet) >= 0) {
        if (packet->stream_index == stream)
            drain(p, s, packet, f);
        av_packet_unref(packet);
        ok = show_life(p, err);
    }
    drain(p, s, NULL, f);
    if (p->filled)
        end_block(p);
    av_packet_free(&packet);
    av_frame_free(&f);
    return ok;
}

static void write_peaks(const struct peaks *p, uint32_t buckets, double duration)
{
    struct buf *b = p->work->data;
    uint32_t n = p->count < buckets ? p->count : buckets;
    buf_printf(b, "{\"duration\":%.6f,\"peaks\":[", duration);
    for (uint32_t i = 0; i < n; i++) {
        struct peak all = nothing;
        uint32_t to = (uint32_t)((uint64_t)(i + 1) * p->count / n);
        for (uint32_t k = (uint32_t)((uint64_t)i * p->count / n); k < to; k++)
            all = both(all, p->blocks[k]);
        buf_printf(b, "%s[%.4g,%.4g]", i ? "," : "", (double)all.least, (double)all.greatest);
    }
    buf_z(b, "]}");
}

bool av_peaks(struct work *w, struct err *err)
{
    auto_source struct source s = {0};
    int64_t buckets = yyjson_get_sint(yyjson_obj_get(w->request, "buckets"));
    if (buckets < 1 || buckets > MEDIA_PEAKS_MAX)
        return err_set(err, ERR_INVALID, "buckets", "buckets must be from 1 to %d", MEDIA_PEAKS_MAX);
    if (!source_open(w, &s, err))
        return false;
    AVStream *sound = source_stream(&s, AVMEDIA_TYPE_AUDIO);
    if (!sound)
        return err_set(err, ERR_INVALID, "file", "the file has no sound");
    struct peaks p = {.work = w, .block = 1, .now = nothing, .told = time(NULL)};
    p.blocks = arena_array(w->arena, struct peak, BLOCKS);
    if (!source_decoder(&s, sound, err) || !decode_all(&p, &s, sound->index, err))
        return false;
    int rate = s.codec->sample_rate;
    write_peaks(&p, (uint32_t)buckets, rate > 0 ? (double)p.samples / rate : 0);
    return true;
}
