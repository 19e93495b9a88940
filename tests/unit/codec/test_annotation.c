#include "base/json.h"
#include "codec/annotation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void types(void **state)
{
    (void)state;
    enum annotation_type t;
    for (int i = 0; i < ANNOTATION_TYPE_COUNT; i++) {
        assert_true(annotation_type_of(str_of(annotation_types[i].name), &t));
        assert_int_equal(t, i);
        assert_true(*annotation_types[i].title_en && *annotation_types[i].title_zh);
    }
    assert_false(annotation_type_of(STR("nothing"), &t));
    assert_string_equal(annotation_data_names[annotation_types[ANNOTATION_OCR].data], "image");
}

/* input, canonical text per type */
static const struct {
    enum annotation_type type;
    const char *in, *out;
} good[] = {
    {ANNOTATION_IMAGE_CLASS, "{}", "{}"},
    {ANNOTATION_IMAGE_CLASS, "{\"labels\":[]}", "{}"},
    {ANNOTATION_IMAGE_CLASS, "{ \"labels\" : [\"cat\"] , \"scores\":{\"cat\":0.50}}",
     "{\"labels\":[\"cat\"],\"scores\":{\"cat\":0.5}}"},
    {ANNOTATION_IMAGE_CLASSES, "{\"labels\":[\"b\",\"a\"],\"scores\":{\"b\":1.0}}",
     "{\"labels\":[\"a\",\"b\"],\"scores\":{\"b\":1}}"},
    {ANNOTATION_DETECTION,
     "{\"shapes\":[{\"y\":2.50,\"x\":1.0,\"h\":4e0,\"w\":3,\"type\":\"box\",\"label\":\"c\",\"angle\":0,"
     "\"attributes\":{\"b\":[1,{\"z\":null,\"a\":true}],\"a\":\"\\u00e9\"},\"score\":0.123456789}]}",
     "{\"shapes\":[{\"attributes\":{\"a\":\"\xc3\xa9\",\"b\":[1,{\"a\":true,\"z\":null}]},\"h\":4,\"label\":"
     "\"c\","
     "\"score\":0.123456789,\"type\":\"box\",\"w\":3,\"x\":1,\"y\":2.5}]}"},
    {ANNOTATION_ROTATED,
     "{\"shapes\":[{\"type\":\"box\",\"label\":\"c\",\"x\":-0.0,\"y\":0,\"w\":1,\"h\":1,\"angle\":270}]}",
     "{\"shapes\":[{\"angle\":-90,\"h\":1,\"label\":\"c\",\"type\":\"box\",\"w\":1,\"x\":0,\"y\":0}]}"},
    {ANNOTATION_SEGMENTATION,
     "{\"shapes\":[{\"type\":\"polygon\",\"label\":\"c\",\"rings\":[[0,0,9.25,0,9,9]],\"crowd\":false},"
     "{\"type\":\"mask\",\"label\":\"c\",\"size\":[2,3],\"counts\":\"132\",\"crowd\":true,\"area\":3,"
     "\"box\":[0,0,2,2]}]}",
     "{\"shapes\":[{\"label\":\"c\",\"rings\":[[0,0,9.25,0,9,9]],\"type\":\"polygon\"},"
     "{\"area\":3,\"box\":[0,0,2,2],\"counts\":\"132\",\"crowd\":true,\"label\":\"c\",\"size\":[2,3],"
     "\"type\":\"mask\"}]}"},
    {ANNOTATION_SEGMENTATION,
     "{\"shapes\":[{\"type\":\"polygon\",\"label\":\"c\",\"truncated\":true,\"occluded\":true,\"rings\":[[0,"
     "0,9,0,9,9]]"
     ",\"holes\":[[5,1,7,1,7,3]]},{\"type\":\"polygon\",\"label\":\"c\",\"truncated\":false,\"rings\":[[0,0,"
     "9,0,9,9]],"
     "\"holes\":[]}]}",
     "{\"shapes\":[{\"holes\":[[5,1,7,1,7,3]],\"label\":\"c\",\"occluded\":true,\"rings\":[[0,0,9,0,9,9]],"
     "\"truncated\":true,\"type\":\"polygon\"},{\"label\":\"c\",\"rings\":[[0,0,9,0,9,9]],\"type\":"
     "\"polygon\"}]}"},
    {ANNOTATION_KEYPOINTS,
     "{\"shapes\":[{\"type\":\"keypoints\",\"label\":\"p\",\"skeleton\":\"k\",\"points\":[[1,2,2],[0,0,0]],"
     "\"rings\":[[0,0,1,0,1,1]]}]}",
     "{\"shapes\":[{\"label\":\"p\",\"points\":[[1,2,2],[0,0,0]],\"rings\":[[0,0,1,0,1,1]],\"skeleton\":"
     "\"k\","
     "\"type\":\"keypoints\"}]}"},
    {ANNOTATION_OCR, "{\"shapes\":[{\"type\":\"box\",\"x\":0,\"y\":0,\"w\":1,\"h\":1,\"text\":\"hi\"}]}",
     "{\"shapes\":[{\"h\":1,\"text\":\"hi\",\"type\":\"box\",\"w\":1,\"x\":0,\"y\":0}]}"},
    {ANNOTATION_TEXT_CLASS, "{\"labels\":[\"spam\"]}", "{\"labels\":[\"spam\"]}"},
    {ANNOTATION_TEXT_SPANS, "{\"spans\":[{\"start\":0,\"end\":5,\"label\":\"name\"}]}",
     "{\"spans\":[{\"end\":5,\"label\":\"name\",\"start\":0}]}"},
    {ANNOTATION_AUDIO_CLASS, "{\"labels\":[\"dog\"]}", "{\"labels\":[\"dog\"]}"},
    {ANNOTATION_TRANSCRIPTION,
     "{\"text\":\"hello\",\"segments\":[{\"start\":0.5,\"end\":2,\"text\":\"hello\",\"label\":\"anna\"}]}",
     "{\"segments\":[{\"end\":2,\"label\":\"anna\",\"start\":0.5,\"text\":\"hello\"}],\"text\":\"hello\"}"},
};

