/* How samples went: counts at thresholds, cells, curves; and that damaged bytes are refused. */
#include "metric/curves.h"
#include "metric/evaluate.h"
#include "metric/resample.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static struct evaluate *boxes(void)
{
    struct err err = {0};
    struct evaluate *e = evaluate_new(ANNOTATION_DETECTION, &err);
    bool kept;
    /* A cat that is found, one that a dog is found on, a dog where nothing is, a dog that is overlooked. */
    const struct evaluate_sample samples[] = {
        {.id = 7,
         .truth = STR("{\"shapes\":[{\"type\":\"box\",\"label\":\"cat\",\"x\":0,\"y\":0,\"w\":10,\"h\":10},"
                      "{\"type\":\"box\",\"label\":\"cat\",\"x\":50,\"y\":0,\"w\":40,\"h\":40}]}"),
         .found =
             STR("{\"shapes\":["
                 "{\"type\":\"box\",\"label\":\"cat\",\"x\":0,\"y\":0,\"w\":10,\"h\":9,\"score\":0.9},"
                 "{\"type\":\"box\",\"label\":\"dog\",\"x\":50,\"y\":0,\"w\":40,\"h\":40,\"score\":0.8},"
                 "{\"type\":\"box\",\"label\":\"dog\",\"x\":150,\"y\":0,\"w\":9,\"h\":9,\"score\":0.3}]}")},
        {.id = 9,
         .truth =
             STR("{\"shapes\":[{\"type\":\"box\",\"label\":\"dog\",\"x\":0,\"y\":0,\"w\":200,\"h\":200}]}"),
         .found = STR("{}")},
        {.id = 8, .truth = STR("{}"), .found = STR("{}")},
    };
    for (size_t i = 0; i < countof(samples); i++)
        assert_true(evaluate_add_sample(e, &samples[i], &kept, &err) && kept);
    return e;
}

static void counts_and_cells(void **state)
{
    (void)state;
    struct evaluate *e = boxes();
    const struct matches *m = evaluate_matches(e);
    size_t cat = matches_label(m, STR("cat")), dog = matches_label(m, STR("dog")), none = m->label_count;
    struct matches_counts n[2] = {0}, sure[2] = {0};
    uint32_t cells[9] = {0};
    assert_int_equal(m->label_count, 2);
    matches_at(m, 0, n, cells);
    assert_int_equal(n[cat].hits, 1);
    assert_int_equal(n[cat].missed, 1);
    assert_int_equal(n[dog].mistakes, 2);
    assert_int_equal(n[dog].missed, 1);
    assert_int_equal(cells[cat * 3 + cat], 1);
    assert_int_equal(cells[cat * 3 + dog], 1);
    assert_int_equal(cells[none * 3 + dog], 1);
    assert_int_equal(cells[dog * 3 + none], 1);
    matches_at(m, 0.8, sure, NULL); /* as short as scores are kept, it still meets its own */
    assert_int_equal(sure[dog].mistakes, 1);
    uint64_t truths[4] = {0}, hits[4] = {0};
    matches_sizes(m, 0, truths, hits);
    assert_int_equal(truths[1], 1);
    assert_int_equal(hits[1], 1);
    assert_int_equal(truths[2], 1);
    assert_int_equal(truths[3], 1);
    evaluate_free(e);
}

static void picking(void **state)
{
    (void)state;
    struct evaluate *e = boxes();
    const struct matches *m = evaluate_matches(e);
    struct arena a;
    size_t n;
    arena_init(&a);
    struct matches_query q = {.label = SIZE_MAX};
    size_t *list = matches_pick(m, &q, &a, &n);
    assert_int_equal(n, 3);
    assert_int_equal(m->samples[list[0]].id, 7);
    assert_int_equal(m->samples[list[2]].id, 8);
    q = (struct matches_query){.label = SIZE_MAX, .missed = true, .order = MATCHES_BY_ID};
    list = matches_pick(m, &q, &a, &n);
    assert_int_equal(n, 2);
    assert_int_equal(m->samples[list[1]].id, 9);
    q = (struct matches_query){.label = SIZE_MAX,
                               .cell = true,
                               .cell_truth = matches_label(m, STR("cat")),
                               .cell_found = matches_label(m, STR("dog"))};
    matches_pick(m, &q, &a, &n);
    assert_int_equal(n, 1);
    q.score = 0.85;
    matches_pick(m, &q, &a, &n);
    assert_int_equal(n, 0);
    q = (struct matches_query){.label = SIZE_MAX, .right = true};
    list = matches_pick(m, &q, &a, &n);
    assert_int_equal(n, 1);
    assert_int_equal(m->samples[list[0]].id, 8);
    arena_release(&a);
    evaluate_free(e);
}

