/* annotation_clip, annotation_transform and the run-length masks. */
#include "base/arena.h"
#include "codec/annotation.h"
#include "codec/rle.h"
#include "codec/trace.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SHAPES(list) "{\"shapes\":[" list "]}"
#define BOX(x, y, w, h)                                                                                      \
    "{\"h\":" #h ",\"label\":\"c\",\"type\":\"box\",\"w\":" #w ",\"x\":" #x ",\"y\":" #y "}"

static const struct {
    const char *in, *out;
    uint32_t changed, dropped;
} clips[] = {
    {SHAPES(BOX(1, 2, 3, 4)), SHAPES(BOX(1, 2, 3, 4)), 0, 0},
    {SHAPES(BOX(-5, -5, 10, 10) "," BOX(95, 45, 10, 10)), SHAPES(BOX(0, 0, 5, 5) "," BOX(95, 45, 5, 5)), 2,
     0},
    {SHAPES(BOX(99, 0, 1.01, 50)), SHAPES(BOX(99, 0, 1.01, 50)), 0, 0}, /* within rounding */
    {SHAPES(BOX(100, 0, 5, 5) "," BOX(0, 50, 5, 5) "," BOX(-9, 0, 5, 5)), "{}", 0, 3},
    {SHAPES("{\"label\":\"c\",\"rings\":[[-10,10,10,10,10,20,-10,20]],\"area\":200,\"type\":\"polygon\"}"),
     SHAPES("{\"label\":\"c\",\"rings\":[[0,10,10,10,10,20,0,20]],\"type\":\"polygon\"}"), 1, 0},
    {SHAPES("{\"holes\":[[-5,12,5,12,5,18,-5,18],[-9,12,-6,12,-6,14]],\"label\":\"c\",\"rings\":[[-10,10,10,"
            "10,10,"
            "20,-10,20]],\"type\":\"polygon\"}"),
     SHAPES("{\"holes\":[[0,12,5,12,5,18,0,18]],\"label\":\"c\",\"rings\":[[0,10,10,10,10,20,0,20]],\"type\":"
            "\"polygon\"}"),
     1, 0},
    {SHAPES("{\"label\":\"c\",\"rings\":[[-9,-9,-1,-9,-1,-1]],\"type\":\"polygon\"}"), "{}", 0, 1},
    {SHAPES("{\"label\":\"p\",\"points\":[[5,5,2],[500,5,1],[0,0,0]],\"type\":\"keypoints\"}"),
     SHAPES("{\"label\":\"p\",\"points\":[[5,5,2],[0,0,0],[0,0,0]],\"type\":\"keypoints\"}"), 1, 0},
    {SHAPES("{\"angle\":45,\"h\":10,\"label\":\"c\",\"type\":\"box\",\"w\":10,\"x\":-5,\"y\":-5}"),
     SHAPES("{\"angle\":45,\"h\":10,\"label\":\"c\",\"type\":\"box\",\"w\":10,\"x\":-5,\"y\":-5}"), 0, 0},
    {SHAPES("{\"angle\":45,\"h\":10,\"label\":\"c\",\"type\":\"box\",\"w\":10,\"x\":-50,\"y\":-5}"), "{}", 0,
     1},
};

static void clipping(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(clips); i++) {
        auto_arena struct arena a = {0};
        struct err err = {0};
        struct str out;
        struct annotation_changes c;
        if (!annotation_clip(&a, str_of(clips[i].in), 100, 50, &out, &c, &err))
            fail_msg("%s: %s", clips[i].in, err.message);
        assert_string_equal(out.p, clips[i].out);
        assert_int_equal(c.changed, clips[i].changed);
        assert_int_equal(c.dropped, clips[i].dropped);
    }
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct str out;
    assert_false(annotation_clip(
        &a, STR(SHAPES("{\"type\":\"mask\",\"label\":\"c\",\"size\":[2,3],\"counts\":\"132\"}")), 100, 50,
        &out, NULL, &err));
    assert_int_equal(err.code, ERR_INVALID);
}

#define MASK(size, counts) "{\"counts\":\"" counts "\",\"label\":\"c\",\"size\":" size ",\"type\":\"mask\"}"

/* The picture is 100 x 50; the third row of 2 x 3 masks: column 0 = (0,1), column 1 = (1,1), column 2 = (0,0)
 */