static void canonical(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(good); i++) {
        auto_arena struct arena a = {0};
        struct err err = {0};
        struct str text, again;
        if (!annotation_check(&a, good[i].type, str_of(good[i].in), &text, &err))
            fail_msg("%s: %s", good[i].in, err.message);
        assert_string_equal(text.p, good[i].out);
        assert_true(annotation_check(&a, good[i].type, text, &again, &err));
        assert_string_equal(again.p, good[i].out);
        assert_true(annotation_equal(str_of(good[i].in), text));
    }
}

#define BOX(more) "{\"shapes\":[{\"type\":\"box\",\"label\":\"c\"" more "}]}"

static const struct {
    enum annotation_type type;
    const char *in, *field, *says;
} bad[] = {
    {ANNOTATION_DETECTION, "[]", "", "must be an object"},
    {ANNOTATION_DETECTION, "{\"boxes\":[]}", "boxes", "not a member"},
    {ANNOTATION_DETECTION, "{\"labels\":[\"a\"]}", "labels", "does not belong"},
    {ANNOTATION_IMAGE_CLASS, "{\"labels\":[\"a\",\"b\"]}", "labels", "one entry"},
    {ANNOTATION_IMAGE_CLASSES, "{\"labels\":[\"a\",\"a\"]}", "labels[1]", "twice"},
    {ANNOTATION_IMAGE_CLASSES, "{\"labels\":[\" \"]}", "labels[0]", "empty"},
    {ANNOTATION_IMAGE_CLASSES, "{\"labels\":[1]}", "labels[0]", "string"},
    {ANNOTATION_IMAGE_CLASSES, "{\"labels\":[\"a\"],\"scores\":{\"b\":1}}", "scores", "not in labels"},
    {ANNOTATION_DETECTION, BOX(",\"x\":1,\"y\":2,\"w\":-3,\"h\":4"), "shapes[0].w", "is -3"},
    {ANNOTATION_DETECTION, BOX(",\"x\":1,\"y\":2,\"w\":0,\"h\":4"), "shapes[0].w", "is 0"},
    {ANNOTATION_DETECTION, BOX(",\"x\":1,\"y\":2,\"h\":4"), "shapes[0].w", "missing"},
    {ANNOTATION_DETECTION, BOX(",\"x\":1e9,\"y\":2,\"w\":3,\"h\":4"), "shapes[0].x", "must be from"},
    {ANNOTATION_DETECTION, BOX(",\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"angle\":5"), "shapes[0].angle", "upright"},
    {ANNOTATION_DETECTION, BOX(",\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"score\":2"), "shapes[0].score", "is 2"},
    {ANNOTATION_DETECTION, BOX(",\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"text\":\"t\""), "shapes[0].text", "only"},
    {ANNOTATION_DETECTION, BOX(",\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"rings\":[]"), "shapes[0].rings", "known"},
    {ANNOTATION_SEGMENTATION, BOX(""), "shapes[0].type", "segmentation does not take"},
    {ANNOTATION_SEGMENTATION, "{\"shapes\":[{\"type\":\"circle\"}]}", "shapes[0].type", "must be box"},
    {ANNOTATION_SEGMENTATION, "{\"shapes\":[{\"type\":\"polygon\",\"label\":\"c\",\"rings\":[[1,2,3,4]]}]}",
     "shapes[0].rings[0]", "at least 6"},
    {ANNOTATION_SEGMENTATION,
     "{\"shapes\":[{\"type\":\"mask\",\"label\":\"c\",\"size\":[2,3],\"counts\":\"13\"}]}",
     "shapes[0].counts", "add up"},
    {ANNOTATION_SEGMENTATION,
     "{\"shapes\":[{\"type\":\"mask\",\"label\":\"c\",\"size\":[2,3],\"counts\":\"1!\"}]}",
     "shapes[0].counts", "damaged"},
    {ANNOTATION_SEGMENTATION,
     "{\"shapes\":[{\"type\":\"mask\",\"label\":\"c\",\"size\":[1000000,1000000],\"counts\":\"1\"}]}",
     "shapes[0].size", "pixels"},
    {ANNOTATION_SEGMENTATION,
     "{\"shapes\":[{\"type\":\"polygon\",\"label\":\"c\",\"rings\":[[0,0,9,0,9,9]],\"holes\":[[1,2,3,4]]}]}",
     "shapes[0].holes[0]", "at least 6"},
    {ANNOTATION_SEGMENTATION,
     "{\"shapes\":[{\"type\":\"polygon\",\"label\":\"c\",\"rings\":[[0,0,9,0,9,9]],\"occluded\":1}]}",
     "shapes[0].occluded", "true or false"},
    {ANNOTATION_DETECTION, BOX(",\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"holes\":[]"), "shapes[0].holes", "known"},
    {ANNOTATION_KEYPOINTS,
     "{\"shapes\":[{\"type\":\"keypoints\",\"label\":\"c\",\"points\":[[1,2,2],[1,2,3]]}]}",
     "shapes[0].points[1]", "is 3"},
    {ANNOTATION_TEXT_SPANS, "{\"spans\":[{\"start\":3,\"end\":3,\"label\":\"a\"}]}", "spans[0].end", "after"},
    {ANNOTATION_TEXT_SPANS, "{\"spans\":[{\"start\":1.5,\"end\":3,\"label\":\"a\"}]}", "spans[0].start",
     "whole"},
};

