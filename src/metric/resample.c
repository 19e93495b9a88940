#include "metric/resample.h"

#include <math.h>

/* splitmix64: short, and even enough for drawing. */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void draw(uint64_t *state, size_t samples, uint32_t *weight)
{
    memset(weight, 0, samples * sizeof *weight);
    for (size_t i = 0; i < samples; i++)
        weight[(size_t)((__uint128_t)next(state) * samples >> 64)]++;
}

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Those that say something, sorted; where the middle 95 % begin and end, moved so that their mean is the
 * value. */
static struct resample_interval middle(double value, double *draws, size_t count)
{
    double sum = 0;
    if (!count || isnan(value))
        return (struct resample_interval){NAN, NAN};
    for (size_t i = 0; i < count; i++)
        sum += draws[i];
    qsort(draws, count, sizeof *draws, by_value);
    size_t cut = (size_t)((double)count * 0.025);
    double by = value - sum / (double)count;
    return (struct resample_interval){.low = fmin(value, draws[cut] + by),
                                      .high = fmax(value, draws[count - 1 - cut] + by)};
}

struct resample_interval resample_middle(struct arena *a, double value, const double *draws, size_t count)
{
    double *kept = arena_array(a, double, count + 1);
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(draws[i]))
            kept[n++] = draws[i];
    return middle(value, kept, n);
}

void resample(struct arena *a, size_t samples, uint32_t draws, const double *values, size_t figures,
              resample_fn fn, void *ctx, struct resample_interval *ret, double *ret_draws)
{
    uint32_t *weight = arena_array(a, uint32_t, samples + 1);
    double *one = arena_array(a, double, figures + 1);
    size_t places = figures * draws;
    double *all = arena_array(a, double, places + 1);
    size_t *count = arena_array(a, size_t, figures + 1);
    uint64_t state = samples;
    for (uint32_t i = 0; samples && i < draws; i++) {
        draw(&state, samples, weight);
        fn(ctx, weight, one);
        if (ret_draws)
            memcpy(ret_draws + i * figures, one, figures * sizeof *one);
        for (size_t f = 0; f < figures; f++)
            if (!isnan(one[f]))
                all[f * draws + count[f]++] = one[f];
    }
    for (size_t f = 0; f < figures; f++) {
        struct resample_interval m = middle(values[f], all + f * draws, count[f]);
        /* A figure is no less than 0, and a share no more than 1. */
        ret[f] =
            isnan(m.low) ? m : (struct resample_interval){fmax(0, m.low), fmin(fmax(1, values[f]), m.high)};
    }
}
