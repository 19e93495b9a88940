#include "metric/slices.h"

#include "base/map.h"

#include <stdio.h>

#define PUT_MAX 64 /* values of one sample */

struct value {
    struct str text;
    uint32_t *samples;
    size_t count, cap;
};

struct way {
    struct str by, name;
    struct map *numbers;
    struct value *values;
    size_t count, cap;
};

struct put {
    uint32_t way, value;
};

struct slices {
    struct arena arena;
    struct way ways[SLICES_WAYS];
    size_t ways_count;
    uint32_t samples;
    struct put put[PUT_MAX];
    size_t put_count;
};

struct slices *slices_new(void)
{
    struct slices *s = base_zalloc(sizeof *s);
    arena_init(&s->arena);
    return s;
}

void slices_free(struct slices *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->ways_count; i++) {
        for (size_t k = 0; k < s->ways[i].count; k++)
            free(s->ways[i].values[k].samples);
        free(s->ways[i].values);
        map_free(s->ways[i].numbers);
    }
    arena_release(&s->arena);
    free(s);
}

static struct way *way_of(struct slices *s, const char *by, struct str name)
{
    for (size_t i = 0; i < s->ways_count; i++)
        if (str_is(s->ways[i].by, by) && str_eq(s->ways[i].name, name))
            return &s->ways[i];
    if (s->ways_count == SLICES_WAYS)
        return NULL;
    struct way *w = &s->ways[s->ways_count++];
    *w = (struct way){.by = str_of(arena_strdup(&s->arena, by)), .numbers = map_new()};
    w->name = name.n ? arena_str(&s->arena, name) : STR_NULL;
    return w;
}

/* SIZE_MAX: there are too many. */
static size_t value_of(struct slices *s, struct way *w, struct str text)
{
    uintptr_t known = (uintptr_t)map_get(w->numbers, text);
    if (known)
        return known - 1;
    if (w->count == SLICES_SEEN)
        return SIZE_MAX;
    if (w->count == w->cap) {
        w->cap = w->cap ? w->cap * 2 : 8;
        w->values = base_realloc(w->values, w->cap * sizeof *w->values);
    }
    w->values[w->count] = (struct value){.text = arena_str(&s->arena, text)};
    map_set(w->numbers, text, (void *)(uintptr_t)(w->count + 1));
    return w->count++;
}

void slices_put(struct slices *s, const char *by, struct str name, struct str text)
{
    struct way *w = s->put_count < PUT_MAX ? way_of(s, by, name) : NULL;
    size_t v = w ? value_of(s, w, text) : SIZE_MAX;
    if (v == SIZE_MAX)
        return;
    struct put p = {(uint32_t)(w - s->ways), (uint32_t)v};
    for (size_t i = 0; i < s->put_count; i++)
        if (s->put[i].way == p.way && s->put[i].value == p.value)
            return;
    s->put[s->put_count++] = p;
}

static void put_object(struct slices *s, yyjson_val *attributes)
{
    size_t i, max;
    yyjson_val *key, *v;
    yyjson_obj_foreach(attributes, i, max, key, v)
    {
        char number[40];
        struct str text = json_str(v), name = json_str(key);
        if (yyjson_is_bool(v))
            text = yyjson_get_bool(v) ? STR("true") : STR("false");
        if (yyjson_is_int(v)) {
            int n = snprintf(number, sizeof number, "%lld", (long long)yyjson_get_sint(v));
            text = (struct str){number, (size_t)n};
        }
        if (text.n && text.n <= 200 && name.n && name.n <= 200)
            slices_put(s, "attribute", name, text);
    }
}

void slices_attributes(struct slices *s, struct str annotation)
{
    auto_arena struct arena a;
    struct err ignored = {0};
    size_t i, max;
    yyjson_val *shape;
    arena_init(&a);
    if (str_find(annotation, STR("\"attributes\"")) < 0)
        return;
    yyjson_val *v = json_parse(&a, annotation, &ignored);
    put_object(s, yyjson_obj_get(v, "attributes"));
    yyjson_arr_foreach(yyjson_obj_get(v, "shapes"), i, max, shape)
    {
        put_object(s, yyjson_obj_get(shape, "attributes"));
    }
}

void slices_end(struct slices *s, bool kept)
{
    for (size_t i = 0; kept && i < s->put_count; i++) {
        struct value *v = &s->ways[s->put[i].way].values[s->put[i].value];
        if (v->count == v->cap) {
            v->cap = v->cap ? v->cap * 2 : 16;
            v->samples = base_realloc(v->samples, v->cap * sizeof *v->samples);
        }
        v->samples[v->count++] = s->samples;
    }
    s->put_count = 0;
    s->samples += kept;
}

static int commonest(const void *x, const void *y)
{
    const struct value *a = x, *b = y;
    return a->count != b->count ? (a->count < b->count) - (a->count > b->count)
                                : strcmp(a->text.p, b->text.p);
}

static void write_value(struct slices *s, const struct way *w, const struct value *v, struct evaluate *e,
                        struct json_out *o)
{
    auto_arena struct arena a;
    size_t count = 0;
    arena_init(&a);
    while (evaluate_figure(e, count))
        count++;
    uint32_t *weight = arena_array(&a, uint32_t, s->samples + 1);
    double *figures = arena_array(&a, double, count + 1);
    for (size_t i = 0; i < v->count; i++)
        weight[v->samples[i]] = 1;
    evaluate_figures(e, weight, figures);
    json_object(o);
    json_kstr(o, "by", w->by);
    json_kstr(o, "name", w->name);
    json_kstr(o, "value", v->text);
    json_kint(o, "samples", (int64_t)v->count);
    json_key(o, "figures");
    json_object(o);
    for (size_t i = 0; i < count; i++)
        if (evaluate_is_main(str_of(evaluate_figure(e, i)))) {
            json_key(o, evaluate_figure(e, i));
            json_real(o, figures[i]);
        }
    json_object_end(o);
    json_object_end(o);
}

void slices_write(struct slices *s, struct evaluate *e, struct json_out *o)
{
    json_array(o);
    for (size_t i = 0; i < s->ways_count; i++) {
        struct way *w = &s->ways[i];
        qsort(w->values, w->count, sizeof *w->values, commonest);
        bool one = w->count <= 1 || w->values[1].count == 0;
        if (one && !(w->count == 1 && w->values[0].count < s->samples))
            continue;
        for (size_t k = 0; k < w->count && k < SLICES_VALUES && w->values[k].count; k++)
            write_value(s, w, &w->values[k], e, o);
    }
    json_array_end(o);
}
