/* How often two models say the same: labels, shapes above their scores, texts, samples without anything. */
#include "metric/agreement.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define BOX(label, x, score)                                                                                 \
    "{\"type\":\"box\",\"label\":\"" label "\",\"x\":" x ",\"y\":0,\"w\":20,\"h\":20,\"score\":" score "}"
#define BOXES(...) "{\"shapes\":[" __VA_ARGS__ "]}"

struct pair {
    const char *found, *other;
    bool agree;
};

static void try_all(enum annotation_type type, double score, double other_score, const struct pair *pairs,
                    size_t n)
{
    struct err err = {0};
    struct agreement *g = agreement_new(type, score, other_score, &err);
    uint64_t agree = 0;
    assert_non_null(g);
    for (size_t i = 0; i < n; i++) {
        if (!agreement_add(g, str_of(pairs[i].found), str_of(pairs[i].other), 100, 100, &err))
            fail_msg("%zu: %s", i, err.message);
        agree += pairs[i].agree;
        assert_int_equal(agreement_counts(g).agree, agree);
        assert_int_equal(agreement_counts(g).samples, i + 1);
    }
    agreement_free(g);
}

static void labels(void **state)
{
    (void)state;
    static const struct pair one[] = {
        {"{\"labels\":[\"cat\"],\"scores\":{\"cat\":0.9}}", "{\"labels\":[\"cat\"],\"scores\":{\"cat\":0.2}}",
         true},
        {"{\"labels\":[\"cat\"]}", "{\"labels\":[\"dog\"]}", false},
        {"{}", "{}", true},
        {"{}", "{\"labels\":[\"dog\"]}", false},
    };
    static const struct pair many[] = {
        {"{\"labels\":[\"a\",\"b\"],\"scores\":{\"a\":0.9,\"b\":0.1}}",
         "{\"labels\":[\"a\"],\"scores\":{\"a\":0.6}}", true},
        {"{\"labels\":[\"a\",\"b\"],\"scores\":{\"a\":0.9,\"b\":0.8}}",
         "{\"labels\":[\"a\"],\"scores\":{\"a\":0.6}}", false},
        {"{\"labels\":[\"a\"],\"scores\":{\"a\":0.1}}", "{\"labels\":[\"b\"],\"scores\":{\"b\":0.2}}", true},
    };
    try_all(ANNOTATION_IMAGE_CLASS, 0, 0, one, countof(one));
    try_all(ANNOTATION_IMAGE_CLASSES, 0.5, 0.5, many, countof(many));
}

static void shapes(void **state)
{
    (void)state;
    static const struct pair pairs[] = {
        {BOXES(BOX("cat", "0", "0.9")), BOXES(BOX("cat", "2", "0.8")), true},
        {BOXES(BOX("cat", "0", "0.9")), BOXES(BOX("cat", "60", "0.8")), false},
        {BOXES(BOX("cat", "0", "0.9")), BOXES(BOX("dog", "0", "0.8")), false},
        /* What lies below the score of its own model was not said. */
        {BOXES(BOX("cat", "0", "0.9") "," BOX("dog", "50", "0.3")), BOXES(BOX("cat", "0", "0.9")), true},
        {BOXES(BOX("cat", "0", "0.9")), BOXES(BOX("cat", "0", "0.9") "," BOX("dog", "50", "0.3")), false},
        {BOXES(BOX("cat", "0", "0.1")), BOXES(BOX("cat", "0", "0.1")), true},
    };
    try_all(ANNOTATION_DETECTION, 0.5, 0.2, pairs, countof(pairs));
}

static void texts(void **state)
{
    (void)state;
    static const struct pair pairs[] = {
        {"{\"text\":\"one two\"}", "{\"text\":\"one two\"}", true},
        {"{\"text\":\"one two\"}", "{\"text\":\"one too\"}", false},
    };
    try_all(ANNOTATION_TRANSCRIPTION, 0, 0, pairs, countof(pairs));
}

static void how_sure(void **state)
{
    (void)state;
    struct err err = {0};
    struct agreement *g = agreement_new(ANNOTATION_IMAGE_CLASS, 0, 0, &err);
    struct agreement_counts none = agreement_counts(g);
    assert_true(none.low <= 0 && none.high >= 1);
    for (int i = 0; i < 100; i++)
        assert_true(agreement_add(g, STR("{\"labels\":[\"a\"]}"),
                                  i < 90 ? STR("{\"labels\":[\"a\"]}") : STR("{\"labels\":[\"b\"]}"), 0, 0,
                                  &err));
    struct agreement_counts c = agreement_counts(g);
    assert_int_equal(c.agree, 90);
    /* Wilson's interval of 90 in 100, from a table. */
    assert_true(fabs(c.low - 0.8256) < 1e-3 && fabs(c.high - 0.9448) < 1e-3);
    assert_false(agreement_add(g, STR("{\"labels\":7}"), STR("{}"), 0, 0, &err));
    agreement_free(g);
    assert_null(agreement_new(ANNOTATION_TEXT_SPANS, 0, 0, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels),
        cmocka_unit_test(shapes),
        cmocka_unit_test(texts),
        cmocka_unit_test(how_sure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
