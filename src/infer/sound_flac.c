#include "base/messages.h"
#include "infer/sound.h"

#include <FLAC/stream_decoder.h>

struct flac {
    struct arena *a;
    struct str bytes;
    size_t at, cap;
    struct sound sound;
    bool large, bad;
};

static FLAC__StreamDecoderReadStatus take(const FLAC__StreamDecoder *d, FLAC__byte *to, size_t *n, void *ctx)
{
    (void)d;
    struct flac *f = ctx;
    size_t left = f->bytes.n - f->at;
    if (!left) {
        *n = 0;
        return FLAC__STREAM_DECODER_READ_STATUS_END_OF_STREAM;
    }
    *n = *n < left ? *n : left;
    memcpy(to, f->bytes.p + f->at, *n);
    f->at += *n;
    return FLAC__STREAM_DECODER_READ_STATUS_CONTINUE;
}

static FLAC__StreamDecoderWriteStatus give(const FLAC__StreamDecoder *d, const FLAC__Frame *frame,
                                           const FLAC__int32 *const channels[], void *ctx)
{
    (void)d;
    struct flac *f = ctx;
    uint32_t n = frame->header.blocksize, count = frame->header.channels;
    if (f->sound.n + n > SOUND_MAX_FRAMES) {
        f->large = true;
        return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;
    }
    if (!count || (f->sound.rate && f->sound.rate != frame->header.sample_rate)) {
        f->bad = true;
        return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;
    }
    f->sound.rate = frame->header.sample_rate;
    if (f->sound.n + n > f->cap) {
        size_t cap = (f->sound.n + n) * 2;
        f->sound.mono = arena_grow(f->a, f->sound.mono, f->cap * sizeof(float), cap * sizeof(float));
        f->cap = cap;
    }
    double scale = 1.0 / (double)((uint64_t)1 << (frame->header.bits_per_sample - 1)) / count;
    for (uint32_t i = 0; i < n; i++) {
        double sum = 0;
        for (uint32_t c = 0; c < count; c++)
            sum += channels[c][i];
        f->sound.mono[f->sound.n++] = (float)(sum * scale);
    }
    return FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE;
}

static void fail(const FLAC__StreamDecoder *d, FLAC__StreamDecoderErrorStatus status, void *ctx)
{
    (void)d;
    (void)status;
    ((struct flac *)ctx)->bad = true;
}

bool sound_flac(struct arena *a, struct str bytes, struct sound *ret, struct err *err)
{
    struct flac f = {.a = a, .bytes = bytes};
    FLAC__StreamDecoder *d = FLAC__stream_decoder_new();
    if (!d)
        return sound_damaged("no memory", err);
    bool ok = FLAC__stream_decoder_init_stream(d, take, NULL, NULL, NULL, NULL, give, NULL, fail, &f) ==
                  FLAC__STREAM_DECODER_INIT_STATUS_OK &&
              FLAC__stream_decoder_process_until_end_of_stream(d);
    FLAC__stream_decoder_delete(d);
    if (f.large)
        return err_message(err, ERR_TOO_LARGE, "sound", MESSAGE_SOUND_LARGE, (long long)SOUND_MAX_FRAMES);
    if (!ok || f.bad || f.sound.rate < 100 || f.sound.rate > SOUND_MAX_RATE)
        return sound_damaged("its FLAC frames are damaged", err);
    *ret = f.sound;
    return true;
}
