#include "infer/sound.h"

#include "base/messages.h"

#include <math.h>

bool sound_damaged(const char *why, struct err *err)
{
    return err_message(err, ERR_INVALID, "sound", MESSAGE_SOUND_DAMAGED, why);
}

static uint32_t little(const char *p, size_t n)
{
    uint32_t v = 0;
    for (size_t i = 0; i < n; i++)
        v |= (uint32_t)(uint8_t)p[i] << (8 * i);
    return v;
}

struct wav {
    uint32_t format, channels, rate, bits;
    struct str data;
};

enum { WAV_PCM = 1, WAV_FLOAT = 3, WAV_EXTENSIBLE = 0xfffe };

static void read_format(struct wav *w, struct str chunk)
{
    if (chunk.n < 16)
        return;
    w->format = little(chunk.p, 2);
    w->channels = little(chunk.p + 2, 2);
    w->rate = little(chunk.p + 4, 4);
    w->bits = little(chunk.p + 14, 2);
    if (w->format == WAV_EXTENSIBLE && chunk.n >= 26)
        w->format = little(chunk.p + 24, 2);
}

/* A data chunk that is longer than the file, as streams write, is what there is. */
static void read_chunks(struct wav *w, struct str bytes)
{
    for (size_t at = 12; at + 8 <= bytes.n;) {
        size_t n = little(bytes.p + at + 4, 4), left = bytes.n - at - 8;
        struct str chunk = {bytes.p + at + 8, n < left ? n : left};
        if (!memcmp(bytes.p + at, "fmt ", 4))
            read_format(w, chunk);
        else if (!memcmp(bytes.p + at, "data", 4) && !w->data.p)
            w->data = chunk;
        if (n > left)
            return;
        at += 8 + n + (n & 1);
    }
}

static double sample(const struct wav *w, const char *p)
{
    float f;
    double d;
    switch (w->bits) {
    case 8:
        return ((double)(uint8_t)p[0] - 128) / 128;
    case 16:
        return (int16_t)little(p, 2) / 32768.0;
    case 24:
        return (int32_t)(little(p, 3) << 8) / 2147483648.0;
    case 32:
        if (w->format == WAV_PCM)
            return (int32_t)little(p, 4) / 2147483648.0;
        memcpy(&f, p, sizeof f);
        return f;
    default:
        memcpy(&d, p, sizeof d);
        return d;
    }
}

static bool wav_fits(const struct wav *w)
{
    if (!w->channels || w->channels > 64 || w->rate < 100 || w->rate > SOUND_MAX_RATE)
        return false;
    if (w->format == WAV_FLOAT)
        return w->bits == 32 || w->bits == 64;
    return w->format == WAV_PCM && (w->bits == 8 || w->bits == 16 || w->bits == 24 || w->bits == 32);
}

static bool sound_wav(struct arena *a, struct str bytes, struct sound *ret, struct err *err)
{
    struct wav w = {0};
    read_chunks(&w, bytes);
    if (!wav_fits(&w))
        return sound_damaged("a WAV of another kind than PCM or float", err);
    size_t step = w.bits / 8, frame = step * w.channels, n = frame ? w.data.n / frame : 0;
    if (n > SOUND_MAX_FRAMES)
        return err_message(err, ERR_TOO_LARGE, "sound", MESSAGE_SOUND_LARGE, (long long)SOUND_MAX_FRAMES);
    *ret = (struct sound){arena_alloc(a, sizeof(float) * (n + 1)), n, w.rate};
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (uint32_t c = 0; c < w.channels; c++)
            sum += sample(&w, w.data.p + i * frame + c * step);
        sum /= w.channels;
        ret->mono[i] = isfinite(sum) && fabs(sum) < 1e6 ? (float)sum : 0;
    }
    return true;
}

bool sound_known(struct str bytes)
{
    return (bytes.n >= 12 && !memcmp(bytes.p, "RIFF", 4) && !memcmp(bytes.p + 8, "WAVE", 4)) ||
           (bytes.n >= 4 && !memcmp(bytes.p, "fLaC", 4)) || sound_other_known(bytes);
}

bool sound_decode(struct arena *a, struct str bytes, struct sound *ret, struct err *err)
{
    struct sound s = {0};
    if (!sound_known(bytes))
        return err_message(err, ERR_MEDIA_TYPE, "sound", MESSAGE_SOUND_FORMAT);
    bool ok = bytes.p[0] == 'R'   ? sound_wav(a, bytes, &s, err)
              : bytes.p[0] == 'f' ? sound_flac(a, bytes, &s, err)
                                  : sound_other(a, bytes, &s, err);
    if (!ok)
        return false;
    if (!s.n)
        return sound_damaged("there is nothing in it", err);
    *ret = s;
    return true;
}

/* --- resampling --- */
#define ZERO_CROSSINGS 16
#define MAX_PHASES     4096

struct sinc {
    double f, half;
    int taps; /* from floor(t) - taps + 1 to floor(t) + taps */
};

static void sinc_weights(const struct sinc *s, double fraction, float *ret)
{
    double sum = 0;
    for (int k = 0; k < 2 * s->taps; k++) {
        double x = k - s->taps + 1 - fraction, y = M_PI * s->f * x;
        double w = fabs(x) < s->half ? (fabs(y) < 1e-9 ? 1 : sin(y) / y) * (1 + cos(M_PI * x / s->half)) : 0;
        sum += w;
        ret[k] = (float)w;
    }
    for (int k = 0; k < 2 * s->taps; k++)
        ret[k] = (float)(ret[k] / sum);
}

static float sinc_apply(const struct sound *s, int64_t at, const float *w, int taps)
{
    double sum = 0;
    for (int k = 0; k < 2 * taps; k++) {
        int64_t i = at - taps + 1 + k;
        if (i >= 0 && i < (int64_t)s->n)
            sum += (double)w[k] * s->mono[i];
    }
    return (float)sum;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

bool sound_resample(struct arena *a, struct sound *s, uint32_t rate, struct err *err)
{
    if (s->rate == rate)
        return true;
    uint32_t by = common_divisor(s->rate, rate);
    uint32_t up = by ? rate / by : 0, down = by ? s->rate / by : 0;
    if (!up || !down)
        return sound_damaged("it has no sample rate", err);
    uint64_t n = ((uint64_t)s->n * up + down - 1) / down;
    if (n > SOUND_MAX_FRAMES)
        return err_message(err, ERR_TOO_LARGE, "sound", MESSAGE_SOUND_LARGE, (long long)SOUND_MAX_FRAMES);
    struct sinc sinc = {.f = up < down ? (double)up / down : 1};
    sinc.half = ZERO_CROSSINGS / sinc.f;
    sinc.taps = (int)ceil(sinc.half) + 1;
    size_t width = (size_t)sinc.taps * 2;
    uint32_t phases = up <= MAX_PHASES ? up : 1; /* few fractions come again and again */
    float *weights = arena_alloc(a, sizeof *weights * width * phases);
    for (uint32_t p = 0; p < phases; p++)
        sinc_weights(&sinc, (double)p / up, weights + width * p);
    float *out = arena_alloc(a, sizeof *out * (n + 1));
    for (uint64_t j = 0; j < n; j++) {
        uint32_t phase = (uint32_t)(j * down % up);
        float *w = phases > 1 || up == 1 ? weights + width * phase : weights;
        if (phases == 1 && up > 1)
            sinc_weights(&sinc, (double)phase / up, w);
        out[j] = sinc_apply(s, (int64_t)(j * down / up), w, sinc.taps);
    }
    *s = (struct sound){out, n, rate};
    return true;
}
