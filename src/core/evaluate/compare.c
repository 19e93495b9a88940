#include "core/evaluate/compare.h"

#include "base/messages_evaluate.h"
#include "core/evaluate/report.h"
#include "metric/resample.h"

#include <math.h>

#define TOLD 500 /* samples of each list */

const struct field evaluation_compare_fields[] = {
    {.name = "with",
     .type = FIELD_REF,
     .flags = FIELD_CREATE | FIELD_REQUIRED,
     .ref = "evaluation",
     .title = {"With", "对比"},
     .help = {"Another evaluation on the same samples.", "对相同样本的另一次评估。"}},
    {0},
};

struct side {
    struct object o;
    yyjson_val *report;
    struct evaluation_details details;
    double score;
};

static bool side_open(struct core *core, struct arena *a, struct side *s, struct err *err)
{
    struct str text;
    s->details.fd = -1;
    if (!evaluation_report(core, &s->o, a, &text, err))
        return false;
    s->report = json_parse(a, text, err);
    s->score = evaluation_score(s->report);
    return s->report && evaluation_details_open(core, &s->o, &s->details, err);
}

static double figure_value(yyjson_val *report, struct str name)
{
    size_t i, max;
    yyjson_val *row;
    yyjson_arr_foreach(yyjson_obj_get(report, "figures"), i, max, row)
    {
        yyjson_val *v = yyjson_obj_get(row, "value");
        if (str_eq(json_str(yyjson_obj_get(row, "name")), name))
            return yyjson_is_num(v) ? yyjson_get_num(v) : NAN;
    }
    return NAN;
}

struct evaluation_difference evaluation_difference(struct arena *a, const struct matches *m, double value,
                                                   const struct matches *with, double other, size_t figure,
                                                   bool less)
{
    struct evaluation_difference d = {
        .value = value, .other = other, .difference = value - other, .low = NAN, .high = NAN};
    size_t n = m->draw_count < with->draw_count ? m->draw_count : with->draw_count;
    double *draws = arena_array(a, double, n + 1);
    for (size_t i = 0; i < n; i++)
        draws[i] = m->draws[i * m->figure_count + figure] - with->draws[i * with->figure_count + figure];
    struct resample_interval sure = resample_middle(a, d.difference, draws, n);
    d.low = sure.low;
    d.high = sure.high;
    bool more = d.low > 0, fewer = d.high < 0;
    d.better = less ? fewer : more;
    d.worse = less ? more : fewer;
    return d;
}

static void say(struct json_out *o, struct words w)
{
    json_object(o);
    json_kz(o, "en", w.en);
    json_kz(o, "zh", w.zh);
    json_object_end(o);
}

static void real(struct json_out *o, const char *key, double v)
{
    json_key(o, key);
    json_real(o, v);
}

static struct words verdict(struct arena *a, const struct evaluation_difference *d, const char *title)
{
    struct str name = str_of(title);
    double by = fabs(d->difference);
    if (d->better)
        return task_name(a, MESSAGE_WORDS_BETTER, STR_ARG(name), by);
    if (d->worse)
        return task_name(a, MESSAGE_WORDS_POORER, STR_ARG(name), by);
    return task_name(a, MESSAGE_WORDS_SAME, STR_ARG(name), by);
}

static void write_figures(struct arena *a, const struct side *s, const struct side *t, struct json_out *o)
{
    auto_buf struct buf words = {0};
    struct json_out w;
    const struct matches *m = s->details.matches, *n = t->details.matches;
    json_begin(&w, &words);
    json_array(&w);
    json_key(o, "figures");
    json_array(o);
    for (size_t i = 0; i < m->figure_count && i < n->figure_count; i++) {
        struct str name = m->figures[i];
        struct evaluation_difference d =
            evaluation_difference(a, m, figure_value(s->report, name), n, figure_value(t->report, name), i,
                                  evaluate_less_is_better(name));
        if (isnan(d.difference))
            continue;
        json_object(o);
        json_kstr(o, "name", name);
        json_kbool(o, "main", evaluate_is_main(name));
        real(o, "value", d.value);
        real(o, "with", d.other);
        real(o, "difference", d.difference);
        real(o, "low", d.low);
        real(o, "high", d.high);
        json_kz(o, "verdict", d.better ? "better" : d.worse ? "worse" : "same");
        json_object_end(o);
        if (evaluate_is_main(name)) {
            struct words title = report_figure(name, a);
            say(&w, (struct words){verdict(a, &d, title.en).en, verdict(a, &d, title.zh).zh});
        }
    }
    json_array_end(o);
    json_array_end(&w);
    json_key(o, "words");
    json_raw(o, arena_str(a, buf_view(&words)));
}