static const struct {
    enum annotation_type type;
    const char *in;
    double m[6];
    uint32_t w, h;
    const char *out;
} moves[] = {
    {ANNOTATION_DETECTION,
     SHAPES(BOX(10, 20, 30, 10)),
     {-1, 0, 100, 0, 1, 0},
     100,
     50,
     SHAPES(BOX(60, 20, 30, 10))},
    {ANNOTATION_DETECTION,
     SHAPES(BOX(10, 20, 30, 10)),
     {1, 0, 0, 0, -1, 50},
     100,
     50,
     SHAPES(BOX(10, 20, 30, 10))},
    {ANNOTATION_DETECTION,
     SHAPES(BOX(10, 20, 30, 10)),
     {0, -1, 50, 1, 0, 0},
     50,
     100,
     SHAPES(BOX(20, 10, 10, 30))},
    {ANNOTATION_DETECTION,
     SHAPES(BOX(10, 20, 30, 10)),
     {1, 0, -20, 0, 1, -25},
     10,
     10,
     SHAPES(BOX(0, 0, 10, 5))},
    {ANNOTATION_DETECTION, SHAPES(BOX(10, 20, 30, 10)), {1, 0, -50, 0, 1, 0}, 50, 50, "{}"},
    {ANNOTATION_ROTATED,
     SHAPES(BOX(10, 20, 30, 10)),
     {0, -1, 50, 1, 0, 0},
     50,
     100,
     SHAPES("{\"angle\":90,\"h\":10,\"label\":\"c\",\"type\":\"box\",\"w\":30,\"x\":10,\"y\":20}")},
    {ANNOTATION_SEGMENTATION,
     SHAPES(
         "{\"holes\":[[6,1,9,1,9,4]],\"label\":\"c\",\"rings\":[[0,0,10,0,10,10.1]],\"type\":\"polygon\"}"),
     {0, -1, 50, 1, 0, 0},
     50,
     100,
     SHAPES("{\"holes\":[[49,6,49,9,46,9]],\"label\":\"c\",\"rings\":[[50,0,50,10,39.9,10]],\"type\":"
            "\"polygon\"}")},
    {ANNOTATION_SEGMENTATION,
     SHAPES(MASK("[2,3]", "132")),
     {-1, 0, 3, 0, 1, 0},
     3,
     2,
     SHAPES(MASK("[2,3]", "221O"))},
    {ANNOTATION_KEYPOINTS,
     SHAPES("{\"box\":[0,0,10,10],\"label\":\"p\",\"points\":[[5,6,2],[0,0,0]],\"type\":\"keypoints\"}"),
     {-1, 0, 100, 0, 1, 0},
     100,
     50,
     SHAPES("{\"box\":[90,0,10,10],\"label\":\"p\",\"points\":[[95,6,2],[0,0,0]],\"type\":\"keypoints\"}")},
};

static void transforms(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(moves); i++) {
        auto_arena struct arena a = {0};
        struct err err = {0};
        struct str out;
        if (!annotation_transform(&a, moves[i].type, str_of(moves[i].in), moves[i].m, moves[i].w, moves[i].h,
                                  &out, NULL, &err))
            fail_msg("%s: %s", moves[i].in, err.message);
        assert_string_equal(out.p, moves[i].out);
    }
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct str out;
    assert_false(annotation_transform(&a, ANNOTATION_DETECTION, STR("{}"), (double[6]){1, 1, 0, 1, 1, 0}, 9,
                                      9, &out, NULL, &err));
}

static void masks(void **state)
{
    (void)state;
    auto_arena struct arena a = {0};
    uint32_t in[] = {3, 4, 0, 2, 70000, 1, 0, 0, 99920};
    size_t n = countof(in), again_n;
    const char *why = NULL;
    uint32_t *again;
    assert_true(rle_normalise(in, &n, 1000, 169930 / 1000, &why) == false); /* 169930 is no multiple */
    uint32_t runs[] = {3, 4, 0, 2, 70000, 1, 0, 0, 99990};
    n = countof(runs);
    assert_true(rle_normalise(runs, &n, 1000, 170, &why));
    assert_int_equal(n, 5);
    assert_int_equal(runs[1], 6);
    struct str text = rle_encode(&a, runs, n);
    assert_true(rle_decode(&a, text, 1000, 170, &again, &again_n, &why));
    assert_int_equal(again_n, n);
    assert_memory_equal(again, runs, n * sizeof *runs);
    assert_int_equal(rle_area(again, again_n), 7);
    double box[4];
    rle_box(again, again_n, 1000, box);
    assert_true(box[0] == 0 && box[1] == 3 && box[2] == 71 && box[3] == 7);
}

/* Rows of '#'; the rings as text. */
static void traced(const char *const *rows, const char *expected, uint32_t expected_holes)
{
    auto_arena struct arena a = {0};
    auto_buf struct buf text = {0};
    uint32_t h = 0, w = (uint32_t)strlen(rows[0]), count = 0, holes = 0;
    while (rows[h])
        h++;
    struct rle_builder b;
    rle_builder_init(&b, &a);
    for (uint32_t x = 0; x < w; x++)
        for (uint32_t y = 0; y < h; y++)
            rle_builder_add(&b, rows[y][x] == '#', 1);
    struct shape s = {.kind = SHAPE_MASK, .size = {h, w}, .counts = rle_encode(&a, b.runs, b.count)};
    struct ring *rings;
    assert_true(trace_mask(&a, &s, &rings, &count, &holes));
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < rings[i].count; k++)
            buf_printf(&text, "%g,%g ", rings[i].xy[2 * k], rings[i].xy[2 * k + 1]);
        buf_char(&text, ';');
    }
    assert_string_equal(text.n ? text.p : "", expected);
    assert_int_equal(holes, expected_holes);
}

static void outlines(void **state)
{
    (void)state;
    traced((const char *[]){"....", ".#..", "....", NULL}, "2,1 2,2 1,2 1,1 ;", 0);
    traced((const char *[]){"#...", "#...", "##..", NULL}, "1,0 1,2 2,2 2,3 0,3 0,0 ;", 0);
    traced((const char *[]){"#.#", ".#.", NULL}, "1,0 1,1 0,1 0,0 ;3,0 3,1 2,1 2,0 ;2,1 2,2 1,2 1,1 ;", 0);
    traced((const char *[]){"###", "#.#", "###", NULL}, "3,0 3,3 0,3 0,0 ;", 1);
    traced((const char *[]){"##", "##", NULL}, "2,0 2,2 0,2 0,0 ;", 0);
    traced((const char *[]){"..", NULL}, "", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clipping),
        cmocka_unit_test(transforms),
        cmocka_unit_test(masks),
        cmocka_unit_test(outlines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
