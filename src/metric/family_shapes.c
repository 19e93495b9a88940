#include "metric/areas.h"
#include "metric/detect.h"
#include "metric/family.h"

#include <math.h>

struct shapes {
    enum detect_by by;
    double score; /* that was asked for; NAN: the one of the best F1 */
    struct detect *detect;
    struct areas *areas; /* of masks only */
    const struct detect_row *rows;
    size_t row_count;
};

static void *begin(enum annotation_type type)
{
    struct shapes *s = base_zalloc(sizeof *s);
    enum detect_by by = type == ANNOTATION_SEGMENTATION ? DETECT_MASKS
                        : type == ANNOTATION_KEYPOINTS  ? DETECT_KEYPOINTS
                                                        : DETECT_BOXES;
    s->by = by;
    s->score = NAN;
    s->detect = detect_new(by);
    s->areas = by == DETECT_MASKS ? areas_new() : NULL;
    s->rows = detect_rows(by, &s->row_count);
    return s;
}

static void end(void *state)
{
    struct shapes *s = state;
    detect_free(s->detect);
    areas_free(s->areas);
    free(s);
}

static void tell(const struct shapes *s, const struct annotation *truth, const struct annotation *found,
                 const struct detect_pair *pairs, uint32_t w, uint32_t h, struct matches *keep)
{
    for (uint32_t i = 0; i < truth->shape_count; i++) {
        enum detect_size size = detect_size_of(s->by, &truth->shapes[i], w, h);
        matches_truth(keep, truth->shapes[i].label, size == DETECT_ALL ? MATCHES_NONE : size);
    }
    for (uint32_t i = 0; i < found->shape_count; i++) {
        const struct shape *f = &found->shapes[i];
        unsigned flags = (pairs[i].hit ? MATCHES_HIT : 0) | (pairs[i].ignored ? MATCHES_IGNORED : 0);
        uint32_t at = pairs[i].truth == DETECT_NO_TRUTH ? MATCHES_NONE : pairs[i].truth;
        matches_found(keep, f->label, f->has_score ? f->score : 1, at, i, flags);
    }
}

static bool add(void *state, const struct annotation *truth, const struct annotation *found, uint32_t w,
                uint32_t h, struct matches *keep, struct err *err)
{
    struct shapes *s = state;
    auto_arena struct arena a;
    arena_init(&a);
    struct detect_pair *pairs =
        keep ? arena_array(&a, struct detect_pair, (size_t)found->shape_count + 1) : NULL;
    if ((s->areas && !areas_add(s->areas, truth, found, w, h, err)) ||
        !detect_add_pairs(s->detect, truth, found, w, h, pairs, err))
        return false;
    if (keep)
        tell(s, truth, found, pairs, w, h, keep);
    return true;
}

static void set_score(void *state, double score)
{
    struct shapes *s = state;
    s->score = score;
}

static double score(void *state)
{
    struct shapes *s = state;
    return isnan(s->score) ? detect_best_score(s->detect) : s->score;
}

static const char *name(const void *state, size_t i)
{
    const struct shapes *s = state;
    return i < s->row_count ? s->rows[i].name : i == s->row_count && s->areas ? "mIoU" : NULL;
}

static void figures(void *state, const uint32_t *weight, double *ret)
{
    struct shapes *s = state;
    detect_figures(s->detect, DETECT_EVERY, weight, ret);
    if (s->areas)
        ret[s->row_count] = areas_mean(s->areas, weight);
}

static void more(void *state, struct json_out *o)
{
    struct shapes *s = state;
    double least = score(s), own[DETECT_MAX_ROWS];
    json_key(o, "threshold");
    json_real(o, least);
    json_key(o, "labels");
    json_array(o);
    for (size_t i = 0; i < detect_labels(s->detect); i++) {
        struct detect_counts n = detect_at(s->detect, i, least);
        json_object(o);
        json_kstr(o, "label", detect_label(s->detect, i));
        family_counts(o, n.hits, n.mistakes, n.missed);
        detect_figures(s->detect, i, NULL, own);
        family_real(o, "AP", own[0]);
        family_real(o, "AP50", own[1]);
        if (s->areas)
            family_real(o, "IoU", areas_share(s->areas, detect_label(s->detect, i), NULL));
        json_object_end(o);
    }
    json_array_end(o);
}

const struct family family_shapes = {.begin = begin,
                                     .end = end,
                                     .add = add,
                                     .set_score = set_score,
                                     .score = score,
                                     .name = name,
                                     .figures = figures,
                                     .more = more};