static yyjson_val *label_row(yyjson_val *report, struct str label)
{
    size_t i, max;
    yyjson_val *row;
    yyjson_arr_foreach(yyjson_obj_get(report, "labels"), i, max, row)
    {
        if (str_eq(json_str(yyjson_obj_get(row, "label")), label))
            return row;
    }
    return NULL;
}

static double number(yyjson_val *v, const char *key)
{
    yyjson_val *n = yyjson_obj_get(v, key);
    return yyjson_is_num(n) ? yyjson_get_num(n) : NAN;
}

static void write_labels(const struct side *s, const struct side *t, struct json_out *o)
{
    static const char *const keys[] = {"precision", "recall", "f1"};
    size_t i, max;
    yyjson_val *row;
    json_key(o, "labels");
    json_array(o);
    yyjson_arr_foreach(yyjson_obj_get(s->report, "labels"), i, max, row)
    {
        struct str label = json_str(yyjson_obj_get(row, "label"));
        yyjson_val *other = label_row(t->report, label);
        json_object(o);
        json_kstr(o, "label", label);
        for (size_t k = 0; k < countof(keys); k++) {
            json_key(o, keys[k]);
            json_object(o);
            real(o, "value", number(row, keys[k]));
            real(o, "with", number(other, keys[k]));
            real(o, "difference", number(row, keys[k]) - number(other, keys[k]));
            json_object_end(o);
        }
        json_object_end(o);
    }
    json_array_end(o);
}

static bool is_right(const struct side *s, size_t sample)
{
    struct matches_outcome n = matches_outcome(s->details.matches, sample, s->score);
    return !n.mistakes && !n.missed;
}

static bool write_changed(struct arena *a, const struct side *s, const struct side *t, bool fixed,
                          const bool *right, const bool *was, struct json_out *o, struct err *err)
{
    size_t told = 0, count = s->details.matches->sample_count;
    int64_t all = 0;
    (void)t;
    json_key(o, fixed ? "fixed" : "broken");
    json_object(o);
    json_key(o, "samples");
    json_array(o);
    for (size_t i = 0; i < count; i++) {
        struct str text;
        if (right[i] == was[i] || right[i] != fixed)
            continue;
        all++;
        if (told++ >= TOLD)
            continue;
        if (!evaluation_details_text(&s->details, i, a, &text, err))
            return false;
        yyjson_val *v = json_parse(a, text, err);
        if (!v)
            return false;
        json_object(o);
        json_kint(o, "sample", s->details.matches->samples[i].id);
        json_kstr(o, "file", json_str(yyjson_obj_get(v, "file")));
        json_object_end(o);
    }
    json_array_end(o);
    json_kint(o, "count", all);
    json_object_end(o);
    return true;
}

static bool write_changes(struct arena *a, const struct side *s, const struct side *t, struct json_out *o,
                          struct err *err)
{
    size_t n = s->details.matches->sample_count;
    int64_t agree = 0;
    bool *right = arena_array(a, bool, n + 1), *was = arena_array(a, bool, n + 1);
    for (size_t i = 0; i < n; i++) {
        right[i] = is_right(s, i);
        was[i] = is_right(t, i);
        agree += right[i] == was[i];
    }
    json_kint(o, "samples", (int64_t)n);
    json_kint(o, "agree", agree);
    return write_changed(a, s, t, true, right, was, o, err) &&
           write_changed(a, s, t, false, right, was, o, err);
}

static bool same_samples(const struct side *s, const struct side *t, struct err *err)
{
    struct str mine = json_str(yyjson_obj_get(s->report, "samples_digest")),
               other = json_str(yyjson_obj_get(t->report, "samples_digest"));
    return (str_eq(mine, other) && s->details.matches->type == t->details.matches->type) ||
           err_message(err, ERR_CONFLICT, "with", MESSAGE_EVALUATION_OTHER_SAMPLES);
}

