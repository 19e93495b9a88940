#include "codec/labelme_mask.h"

#include "base/hash.h"
#include "codec/png_mask.h"
#include "codec/rle.h"

#include <math.h>

static bool no(const char **ret_why, const char *why)
{
    *ret_why = why;
    return false;
}

struct placed {
    const uint8_t *bits;
    uint32_t w, h;
    int64_t x, y; /* in the picture */
};

/* The pixels that lie in the picture, as runs down its columns. */
static struct str runs_of(struct arena *a, const struct placed *p, uint32_t width, uint32_t height)
{
    struct rle_builder runs;
    int64_t top = p->y > 0 ? p->y : 0, bottom = p->y + p->h < height ? p->y + p->h : height;
    rle_builder_init(&runs, a);
    for (int64_t x = 0; x < width; x++) {
        if (x < p->x || x >= p->x + p->w || bottom <= top) {
            rle_builder_add(&runs, false, height);
            continue;
        }
        rle_builder_add(&runs, false, (uint64_t)top);
        for (int64_t y = top; y < bottom; y++)
            rle_builder_add(&runs, rle_bit(p->bits, (uint64_t)((y - p->y) * p->w + (x - p->x))), 1);
        rle_builder_add(&runs, false, (uint64_t)(height - bottom));
    }
    return runs.count > 1 ? rle_encode(a, runs.runs, runs.count) : STR_NULL;
}

bool labelme_mask_read(struct arena *a, struct str base64, const double corner[4], const uint32_t picture[2],
                       uint64_t *budget, struct shape *ret, const char **ret_repaired, const char **ret_why)
{
    struct placed p;
    uint8_t *bits = NULL;
    size_t n;
    if (!picture[0] || !picture[1])
        return no(ret_why, "its picture's size is not known, and a mask needs it");
    if ((uint64_t)picture[0] * picture[1] > ANNOTATION_MAX_PIXELS)
        return no(ret_why, "its picture has too many pixels for a mask");
    for (int i = 0; i < 4; i++)
        if (!(fabs(corner[i]) <= ANNOTATION_MAX_SIDE))
            return no(ret_why, "a coordinate is beyond 1000000 or not a number");
    auto_free char *png = base_alloc(base64.n + 1);
    if (!base64.n || !base64_decode(base64, png, base64.n, &n))
        return no(ret_why, "its mask is not base64");
    if (!png_mask_size((struct str){png, n}, &p.w, &p.h, ret_why))
        return false;
    uint64_t pixels = (uint64_t)p.w * p.h + (uint64_t)picture[0];
    if (pixels > *budget)
        return no(ret_why, "the masks of this file have too many pixels together");
    *budget -= pixels;
    if (!png_mask_read((struct str){png, n}, &bits, ret_why))
        return false;
    p.bits = bits;
    p.x = (int64_t)corner[0];
    p.y = (int64_t)corner[1];
    *ret_repaired = NULL;
    if ((int64_t)corner[2] - p.x + 1 != p.w || (int64_t)corner[3] - p.y + 1 != p.h)
        *ret_repaired = "its corners do not fit its mask; the mask was laid at the first corner";
    else if (p.x < 0 || p.y < 0 || p.x + p.w > picture[0] || p.y + p.h > picture[1])
        *ret_repaired = "its mask was clipped at the edge of the picture";
    *ret = (struct shape){.kind = SHAPE_MASK, .size = {picture[1], picture[0]}};
    ret->counts = runs_of(a, &p, picture[0], picture[1]);
    free(bits);
    return ret->counts.n || no(ret_why, "its mask has no pixels inside the picture");
}

struct cut {
    const uint8_t *bits;
    uint32_t x, y, height; /* where it begins; height of the picture */
};

static bool is_set(const void *ctx, uint32_t x, uint32_t y)
{
    const struct cut *c = ctx;
    return rle_bit(c->bits, (uint64_t)(c->x + x) * c->height + c->y + y);
}

/* As LabelMe spells it: the usual alphabet, with padding. */
static struct str base64_of(struct arena *a, struct str bytes)
{
    char *text = arena_alloc(a, 4 * (bytes.n + 2) / 3 + 4);
    size_t n = base64url_encode(bytes.p, bytes.n, text);
    for (size_t i = 0; i < n; i++)
        text[i] = text[i] == '-' ? '+' : text[i] == '_' ? '/' : text[i];
    while (n % 4)
        text[n++] = '=';
    return (struct str){text, n};
}

bool labelme_mask_write(struct arena *a, const struct shape *mask, double ret_corner[4],
                        struct str *ret_base64)
{
    uint32_t *runs;
    size_t count;
    const char *why;
    double box[4];
    if (!rle_decode(a, mask->counts, mask->size[0], mask->size[1], &runs, &count, &why))
        return false;
    rle_box(runs, count, mask->size[0], box);
    if (box[2] < 1 || box[3] < 1)
        return false;
    auto_free uint8_t *bits = rle_bits(runs, count, mask->size[0], mask->size[1]);
    struct cut cut = {bits, (uint32_t)box[0], (uint32_t)box[1], mask->size[0]};
    auto_buf struct buf png = {0};
    png_mask_write(&png, (uint32_t)box[2], (uint32_t)box[3], is_set, &cut);
    *ret_base64 = base64_of(a, buf_view(&png));
    ret_corner[0] = box[0];
    ret_corner[1] = box[1];
    ret_corner[2] = box[0] + box[2] - 1;
    ret_corner[3] = box[1] + box[3] - 1;
    return true;
}
