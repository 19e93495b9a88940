#include "codec/relabel.h"

#include <math.h>

struct str relabel_name(const struct relabel *list, size_t n, struct str label)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(list[i].from, label))
            return list[i].to;
    return label;
}

static bool names(const struct relabel *list, size_t n, struct str label)
{
    return label.n && !str_eq(relabel_name(list, n, label), label);
}

/* Of two scores of one label the higher; NAN is none. */
static double higher(double x, double y)
{
    return isnan(x) || y > x ? y : x;
}

static bool of_sample(struct arena *a, struct annotation *n, const struct relabel *list, size_t count)
{
    bool any = false;
    for (uint32_t i = 0; i < n->label_count; i++)
        any = any || names(list, count, n->labels[i]);
    if (!any)
        return false;
    struct str *labels = arena_array(a, struct str, n->label_count);
    double *scores = n->scores ? arena_array(a, double, n->label_count) : NULL;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n->label_count; i++) {
        struct str name = relabel_name(list, count, n->labels[i]);
        uint32_t k = 0;
        while (k < kept && !str_eq(labels[k], name))
            k++;
        if (scores)
            scores[k] = k < kept ? higher(scores[k], n->scores[i]) : n->scores[i];
        labels[k] = name;
        kept += k == kept;
    }
    n->labels = labels;
    n->scores = scores;
    n->label_count = kept;
    return true;
}

static bool of_shapes(struct arena *a, struct annotation *n, const struct relabel *list, size_t count)
{
    bool any = false;
    for (uint32_t i = 0; i < n->shape_count; i++) {
        if (!names(list, count, n->shapes[i].label))
            continue;
        if (!any)
            n->shapes = arena_copy(a, n->shapes, n->shape_count * sizeof *n->shapes);
        any = true;
        n->shapes[i].label = relabel_name(list, count, n->shapes[i].label);
    }
    if (any)
        n->room = 0;
    return any;
}

static bool of_parts(struct arena *a, struct annotation *n, struct part **parts, uint32_t part_count,
                     const struct relabel *list, size_t count)
{
    bool any = false;
    for (uint32_t i = 0; i < part_count; i++) {
        if (!names(list, count, (*parts)[i].label))
            continue;
        if (!any)
            *parts = arena_copy(a, *parts, part_count * sizeof **parts);
        any = true;
        (*parts)[i].label = relabel_name(list, count, (*parts)[i].label);
    }
    if (any)
        n->room = 0;
    return any;
}

bool relabel_all(struct arena *a, struct annotation *n, const struct relabel *list, size_t count)
{
    bool labels = of_sample(a, n, list, count), shapes = of_shapes(a, n, list, count),
         spans = of_parts(a, n, &n->spans, n->span_count, list, count),
         segments = of_parts(a, n, &n->segments, n->segment_count, list, count);
    return labels || shapes || spans || segments;
}

bool relabel_text(struct arena *a, enum annotation_type type, struct str json, const struct relabel *list,
                  size_t count, struct str *ret, struct err *err)
{
    struct annotation n;
    if (!model_parse(a, type, json, &n, err))
        return false;
    *ret = relabel_all(a, &n, list, count) ? model_text(a, &n) : json;
    return true;
}