static bool write_all(struct op *op, struct side *s, struct side *t, struct json_out *out, struct err *err)
{
    if (!same_samples(s, t, err))
        return false;
    json_object(out);
    json_key(out, "with");
    json_object(out);
    json_kint(out, "id", t->o.id);
    json_kstr(out, "name", object_text(&t->o, "name"));
    json_object_end(out);
    write_figures(op->arena, s, t, out);
    write_labels(s, t, out);
    bool ok = write_changes(op->arena, s, t, out, err);
    json_object_end(out);
    return ok;
}

bool evaluation_compare_run(struct op *op, struct object *o, const struct db_value *input,
                            struct json_out *out, int *status, struct err *err)
{
    (void)status;
    struct side s = {.o = *o}, t = {0};
    s.details.fd = t.details.fd = -1;
    bool ok = engine_get(op->core, op->caller, &kind_evaluation, 0, input[0].i, op->arena, &t.o, err) &&
              side_open(op->core, op->arena, &s, err) && side_open(op->core, op->arena, &t, err) &&
              write_all(op, &s, &t, out, err);
    evaluation_details_close(&s.details);
    evaluation_details_close(&t.details);
    return ok;
}

/* --- in short --- */

/* What was found on a sample, and its size. */
static bool found_on(const struct side *s, size_t sample, struct arena *a, struct str *ret,
                     uint32_t ret_size[2], struct err *err)
{
    struct str text;
    auto_buf struct buf found = {0};
    struct json_out o;
    yyjson_val *v =
        evaluation_details_text(&s->details, sample, a, &text, err) ? json_parse(a, text, err) : NULL;
    if (!v)
        return false;
    json_begin(&o, &found);
    json_value(&o, yyjson_obj_get(v, "found"));
    ret_size[0] = (uint32_t)yyjson_get_uint(yyjson_obj_get(v, "width"));
    ret_size[1] = (uint32_t)yyjson_get_uint(yyjson_obj_get(v, "height"));
    *ret = arena_str(a, buf_view(&found));
    return true;
}

static bool agree(const struct side *s, const struct side *t, struct agreement_counts *ret, struct err *err)
{
    const struct matches *m = s->details.matches;
    struct agreement *g = agreement_new(m->type, s->score, t->score, err);
    bool ok = g != NULL;
    for (size_t i = 0; ok && i < m->sample_count; i++) {
        auto_arena struct arena a;
        struct str one, other;
        uint32_t size[2];
        arena_init(&a);
        ok = found_on(t, i, &a, &other, size, err) && found_on(s, i, &a, &one, size, err) &&
             agreement_add(g, one, other, size[0], size[1], err);
    }
    if (ok)
        *ret = agreement_counts(g);
    agreement_free(g);
    return ok;
}

/* The first of the figures that one looks at first. */
static bool main_figure(struct arena *a, const struct side *s, const struct side *t,
                        struct evaluation_beside *ret)
{
    const struct matches *m = s->details.matches, *n = t->details.matches;
    for (size_t i = 0; i < m->figure_count && i < n->figure_count; i++) {
        struct str name = m->figures[i];
        if (!evaluate_is_main(name))
            continue;
        ret->figure = arena_str(a, name);
        ret->less = evaluate_less_is_better(name);
        ret->difference = evaluation_difference(a, m, figure_value(s->report, name), n,
                                                figure_value(t->report, name), i, ret->less);
        return true;
    }
    return false;
}

bool evaluation_beside(struct core *core, const struct object *o, const struct object *with, struct arena *a,
                       struct evaluation_beside *ret, struct err *err)
{
    struct side s = {.o = *o}, t = {.o = *with};
    struct evaluation_beside b = {0};
    s.details.fd = t.details.fd = -1;
    bool ok = side_open(core, a, &s, err) && side_open(core, a, &t, err) && same_samples(&s, &t, err) &&
              agree(&s, &t, &b.agreement, err);
    if (ok && !main_figure(a, &s, &t, &b))
        b.difference = (struct evaluation_difference){.value = NAN, .other = NAN, .low = NAN, .high = NAN};
    evaluation_details_close(&s.details);
    evaluation_details_close(&t.details);
    if (ok)
        *ret = b;
    return ok;
}
