#include "core/evaluate/report.h"

#include "base/hash.h"
#include "metric/curves.h"
#include "metric/family.h"
#include "store/store.h"

#include <math.h>

#define CURVES_LABELS 50   /* labels that have curves of their own, those with most truths */
#define CELLS_MAX     5000 /* of a confusion that are told, the largest */

/* --- at a score --- */

struct cell {
    uint32_t truth, found, count;
};

static int largest(const void *x, const void *y)
{
    const struct cell *a = x, *b = y;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return a->truth != b->truth ? (a->truth > b->truth) - (a->truth < b->truth)
                                : (a->found > b->found) - (a->found < b->found);
}

static void write_cell(const struct matches *m, const struct cell *c, struct json_out *o)
{
    json_object(o);
    json_kstr(o, "truth", c->truth < m->label_count ? m->labels[c->truth] : STR_NULL);
    json_kstr(o, "found", c->found < m->label_count ? m->labels[c->found] : STR_NULL);
    json_kint(o, "count", c->count);
    json_object_end(o);
}

static void write_cells(const struct matches *m, const uint32_t *cells, struct arena *a, struct json_out *o)
{
    size_t side = m->label_count + 1, n = 0;
    struct cell *list = arena_array(a, struct cell, side * side);
    for (uint32_t t = 0; t < side; t++)
        for (uint32_t f = 0; f < side; f++)
            if (cells[t * side + f])
                list[n++] = (struct cell){t, f, cells[t * side + f]};
    qsort(list, n, sizeof *list, largest);
    json_key(o, "cells");
    json_array(o);
    for (size_t i = 0; i < n && i < CELLS_MAX; i++)
        write_cell(m, &list[i], o);
    json_array_end(o);
}

static void write_labels(const struct matches *m, const struct matches_counts *labels, struct json_out *o)
{
    json_key(o, "labels");
    json_array(o);
    for (size_t i = 0; i < m->label_count; i++) {
        json_object(o);
        json_kstr(o, "label", m->labels[i]);
        family_counts(o, labels[i].hits, labels[i].mistakes, labels[i].missed);
        json_object_end(o);
    }
    json_array_end(o);
}

void report_at(const struct matches *m, double score, bool labels_too, struct json_out *o)
{
    auto_arena struct arena a;
    struct matches_counts all = {0};
    size_t side = m->label_count + 1;
    arena_init(&a);
    struct matches_counts *labels = arena_array(&a, struct matches_counts, side);
    uint32_t *cells = m->label_count <= MATCHES_CELLS ? arena_array(&a, uint32_t, side * side) : NULL;
    matches_at(m, score, labels, cells);
    if (labels_too)
        write_labels(m, labels, o);
    for (size_t i = 0; i < m->label_count; i++) {
        all.hits += labels[i].hits;
        all.mistakes += labels[i].mistakes;
        all.missed += labels[i].missed;
    }
    json_key(o, "total");
    json_object(o);
    family_counts(o, all.hits, all.mistakes, all.missed);
    json_object_end(o);
    if (cells)
        write_cells(m, cells, &a, o);
}

/* --- curves --- */

static bool labels_samples(enum annotation_type type)
{
    return type == ANNOTATION_IMAGE_CLASS || type == ANNOTATION_IMAGE_CLASSES ||
           type == ANNOTATION_TEXT_CLASS || type == ANNOTATION_AUDIO_CLASS;
}

static bool has_scores(enum annotation_type type)
{
    return type != ANNOTATION_TRANSCRIPTION;
}

static double tidy(double v)
{
    return round(v * 1e5) / 1e5;
}

static void write_curve(const char *key, struct curve c, struct arena *a, struct json_out *o)
{
    c = curve_thin(&c, CURVES_POINTS, a);
    json_key(o, key);
    json_array(o);
    for (size_t i = 0; i < c.count; i++) {
        json_array(o);
        json_real(o, tidy(c.points[i].x));
        json_real(o, tidy(c.points[i].y));
        json_real(o, tidy(c.points[i].score));
        json_array_end(o);
    }
    json_array_end(o);
}

static void write_label_curves(const struct matches *m, size_t label, struct json_out *o)
{
    auto_arena struct arena a;
    arena_init(&a);
    json_object(o);
    json_kstr(o, "label", label == SIZE_MAX ? STR_NULL : m->labels[label]);
    write_curve("precision", curve_precision(m, label, &a), &a, o);
    if (labels_samples(m->type) && label != SIZE_MAX)
        write_curve("roc", curve_roc(m, label, &a), &a, o);
    json_object_end(o);
}

struct frequent {
    uint64_t truths;
    size_t label;
};

static int most_first(const void *x, const void *y)
{
    const struct frequent *a = x, *b = y;
    return a->truths != b->truths ? (a->truths < b->truths) - (a->truths > b->truths)
                                  : (a->label > b->label) - (a->label < b->label);
}

static void write_curves(const struct matches *m, struct json_out *o)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct frequent *list = arena_array(&a, struct frequent, m->label_count + 1);
    for (size_t i = 0; i < m->label_count; i++)
        list[i].label = i;
    for (size_t i = 0; i < m->truth_count; i++)
        list[m->truth[i].label].truths++;
    qsort(list, m->label_count, sizeof *list, most_first);
    json_key(o, "curves");
    json_array(o);
    if (has_scores(m->type) && m->found_count) {
        write_label_curves(m, SIZE_MAX, o);
        for (size_t i = 0; i < m->label_count && i < CURVES_LABELS && list[i].truths; i++)
            write_label_curves(m, list[i].label, o);
    }
    json_array_end(o);
}

