#include "infer/prepare.h"

#include "base/messages.h"
#include "infer/resize.h"
#include "infer/types.h"

#include <math.h>

static uint32_t follow(const struct model_input *in, double side)
{
    double up = ceil(side / in->multiple - 1e-9) * in->multiple;
    double v = up < in->range[0] ? in->range[0] : up > in->range[1] ? in->range[1] : up;
    return v < 1 ? 1 : (uint32_t)v;
}

/* The size of the input: as it is given, or following the picture. */
static void input_size(const struct model_input *in, double w, double h, uint32_t ret[2])
{
    ret[0] = in->size[0];
    ret[1] = in->size[1];
    if (!ret[0] && !ret[1]) {
        double s = in->longest / (w > h ? w : h);
        s = s < 1 ? s : 1;
        ret[0] = follow(in, floor(w * s + 0.5));
        ret[1] = follow(in, floor(h * s + 0.5));
    } else if (!ret[0]) {
        ret[0] = follow(in, ceil(w * ret[1] / h - 1e-9));
    } else if (!ret[1]) {
        ret[1] = follow(in, ceil(h * ret[0] / w - 1e-9));
    }
}

static double whole(double v, uint32_t most)
{
    v = floor(v + 0.5);
    return v < 1 ? 1 : v > most ? most : v;
}

/* Pixels of the input that the picture covers, for steps and padding. */
static void cover(const struct model_input *in, const struct prepare_map *m, double ret[2])
{
    double w = m->picture[0], h = m->picture[1];
    ret[0] = m->input[0];
    ret[1] = m->input[1];
    if (in->fit != MODEL_LETTERBOX)
        return;
    double s = fmin(m->input[0] / w, m->input[1] / h);
    ret[0] = whole(w * s, m->input[0]);
    ret[1] = whole(h * s, m->input[1]);
}

bool prepare_place(const struct model_input *in, uint32_t width, uint32_t height, struct prepare_map *ret,
                   struct err *err)
{
    struct prepare_map m = {.picture = {width, height}};
    double span[2] = {width, height}, covered[2];
    input_size(in, width, height, m.input);
    if ((uint64_t)m.input[0] * m.input[1] > PREPARE_MAX_PIXELS)
        return err_set(err, ERR_TOO_LARGE, "picture",
                       "prepared it would have %ux%u pixels; at most %u are taken", m.input[0], m.input[1],
                       PREPARE_MAX_PIXELS);
    cover(in, &m, covered);
    if (in->fit == MODEL_CROP) {
        double aspect = (double)m.input[0] / m.input[1];
        span[0] = fmin(width, height * aspect) * in->crop;
        span[1] = span[0] / aspect;
    }
    for (int i = 0; i < 2; i++) {
        bool middle = in->align == MODEL_CENTER;
        m.from[i] = middle ? (m.picture[i] - span[i]) / 2 : 0;
        m.offset[i] = middle ? floor((m.input[i] - covered[i]) / 2) : 0;
        m.step[i] = span[i] / covered[i];
    }
    *ret = m;
    return true;
}

static void to_gray(float *rgb, size_t pixels)
{
    for (size_t i = 0; i < pixels; i++)
        rgb[i] = 0.299F * rgb[3 * i] + 0.587F * rgb[3 * i + 1] + 0.114F * rgb[3 * i + 2];
}

/* Where values go: one plane per channel or channels side by side. */
struct target {
    const struct model_input *in;
    float *to;
    uint32_t channels, width, height;
    double scale[3], shift[3]; /* value = pixel * scale + shift */
};

static size_t target_at(const struct target *t, uint32_t x, uint32_t y, uint32_t c)
{
    size_t pixel = (size_t)y * t->width + x;
    return t->in->layout == MODEL_NCHW ? (size_t)c * t->width * t->height + pixel : pixel * t->channels + c;
}

static void fill_pad(const struct target *t)
{
    for (uint32_t c = 0; c < t->channels; c++) {
        float v = (float)(t->in->pad[c] * t->scale[c] + t->shift[c]);
        for (uint32_t y = 0; y < t->height; y++)
            for (uint32_t x = 0; x < t->width; x++)
                t->to[target_at(t, x, y, c)] = v;
    }
}

