/* Sounds out of the bytes of a WAV, FLAC, MP3 or Ogg file that may be hostile, as mono floats -1..1, and
 * resampling. */
#ifndef INGOT_INFER_SOUND_H
#define INGOT_INFER_SOUND_H

#include "base/arena.h"
#include "base/err.h"

#define SOUND_MAX_FRAMES ((size_t)32 << 20)
#define SOUND_MAX_RATE   384000

struct sound {
    float *mono; /* the mean of the channels; in the arena */
    size_t n;
    uint32_t rate; /* Hz */
};

/* ERR_MEDIA_TYPE: another format, or MP3 and Ogg where libsndfile is missing; ERR_INVALID: damaged, or
 * nothing in it; ERR_TOO_LARGE. */
bool sound_decode(struct arena *a, struct str bytes, struct sound *ret, struct err *err);
bool sound_known(struct str bytes);

/* Windowed sinc: sample j of the result lies at t = j * from / to of the source; weights
 * f sinc(f (k - t)) * (1 + cos(pi (k - t) / w)) / 2 for |k - t| < w, f = min(1, to / from), w = 16 / f,
 * divided by their sum; the source is silent outside. ceil(n * to / from) samples. */
bool sound_resample(struct arena *a, struct sound *s, uint32_t rate, struct err *err);

/* --- for sound.c --- */
bool sound_flac(struct arena *a, struct str bytes, struct sound *ret, struct err *err);
bool sound_other(struct arena *a, struct str bytes, struct sound *ret, struct err *err);
bool sound_other_known(struct str bytes);
bool sound_damaged(const char *why, struct err *err);

#endif
