#include "metric/areas.h"

#include "base/map.h"
#include "metric/overlap.h"

#include <math.h>

/* Pixels of one label on one sample. */
struct count {
    uint32_t sample, label;
    uint64_t shared, either;
};

struct areas {
    struct map *numbers;
    uint32_t labels, samples;
    struct count *counts;
    size_t count, cap;
};

struct areas *areas_new(void)
{
    struct areas *s = base_zalloc(sizeof *s);
    s->numbers = map_new();
    return s;
}

void areas_free(struct areas *s)
{
    if (!s)
        return;
    map_free(s->numbers);
    free(s->counts);
    free(s);
}

static uint32_t number_of(struct areas *s, struct str label)
{
    uintptr_t known = (uintptr_t)map_get(s->numbers, label);
    if (!known)
        map_set(s->numbers, label, (void *)(uintptr_t)(known = ++s->labels));
    return (uint32_t)known - 1;
}

/* All shapes of a label as one mask. */
static bool joined(struct arena *a, const struct annotation *n, struct str label, uint32_t w, uint32_t h,
                   struct overlap_mask *ret, struct err *err)
{
    struct overlap_mask *masks = arena_array(a, struct overlap_mask, (size_t)n->shape_count + 1);
    size_t count = 0;
    for (uint32_t i = 0; i < n->shape_count; i++)
        if (str_eq(n->shapes[i].label, label) &&
            !overlap_mask_of(a, &n->shapes[i], w, h, &masks[count++], err))
            return false;
    *ret = overlap_joined(a, masks, count, h);
    return true;
}

static bool add_label(struct areas *s, const struct annotation *truth, const struct annotation *found,
                      struct str label, uint32_t w, uint32_t h, struct err *err)
{
    auto_arena struct arena a;
    struct overlap_mask t, f;
    arena_init(&a);
    if (!joined(&a, truth, label, w, h, &t, err) || !joined(&a, found, label, w, h, &f, err))
        return false;
    uint64_t shared = overlap_shared(&t, &f);
    if (s->count == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 256;
        s->counts = base_realloc(s->counts, s->cap * sizeof *s->counts);
    }
    s->counts[s->count++] = (struct count){s->samples, number_of(s, label), shared, t.area + f.area - shared};
    return true;
}

bool areas_add(struct areas *s, const struct annotation *truth, const struct annotation *found, uint32_t w,
               uint32_t h, struct err *err)
{
    const struct annotation *sides[] = {truth, found};
    struct map *seen = map_new();
    bool ok = true;
    for (size_t k = 0; k < countof(sides); k++)
        for (uint32_t i = 0; ok && i < sides[k]->shape_count; i++) {
            struct str label = sides[k]->shapes[i].label;
            if (!map_set(seen, label, s))
                ok = add_label(s, truth, found, label, w, h, err);
        }
    map_free(seen);
    s->samples += ok;
    return ok;
}

/* Sums per label; arrays of s->labels. */
static void sum(const struct areas *s, const uint32_t *weight, double *shared, double *either)
{
    for (size_t i = 0; i < s->count; i++) {
        double times = weight ? weight[s->counts[i].sample] : 1;
        shared[s->counts[i].label] += times * (double)s->counts[i].shared;
        either[s->counts[i].label] += times * (double)s->counts[i].either;
    }
}

double areas_share(const struct areas *s, struct str label, const uint32_t *weight)
{
    uintptr_t known = (uintptr_t)map_get(s->numbers, label);
    double shared = 0, either = 0;
    for (size_t i = 0; known && i < s->count; i++)
        if (s->counts[i].label == known - 1) {
            double times = weight ? weight[s->counts[i].sample] : 1;
            shared += times * (double)s->counts[i].shared;
            either += times * (double)s->counts[i].either;
        }
    return either > 0 ? shared / either : NAN;
}

double areas_mean(const struct areas *s, const uint32_t *weight)
{
    auto_arena struct arena a;
    double total = 0;
    size_t counted = 0;
    arena_init(&a);
    double *shared = arena_array(&a, double, s->labels + 1), *either = arena_array(&a, double, s->labels + 1);
    sum(s, weight, shared, either);
    for (uint32_t i = 0; i < s->labels; i++)
        if (either[i] > 0) {
            total += shared[i] / either[i];
            counted++;
        }
    return counted ? total / (double)counted : NAN;
}
