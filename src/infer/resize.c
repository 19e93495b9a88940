#include "infer/resize.h"

#include <math.h>

/* The source pixels of one result pixel: `n` from `first` on, weights in `w`. */
struct taps {
    uint32_t first, n;
    float *w;
};

static double bilinear(double x)
{
    x = fabs(x);
    return x < 1 ? 1 - x : 0;
}

static double bicubic(double x)
{
    const double a = -0.5;
    x = fabs(x);
    if (x < 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

static double box(double x)
{
    return x > -0.5 && x <= 0.5 ? 1 : 0;
}

static const struct {
    double (*weight)(double x);
    double support;
} filters[] = {
    [MODEL_NEAREST] = {NULL, 0},
    [MODEL_BILINEAR] = {bilinear, 1},
    [MODEL_BICUBIC] = {bicubic, 2},
    [MODEL_AREA] = {box, 0.5},
};

static uint32_t clamp_index(double v, uint32_t n)
{
    return v < 0 ? 0 : v >= n ? n - 1 : (uint32_t)v;
}

static void one_tap(struct taps *t, double center, uint32_t n, struct arena *a)
{
    t->first = clamp_index(floor(center), n);
    t->n = 1;
    t->w = arena_alloc(a, sizeof *t->w);
    t->w[0] = 1;
}

static struct taps *make_taps(struct arena *a, uint32_t in, uint32_t out, double from, double span,
                              enum model_resample filter, bool antialias)
{
    struct taps *taps = arena_array(a, struct taps, out);
    double step = span / out;
    double s = (antialias || filter == MODEL_AREA) && step > 1 ? step : 1;
    double support = filters[filter].support * s;
    for (uint32_t i = 0; i < out; i++) {
        double c = from + (i + 0.5) * step, sum = 0;
        if (filter == MODEL_NEAREST) {
            one_tap(&taps[i], c, in, a);
            continue;
        }
        uint32_t first = clamp_index(floor(c - support - 0.5), in);
        uint32_t last = clamp_index(ceil(c + support), in);
        taps[i] = (struct taps){first, last - first + 1, arena_array(a, float, last - first + 1)};
        double *w = arena_array(a, double, taps[i].n);
        for (uint32_t k = 0; k < taps[i].n; k++)
            sum += w[k] = filters[filter].weight((first + k + 0.5 - c) / s);
        if (fabs(sum) < 1e-12) {
            one_tap(&taps[i], c, in, a);
            continue;
        }
        for (uint32_t k = 0; k < taps[i].n; k++)
            taps[i].w[k] = (float)(w[k] / sum);
    }
    return taps;
}

/* One row of the result before its columns are resampled. The loops over a row are plain, so that the
 * compiler makes vectors of them. */
static void blend_bytes(const uint8_t *restrict in, size_t stride, const struct taps *t, float *restrict row)
{
    memset(row, 0, stride * sizeof *row);
    for (uint32_t k = 0; k < t->n; k++) {
        const uint8_t *from = in + (size_t)(t->first + k) * stride;
        float w = t->w[k];
        if (w == 0)
            continue;
        for (size_t x = 0; x < stride; x++)
            row[x] += w * (float)from[x];
    }
}

static void blend_floats(const float *restrict in, size_t stride, const struct taps *t, float *restrict row)
{
    memset(row, 0, stride * sizeof *row);
    for (uint32_t k = 0; k < t->n; k++) {
        const float *from = in + (size_t)(t->first + k) * stride;
        float w = t->w[k];
        if (w == 0)
            continue;
        for (size_t x = 0; x < stride; x++)
            row[x] += w * from[x];
    }
}

static void blend_columns(const float *row, uint32_t channels, const struct taps *taps, uint32_t out_w,
                          float *out)
{
    for (uint32_t x = 0; x < out_w; x++) {
        const struct taps *t = &taps[x];
        const float *from = row + (size_t)t->first * channels;
        for (uint32_t c = 0; c < channels; c++) {
            float sum = 0;
            for (uint32_t k = 0; k < t->n; k++)
                sum += t->w[k] * from[(size_t)k * channels + c];
            *out++ = sum;
        }
    }
}

static void cut(float *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i] = v[i] < 0 ? 0 : v[i] > 255 ? 255 : v[i];
}

static void resize_any(struct arena *a, const uint8_t *bytes, const float *floats, uint32_t in_w,
                       uint32_t in_h, uint32_t channels, const struct resize *r, float *out, uint32_t out_w,
                       uint32_t out_h)
{
    struct taps *rows = make_taps(a, in_h, out_h, r->from[1], r->span[1], r->filter, r->antialias);
    struct taps *columns = make_taps(a, in_w, out_w, r->from[0], r->span[0], r->filter, r->antialias);
    size_t stride = (size_t)in_w * channels;
    float *row = arena_alloc(a, stride * sizeof *row);
    for (uint32_t y = 0; y < out_h; y++) {
        if (bytes)
            blend_bytes(bytes, stride, &rows[y], row);
        else
            blend_floats(floats, stride, &rows[y], row);
        blend_columns(row, channels, columns, out_w, out + (size_t)y * out_w * channels);
    }
    if (bytes && r->filter == MODEL_BICUBIC)
        cut(out, (size_t)out_w * out_h * channels);
}

void resize_bytes(struct arena *a, const uint8_t *in, uint32_t in_w, uint32_t in_h, uint32_t channels,
                  const struct resize *r, float *out, uint32_t out_w, uint32_t out_h)
{
    resize_any(a, in, NULL, in_w, in_h, channels, r, out, out_w, out_h);
}

void resize_floats(struct arena *a, const float *in, uint32_t in_w, uint32_t in_h, uint32_t channels,
                   const struct resize *r, float *out, uint32_t out_w, uint32_t out_h)
{
    resize_any(a, NULL, in, in_w, in_h, channels, r, out, out_w, out_h);
}