static void refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(bad); i++) {
        auto_arena struct arena a = {0};
        struct err err = {0};
        struct str text;
        if (annotation_check(&a, bad[i].type, str_of(bad[i].in), &text, &err))
            fail_msg("accepted: %s", bad[i].in);
        assert_int_equal(err.code, ERR_INVALID);
        assert_string_equal(err.field, bad[i].field);
        if (!strstr(err.message, bad[i].says))
            fail_msg("%s: \"%s\" does not say \"%s\"", bad[i].in, err.message, bad[i].says);
    }
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct str text;
    assert_false(annotation_check(&a, ANNOTATION_DETECTION, STR("{\"a\":1,\"a\":2}"), &text, &err));
    assert_int_equal(err.code, ERR_MALFORMED);
}

static void collect(void *ctx, struct str label, uint32_t count)
{
    buf_printf(ctx, STR_FMT "=%u ", STR_ARG(label), count);
}

static void labels(void **state)
{
    (void)state;
    auto_buf struct buf b = {0};
    struct err err = {0};
    assert_true(annotation_each_label(
        STR("{\"labels\":[\"z\"],\"spans\":[{\"start\":0,\"end\":1,\"label\":\"b\"},{\"start\":1,\"end\":2,"
            "\"label\":\"a\"},{\"start\":2,\"end\":3,\"label\":\"b\"}]}"),
        collect, &b, &err));
    assert_string_equal(b.p, "z=1 b=2 a=1 ");
    assert_true(annotation_empty(STR("{\"shapes\":[]}")));
    assert_true(annotation_empty(STR("{}")));
    assert_false(annotation_empty(STR("{\"labels\":[\"a\"]}")));
    assert_false(annotation_equal(STR("{\"labels\":[\"a\"]}"), STR("{\"labels\":[\"b\"]}")));
    assert_false(annotation_equal(STR("{"), STR("}")));
}

static struct str rename_label(void *ctx, struct str label)
{
    (void)ctx;
    return str_is(label, "drop") ? STR_NULL : str_is(label, "b") ? STR("a") : label;
}

static void relabels(void **state)
{
    (void)state;
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct str out;
    assert_true(annotation_relabel(&a,
                                   STR("{\"labels\":[\"a\",\"b\",\"drop\"],\"spans\":[{\"start\":0,\"end\":1,"
                                       "\"label\":\"drop\"},{\"start\":0,\"end\":1,\"label\":\"b\"}]}"),
                                   rename_label, NULL, &out, &err));
    assert_string_equal(out.p, "{\"labels\":[\"a\"],\"spans\":[{\"end\":1,\"label\":\"a\",\"start\":0}]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types),  cmocka_unit_test(canonical), cmocka_unit_test(refused),
        cmocka_unit_test(labels), cmocka_unit_test(relabels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
