/* Pictures and sounds of any format, whole and prepared, exact and reduced. */
#include "infer/prepare.h"
#include "infer/sound.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST (1u << 20) /* pixels: larger ones are right and slow */

static void prepare(const struct picture *p, uint8_t choice)
{
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct prepared ret;
    struct model_input in = {.name = STR("x"),
                             .size = {16, 12},
                             .multiple = 1,
                             .range = {1, 64},
                             .crop = 1,
                             .scale = 1,
                             .deviation = {1, 1, 1},
                             .fit = (enum model_fit)(choice % 3),
                             .resample = (enum model_resample)(choice / 3 % 4),
                             .antialias = choice & 64};
    if (!prepare_picture(&a, &in, p, &ret, &err) || ret.tensors[0].data.n != sizeof(float) * 3 * 16 * 12)
        abort();
}

static void picture(struct str bytes, uint32_t least)
{
    struct err err = {0};
    auto_picture struct picture p = {0};
    if (!picture_decode(bytes, least, least, &p, &err)) {
        if (!err.message[0])
            abort();
        return;
    }
    if (!p.width || !p.height || p.width > p.full_width || p.height > p.full_height)
        abort();
    if ((uint64_t)p.width * p.height <= MOST)
        prepare(&p, (uint8_t)bytes.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct str bytes = {(const char *)data, size};
    if (!sound_known(bytes)) {
        picture(bytes, 0);
        picture(bytes, 8);
        return 0;
    }
    struct sound s;
    if (!sound_decode(&a, bytes, &s, &err))
        return err.message[0] ? 0 : (abort(), 0);
    s.n = s.n < 5000 ? s.n : 5000;
    if (!sound_resample(&a, &s, 8000, &err))
        return err.message[0] ? 0 : (abort(), 0);
    return 0;
}