static void place_pixels(const struct target *t, const float *from, uint32_t w, uint32_t h, uint32_t left,
                         uint32_t top)
{
    for (uint32_t c = 0; c < t->channels; c++) {
        uint32_t channel = t->in->color == MODEL_BGR ? 2 - c : c;
        float scale = (float)t->scale[c], shift = (float)t->shift[c];
        size_t step = t->in->layout == MODEL_NCHW ? 1 : t->channels;
        for (uint32_t y = 0; y < h; y++) {
            const float *in = from + (size_t)y * w * t->channels + channel;
            float *out = t->to + target_at(t, left, top + y, c);
            for (uint32_t x = 0; x < w; x++, in += t->channels, out += step)
                *out = *in * scale + shift;
        }
    }
}

/* Floats to the type of the input. */
static struct tensor typed(struct arena *a, const struct model_input *in, const float *v, size_t n)
{
    struct tensor t = {.name = in->name.p, .type = TENSOR_FP32, .data = {(const char *)v, n * sizeof *v}};
    if (in->type == MODEL_UINT8) {
        uint8_t *bytes = arena_alloc(a, n);
        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)(v[i] < 0 ? 0 : v[i] > 255 ? 255 : floorf(v[i] + 0.5F));
        t.type = TENSOR_UINT8;
        t.data = (struct str){(const char *)bytes, n};
    } else if (in->type == MODEL_FP16) {
        uint16_t *halves = arena_alloc(a, n * 2);
        for (size_t i = 0; i < n; i++)
            halves[i] = types_to_half(v[i]);
        t.type = TENSOR_FP16;
        t.data = (struct str){(const char *)halves, n * 2};
    }
    return t;
}

static void picture_dims(const struct target *t, struct tensor *ret)
{
    bool first = t->in->layout == MODEL_NCHW;
    ret->n_dims = 4;
    ret->dims[0] = 1;
    ret->dims[1] = first ? t->channels : t->height;
    ret->dims[2] = first ? t->height : t->width;
    ret->dims[3] = first ? t->width : t->channels;
}

bool prepare_picture(struct arena *a, const struct model_input *in, const struct picture *p,
                     struct prepared *ret, struct err *err)
{
    struct prepare_map m;
    double covered[2];
    if (!prepare_place(in, p->full_width, p->full_height, &m, err))
        return false;
    cover(in, &m, covered);
    uint32_t w = (uint32_t)covered[0], h = (uint32_t)covered[1];
    double shrunk[2] = {(double)p->width / p->full_width, (double)p->height / p->full_height};
    struct resize r = {.filter = in->resample, .antialias = in->antialias};
    for (int i = 0; i < 2; i++) {
        r.from[i] = m.from[i] * shrunk[i];
        r.span[i] = m.step[i] * covered[i] * shrunk[i];
    }
    float *rgb = arena_alloc(a, sizeof *rgb * 3 * w * h);
    resize_bytes(a, p->rgb, p->width, p->height, 3, &r, rgb, w, h);
    struct target t = {.in = in, .channels = 3, .width = m.input[0], .height = m.input[1]};
    if (in->color == MODEL_GRAY) {
        to_gray(rgb, (size_t)w * h);
        t.channels = 1;
    }
    for (uint32_t c = 0; c < t.channels; c++) {
        t.scale[c] = in->scale / in->deviation[c];
        t.shift[c] = -in->mean[c] / in->deviation[c];
    }
    size_t n = (size_t)t.width * t.height * t.channels;
    t.to = arena_alloc(a, sizeof *t.to * n);
    if (w < t.width || h < t.height)
        fill_pad(&t);
    place_pixels(&t, rgb, w, h, (uint32_t)m.offset[0], (uint32_t)m.offset[1]);
    *ret = (struct prepared){.n = 1, .map = m};
    ret->tensors[0] = typed(a, in, t.to, n);
    picture_dims(&t, &ret->tensors[0]);
    return true;
}