static void bytes_and_back(void **state)
{
    (void)state;
    struct evaluate *e = boxes();
    auto_buf struct buf b = {0}, ignored = {0};
    struct json_out o;
    struct matches *back;
    struct err err = {0};
    json_begin(&o, &ignored);
    evaluate_report(e, 20, &o);
    matches_write(evaluate_matches(e), &b);
    assert_true(matches_read(buf_view(&b), &back, &err));
    assert_int_equal(back->sample_count, 3);
    assert_int_equal(back->draw_count, 20);
    assert_true(str_is(back->figures[0], "mAP"));
    struct matches_outcome n = matches_outcome(back, 0, 0);
    assert_int_equal(n.hits, 1);
    assert_int_equal(n.mistakes, 2);
    assert_int_equal(n.missed, 1);
    matches_free(back);
    for (size_t cut = 0; cut < b.n; cut++)
        assert_false(matches_read((struct str){b.p, cut}, &back, &err));
    /* Whatever byte is another one, what is read is sound or refused. */
    for (size_t i = 0; i < b.n; i++) {
        b.p[i] = (char)(b.p[i] ^ 0x55);
        if (matches_read(buf_view(&b), &back, &err)) {
            struct matches_counts *counts = base_zalloc((back->label_count + 1) * sizeof *counts);
            matches_at(back, 0.5, counts, NULL);
            free(counts);
            matches_free(back);
        }
        b.p[i] = (char)(b.p[i] ^ 0x55);
    }
    evaluate_free(e);
}

static void curves(void **state)
{
    (void)state;
    struct err err = {0};
    struct arena a;
    bool kept;
    struct evaluate *e = evaluate_new(ANNOTATION_IMAGE_CLASSES, &err);
    /* Scores of "a": .9 yes, .8 no, .7 yes, .7 no, none yes. scikit-learn: fpr 0 .5 1 1, tpr 1/3 1/3 2/3 1.
     */
    const char *const truths[] = {"a", "b", "a", "b", "a"};
    const double scores[] = {0.9, 0.8, 0.7, 0.7, 0};
    arena_init(&a);
    for (int i = 0; i < 5; i++) {
        struct evaluate_sample s = {
            .id = i,
            .truth = str_of(arena_printf(&a, "{\"labels\":[\"%s\"]}", truths[i])),
            .found = i == 4
                         ? STR("{}")
                         : str_of(arena_printf(&a, "{\"labels\":[\"a\"],\"scores\":{\"a\":%g}}", scores[i]))};
        assert_true(evaluate_add_sample(e, &s, &kept, &err) && kept);
    }
    const struct matches *m = evaluate_matches(e);
    struct curve roc = curve_roc(m, matches_label(m, STR("a")), &a),
                 pr = curve_precision(m, matches_label(m, STR("a")), &a);
    const double x[] = {0, 0, 0.5, 1, 1}, y[] = {0, 1 / 3.0, 1 / 3.0, 2 / 3.0, 1};
    assert_int_equal(roc.count, 5);
    for (size_t i = 0; i < roc.count; i++)
        assert_true(fabs(roc.points[i].x - x[i]) < 1e-9 && fabs(roc.points[i].y - y[i]) < 1e-9);
    assert_int_equal(pr.count, 3);
    assert_true(fabs(pr.points[2].x - 2 / 3.0) < 1e-9 && fabs(pr.points[2].y - 0.5) < 1e-9);
    struct curve_bin bins[CURVES_BINS];
    curve_bins(m, bins);
    assert_int_equal(bins[10].count, 2); /* .7 */
    assert_int_equal(bins[10].right, 1);
    evaluate_free(e);
    arena_release(&a);
}

static void thinning(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct curve c = {arena_array(&a, struct curve_point, 1000), 1000};
    for (size_t i = 0; i < 1000; i++)
        c.points[i] = (struct curve_point){(double)i / 999, i == 500 ? 1 : 0, 0};
    struct curve t = curve_thin(&c, 5, &a);
    assert_true(t.count <= 5);
    assert_true(t.points[0].x == 0 && t.points[t.count - 1].x == 1);
    bool peak = false;
    for (size_t i = 0; i < t.count; i++)
        peak |= t.points[i].y == 1;
    assert_true(peak);
    arena_release(&a);
}

static void differences(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    const double draws[] = {0.1, 0.2, NAN, 0.3};
    struct resample_interval r = resample_middle(&a, 0.2, draws, 4);
    assert_true(fabs(r.low - 0.1) < 1e-9 && fabs(r.high - 0.3) < 1e-9);
    r = resample_middle(&a, NAN, draws, 4);
    assert_true(isnan(r.low));
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_and_cells), cmocka_unit_test(picking),  cmocka_unit_test(bytes_and_back),
        cmocka_unit_test(curves),           cmocka_unit_test(thinning), cmocka_unit_test(differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
