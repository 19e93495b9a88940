/* Which points of a skeleton are a pair by their names. */
#include "base/buf.h"
#include "codec/sides.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct {
    const char *names[4];
    const char *swapped; /* the number of the point whose place each takes */
} cases[] = {
    {{"left_eye", "right_eye", "nose"}, "102"},
    {{"eye_right", "eye_left"}, "10"},
    {{"LeftEye", "RightEye"}, "10"},
    {{"LEFT EYE", "RIGHT EYE"}, "10"},
    {{"l_eye", "r_eye"}, "10"},
    {{"eye.L", "eye.R"}, "10"},
    {{"lEye", "rEye"}, "10"},
    {{"左眼", "右眼", "鼻"}, "102"},
    {{"upper_left", "upper_right", "lower_left", "lower_right"}, "1032"},
    {{"left_eye", "nose"}, "01"}, /* alone */
    {{"elbow", "erbow"}, "01"},   /* letters inside of words say nothing */
    {{"lower", "rower"}, "01"},
    {{"left", "right"}, "10"},
};

static void pairs_swap(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(cases); i++) {
        auto_arena struct arena a;
        struct err err = {0};
        struct str names[4], swapped;
        size_t n = 0;
        auto_buf struct buf json = {0}, want = {0};
        arena_init(&a);
        while (n < 4 && cases[i].names[n]) {
            names[n] = str_of(cases[i].names[n]);
            n++;
        }
        struct codec_label label = {.name = STR("x"), .keypoints = names, .keypoint_count = n};
        buf_z(&json, "{\"shapes\":[{\"label\":\"x\",\"points\":[");
        buf_z(&want, "{\"shapes\":[{\"label\":\"x\",\"points\":[");
        for (size_t k = 0; k < n; k++) {
            buf_printf(&json, "%s[%zu,1,2]", k ? "," : "", k + 10);
            buf_printf(&want, "%s[%d,1,2]", k ? "," : "", cases[i].swapped[k] - '0' + 10);
        }
        buf_z(&json, "],\"type\":\"keypoints\"}]}");
        buf_z(&want, "],\"type\":\"keypoints\"}]}");
        struct sides *s = sides_new(&a, &label, 1);
        if (!sides_swap(s, &a, ANNOTATION_KEYPOINTS, buf_view(&json), &swapped, &err))
            fail_msg("%s", err.message);
        if (!annotation_equal(swapped, buf_view(&want)))
            fail_msg("%s, %s: %s", cases[i].names[0], cases[i].names[1], swapped.p);
        sides_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pairs_swap)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
