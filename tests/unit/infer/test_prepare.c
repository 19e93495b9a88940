/* Places, resampling and n-grams on values worked out by hand; tests/infer/test_predict.py has the rest. */
#include "infer/prepare.h"
#include "infer/resize.h"
#include "infer/tokenize.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct model_input input(uint32_t w, uint32_t h, enum model_fit fit)
{
    return (struct model_input){
        .name = STR("x"), .size = {w, h}, .multiple = 1, .range = {1, 8192}, .fit = fit, .crop = 1};
}

static void places_there_and_back(void **state)
{
    (void)state;
    struct err err = {0};
    struct prepare_map m;
    struct model_input in = input(100, 100, MODEL_LETTERBOX);
    assert_true(prepare_place(&in, 200, 100, &m, &err));
    assert_true(m.offset[0] == 0 && m.offset[1] == 25 && m.step[0] == 2 && m.step[1] == 2);
    assert_true(prepare_back(&m, 1, 25) == 0 && prepare_back(&m, 1, 75) == 100);
    assert_true(fabs(prepare_forth(&m, 0, prepare_back(&m, 0, 33.5)) - 33.5) < 1e-12);
    in = input(50, 50, MODEL_CROP);
    assert_true(prepare_place(&in, 200, 100, &m, &err));
    assert_true(m.from[0] == 50 && m.from[1] == 0 && m.step[0] == 2);
    in = input(0, 48, MODEL_LETTERBOX);
    in.multiple = 8;
    assert_true(prepare_place(&in, 101, 48, &m, &err));
    assert_int_equal(m.input[0], 104);
}

static void refuses_what_is_too_large(void **state)
{
    (void)state;
    struct err err = {0};
    struct prepare_map m;
    struct model_input in = input(0, 8192, MODEL_STRETCH);
    assert_false(prepare_place(&in, 65000, 100, &m, &err));
    assert_int_equal(err.code, ERR_TOO_LARGE);
}

static void resamples_exactly(void **state)
{
    (void)state;
    auto_arena struct arena a = {0};
    static const uint8_t line[4] = {0, 10, 20, 90};
    struct resize r = {.filter = MODEL_AREA, .span = {4, 1}};
    float out[8];
    resize_bytes(&a, line, 4, 1, 1, &r, out, 2, 1);
    assert_true(out[0] == 5 && out[1] == 55);
    r.filter = MODEL_NEAREST;
    resize_bytes(&a, line, 4, 1, 1, &r, out, 2, 1);
    assert_true(out[0] == 10 && out[1] == 90);
    r.filter = MODEL_BILINEAR; /* between middles, without antialias */
    resize_bytes(&a, line, 4, 1, 1, &r, out, 8, 1);
    assert_true(out[0] == 0 && fabsf(out[1] - 2.5F) < 1e-5F && fabsf(out[2] - 7.5F) < 1e-5F && out[7] == 90);
    r.filter = MODEL_BICUBIC;
    resize_bytes(&a, line, 4, 1, 1, &r, out, 4, 1);
    for (int i = 0; i < 4; i++)
        assert_true(fabsf(out[i] - line[i]) < 1e-4F);
}

static void counts_ngrams(void **state)
{
    (void)state;
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct tokens t, same;
    struct model_input in = {.tokenizer = MODEL_NGRAMS, .length = 100, .pad_id = -1, .unknown_id = -1};
    assert_true(tokenize(&a, &in, STR("AA"), &t, &err)); /* " aa ": 2 + 3 + 2 + 1 different */
    assert_int_equal(t.n, 8);
    assert_true(t.counts[0] == 2 && t.counts[1] == 2 && t.counts[2] == 1);
    assert_true(tokenize(&a, &in, STR("\xef\xbc\xa1 \t"), &same, &err)); /* full width A */
    assert_true(tokenize(&a, &in, STR("a"), &t, &err));
    assert_int_equal(t.n, same.n);
    assert_memory_equal(t.ids, same.ids, t.n * sizeof *t.ids);
    in.length = 3;
    in.pad_to_length = true;
    assert_true(tokenize(&a, &in, STR("abc"), &t, &err));
    assert_int_equal(t.n, 3);
    assert_false(tokenize(&a, &in, STR("\xff"), &t, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_there_and_back),
        cmocka_unit_test(refuses_what_is_too_large),
        cmocka_unit_test(resamples_exactly),
        cmocka_unit_test(counts_ngrams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
