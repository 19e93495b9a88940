#include "metric/areas.h"
#include "metric/detect.h"
#include "metric/family.h"

#include <math.h>

struct shapes {
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

static bool add(void *state, const struct annotation *truth, const struct annotation *found, uint32_t w,
                uint32_t h, struct err *err)
{
    struct shapes *s = state;
    return (!s->areas || areas_add(s->areas, truth, found, w, h, err)) &&
           detect_add(s->detect, truth, found, w, h, err);
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
    double score = detect_best_score(s->detect), own[DETECT_MAX_ROWS];
    json_key(o, "threshold");
    json_real(o, score);
    json_key(o, "labels");
    json_array(o);
    for (size_t i = 0; i < detect_labels(s->detect); i++) {
        struct detect_counts n = detect_at(s->detect, i, score);
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

const struct family family_shapes = {
    .begin = begin, .end = end, .add = add, .name = name, .figures = figures, .more = more};