static void write_calibration(const struct matches *m, struct json_out *o)
{
    struct curve_bin bins[CURVES_BINS];
    curve_bins(m, bins);
    json_key(o, "calibration");
    json_array(o);
    for (int i = 0; has_scores(m->type) && i < CURVES_BINS; i++) {
        double n = (double)bins[i].count;
        json_object(o);
        family_real(o, "low", (double)i / CURVES_BINS);
        family_real(o, "high", (double)(i + 1) / CURVES_BINS);
        json_kint(o, "count", (int64_t)bins[i].count);
        family_real(o, "score", n > 0 ? bins[i].promised / n : NAN);
        family_real(o, "right", n > 0 ? (double)bins[i].right / n : NAN);
        json_object_end(o);
    }
    json_array_end(o);
}

static void write_sizes(const struct matches *m, double score, struct json_out *o)
{
    static const char *const names[] = {NULL, "small", "medium", "large"};
    uint64_t truths[4] = {0}, hits[4] = {0};
    matches_sizes(m, score, truths, hits);
    json_key(o, "sizes");
    json_array(o);
    for (int i = 1; i < 4; i++) {
        if (!truths[i])
            continue;
        json_object(o);
        json_kz(o, "size", names[i]);
        json_kint(o, "truths", (int64_t)truths[i]);
        json_kint(o, "hits", (int64_t)hits[i]);
        family_real(o, "recall", (double)hits[i] / (double)truths[i]);
        json_object_end(o);
    }
    json_array_end(o);
}

/* --- labels that only one side has --- */

static bool is_known(const struct str *list, size_t n, struct str label)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(list[i], label))
            return true;
    return false;
}

static void write_unmatched(const struct report_input *in, const struct matches *m, struct json_out *o)
{
    auto_arena struct arena a;
    arena_init(&a);
    bool *true_ = arena_array(&a, bool, m->label_count + 1);
    for (size_t i = 0; i < m->truth_count; i++)
        true_[m->truth[i].label] = true;
    json_key(o, "unmatched");
    json_object(o);
    json_key(o, "truth");
    json_array(o);
    for (size_t i = 0; in->known && in->known_count && i < m->label_count; i++)
        if (true_[i] && !is_known(in->known, in->known_count, m->labels[i]))
            json_string(o, m->labels[i]);
    json_array_end(o);
    json_key(o, "model");
    json_array(o);
    for (size_t i = 0; in->known && i < in->known_count; i++) {
        size_t at = matches_label(m, in->known[i]);
        if (at >= m->label_count || !true_[at])
            json_string(o, in->known[i]);
    }
    json_array_end(o);
    json_object_end(o);
}

/* Two evaluations are of the same samples when this is the same. */
static void write_digest(const struct matches *m, struct json_out *o)
{
    struct sha256 *h = sha256_new();
    struct digest d;
    char hex[SHA256_HEX + 1];
    for (size_t i = 0; i < m->sample_count; i++)
        sha256_add(h, &m->samples[i].id, sizeof m->samples[i].id);
    sha256_finish(h, d.b);
    digest_hex(&d, hex);
    json_kz(o, "samples_digest", hex);
}

static struct str main_figures(struct arena *a, struct str report)
{
    auto_buf struct buf b = {0};
    struct json_out o;
    struct err ignored = {0};
    size_t i, max;
    yyjson_val *row, *v = json_parse(a, report, &ignored);
    json_begin(&o, &b);
    json_object(&o);
    yyjson_arr_foreach(yyjson_obj_get(v, "figures"), i, max, row)
    {
        static const char *const keys[] = {"value", "low", "high"};
        struct str name = json_str(yyjson_obj_get(row, "name"));
        if (!evaluate_is_main(name) || yyjson_is_null(yyjson_obj_get(row, "value")))
            continue;
        json_key(&o, arena_strz(a, name));
        json_object(&o);
        for (size_t k = 0; k < countof(keys); k++) {
            json_key(&o, keys[k]);
            json_value(&o, yyjson_obj_get(row, keys[k]));
        }
        json_object_end(&o);
    }
    json_object_end(&o);
    return arena_str(a, buf_view(&b));
}

static void write_all(const struct report_input *in, struct json_out *o)
{
    const struct matches *m = evaluate_matches(in->evaluate);
    double score = evaluate_score(in->evaluate);
    evaluate_members(in->evaluate, in->draws, o);
    json_kint(o, "unlabelled", in->unlabelled);
    json_kint(o, "machine", in->machine);
    json_kint(o, "failed", in->failed);
    json_key(o, "problems");
    json_raw(o, in->problems);
    family_real(o, "score", score);
    report_at(m, score, m->type == ANNOTATION_OCR || m->type == ANNOTATION_TRANSCRIPTION, o);
    write_sizes(m, score, o);
    json_key(o, "slices");
    slices_write(in->slices, in->evaluate, o);
    write_curves(m, o);
    write_calibration(m, o);
    write_unmatched(in, m, o);
    write_digest(m, o);
}

struct str report_write(const struct report_input *in, struct arena *a, struct str *ret_figures)
{
    auto_buf struct buf b = {0}, whole = {0};
    struct json_out o;
    struct err ignored = {0};
    json_begin(&o, &b);
    json_object(&o);
    write_all(in, &o);
    json_object_end(&o);
    struct str text = arena_str(a, buf_view(&b));
    *ret_figures = main_figures(a, text);
    /* The sentences are made of what is written: they come last, into the same object. */
    buf_add(&whole, text.p, text.n - 1);
    buf_z(&whole, ",\"words\":");
    json_begin(&o, &whole);
    report_words(json_parse(a, text, &ignored), a, &o);
    buf_char(&whole, '}');
    return arena_str(a, buf_view(&whole));
}
