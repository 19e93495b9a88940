/* MP3 and Ogg (Vorbis, Opus) by libsndfile, which is loaded when the first such sound comes: the program runs
 * without it. */
#include "base/messages.h"
#include "infer/sound.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <sndfile.h>

#define LIBRARY      "libsndfile.so.1"
#define MAX_CHANNELS 64
#define FRAMES       4096 /* of one turn */

static struct {
    pthread_once_t once;
    SNDFILE *(*open)(SF_VIRTUAL_IO *, int, SF_INFO *, void *);
    sf_count_t (*read)(SNDFILE *, float *, sf_count_t);
    int (*close)(SNDFILE *);
} lib = {.once = PTHREAD_ONCE_INIT};

static void load(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    lib.read = (sf_count_t(*)(SNDFILE *, float *, sf_count_t))dlsym(library, "sf_readf_float");
    lib.close = (int (*)(SNDFILE *))dlsym(library, "sf_close");
    if (lib.read && lib.close)
        lib.open = (SNDFILE * (*)(SF_VIRTUAL_IO *, int, SF_INFO *, void *)) dlsym(library, "sf_open_virtual");
}

/* --- bytes as a file --- */
struct bytes {
    struct str all;
    sf_count_t at;
};

static sf_count_t length(void *ctx)
{
    return (sf_count_t)((struct bytes *)ctx)->all.n;
}

static sf_count_t seek(sf_count_t to, int from, void *ctx)
{
    struct bytes *b = ctx;
    sf_count_t n = (sf_count_t)b->all.n, base = from == SEEK_CUR ? b->at : from == SEEK_END ? n : 0;
    if (to < -base || to > n - base)
        return -1;
    return b->at = base + to;
}

static sf_count_t take(void *to, sf_count_t n, void *ctx)
{
    struct bytes *b = ctx;
    sf_count_t left = (sf_count_t)b->all.n - b->at;
    n = n < 0 ? 0 : n < left ? n : left;
    memcpy(to, b->all.p + b->at, (size_t)n);
    b->at += n;
    return n;
}

static sf_count_t refuse(unused_ok const void *from, unused_ok sf_count_t n, unused_ok void *ctx)
{
    return 0;
}

static sf_count_t tell(void *ctx)
{
    return ((struct bytes *)ctx)->at;
}

/* --- sounds --- */
static void mix(const float *from, size_t n, uint32_t channels, float *to)
{
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (uint32_t c = 0; c < channels; c++)
            sum += from[i * channels + c];
        sum /= channels;
        to[i] = isfinite(sum) ? (float)sum : 0;
    }
}

static bool read_all(struct arena *a, SNDFILE *f, uint32_t channels, struct sound *ret, struct err *err)
{
    float *turn = arena_alloc(a, sizeof *turn * FRAMES * channels);
    size_t cap = 0;
    for (sf_count_t n; (n = lib.read(f, turn, FRAMES)) > 0; ret->n += (size_t)n) {
        if (n > FRAMES || ret->n + (size_t)n > SOUND_MAX_FRAMES)
            return err_message(err, ERR_TOO_LARGE, "sound", MESSAGE_SOUND_LARGE, (long long)SOUND_MAX_FRAMES);
        if (ret->n + (size_t)n > cap) {
            size_t more = (ret->n + (size_t)n) * 2;
            ret->mono = arena_grow(a, ret->mono, cap * sizeof(float), more * sizeof(float));
            cap = more;
        }
        mix(turn, (size_t)n, channels, ret->mono + ret->n);
    }
    return true;
}

bool sound_other_known(struct str b)
{
    if (b.n >= 4 && !memcmp(b.p, "OggS", 4))
        return true;
    if (b.n >= 3 && !memcmp(b.p, "ID3", 3))
        return true;
    /* The head of an MPEG frame, of the layer III. */
    return b.n >= 4 && (uint8_t)b.p[0] == 0xff && ((uint8_t)b.p[1] & 0xe6) == 0xe2;
}

bool sound_other(struct arena *a, struct str bytes, struct sound *ret, struct err *err)
{
    struct bytes b = {.all = bytes};
    struct sound s = {0};
    SF_INFO info = {0};
    SF_VIRTUAL_IO io = {.get_filelen = length, .seek = seek, .read = take, .write = refuse, .tell = tell};
    pthread_once(&lib.once, load);
    if (!lib.open)
        return err_message(err, ERR_MEDIA_TYPE, "sound", MESSAGE_SOUND_LIBRARY);
    SNDFILE *f = lib.open(&io, SFM_READ, &info, &b);
    if (!f)
        return sound_damaged("libsndfile cannot read it", err);
    bool ok = info.channels >= 1 && info.channels <= MAX_CHANNELS && info.samplerate >= 100 &&
              info.samplerate <= SOUND_MAX_RATE;
    if (ok)
        ok = read_all(a, f, (uint32_t)info.channels, &s, err);
    else
        (void)sound_damaged("its head makes no sense", err);
    lib.close(f);
    if (!ok)
        return false;
    s.rate = (uint32_t)info.samplerate;
    *ret = s;
    return true;
}
