#include "base/json.h"
#include "codec/operation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define ID     "\"id\":\"abcdefgh.1\","
#define A_BOX  "{\"h\":4,\"id\":\"a\",\"label\":\"cat\",\"type\":\"box\",\"w\":3,\"x\":1,\"y\":2}"
#define B_BOX  "{\"h\":4,\"id\":\"b\",\"label\":\"cat\",\"type\":\"box\",\"w\":3,\"x\":1,\"y\":2}"
#define A_LAST "{\"h\":4,\"id\":\"a\",\"label\":\"dog\",\"type\":\"box\",\"w\":3,\"x\":1,\"y\":2}"
#define BARE   "{\"h\":4,\"label\":\"cat\",\"type\":\"box\",\"w\":3,\"x\":1,\"y\":2}"

/* before, operation, after; on a picture of 100 x 50 pixels */
static const struct {
    enum annotation_type type;
    const char *before, *operation, *after, *target;
    bool changed, clipped;
} good[] = {
    {ANNOTATION_DETECTION, "{}", "{" ID "\"op\":\"put\",\"shape\":" A_BOX "}", "{\"shapes\":[" A_BOX "]}",
     "shape:a", true, false},
    {ANNOTATION_DETECTION, "{\"shapes\":[" A_BOX "," B_BOX "]}",
     "{" ID "\"op\":\"put\",\"shape\":" A_LAST "}", "{\"shapes\":[" A_LAST "," B_BOX "]}", "shape:a", true,
     false},
    {ANNOTATION_DETECTION, "{\"shapes\":[" A_BOX "," B_BOX "]}",
     "{" ID "\"op\":\"put\",\"at\":7,\"shape\":" A_BOX "}", "{\"shapes\":[" B_BOX "," A_BOX "]}", "shape:a",
     true, false},
    {ANNOTATION_DETECTION, "{\"shapes\":[" A_BOX "]}", "{" ID "\"op\":\"put\",\"at\":0,\"shape\":" B_BOX "}",
     "{\"shapes\":[" B_BOX "," A_BOX "]}", "shape:b", true, false},
    {ANNOTATION_DETECTION, "{\"shapes\":[" A_BOX "]}", "{" ID "\"op\":\"put\",\"shape\":" A_BOX "}",
     "{\"shapes\":[" A_BOX "]}", "shape:a", false, false},
    {ANNOTATION_DETECTION, "{}",
     "{" ID "\"op\":\"put\",\"shape\":{\"type\":\"box\",\"id\":\"a\",\"label\":\"cat\",\"x\":90,\"y\":40,"
     "\"w\":30,\"h\":30}}",
     "{\"shapes\":[{\"h\":10,\"id\":\"a\",\"label\":\"cat\",\"type\":\"box\",\"w\":10,\"x\":90,\"y\":40}]}",
     "shape:a", true, true},
    {ANNOTATION_DETECTION, "{\"shapes\":[" A_BOX "," B_BOX "]}",
     "{" ID "\"op\":\"remove\",\"shape\":\"a\",\"base\":3}", "{\"shapes\":[" B_BOX "]}", "shape:a", true,
     false},
    {ANNOTATION_DETECTION, "{\"shapes\":[" B_BOX "]}", "{" ID "\"op\":\"remove\",\"shape\":\"a\"}",
     "{\"shapes\":[" B_BOX "]}", "shape:a", false, false},
    {ANNOTATION_IMAGE_CLASS, "{\"labels\":[\"dog\"],\"scores\":{\"dog\":0.5}}",
     "{" ID "\"op\":\"label\",\"label\":\"cat\",\"on\":true}", "{\"labels\":[\"cat\"]}", "label", true,
     false},
    {ANNOTATION_IMAGE_CLASS, "{\"labels\":[\"dog\"]}",
     "{" ID "\"op\":\"label\",\"label\":\"cat\",\"on\":false}", "{\"labels\":[\"dog\"]}", "label", false,
     false},
    {ANNOTATION_IMAGE_CLASSES, "{\"labels\":[\"dog\"],\"scores\":{\"dog\":0.5}}",
     "{" ID "\"op\":\"label\",\"label\":\"cat\",\"on\":true}",
     "{\"labels\":[\"cat\",\"dog\"],\"scores\":{\"dog\":0.5}}", "label:cat", true, false},
    {ANNOTATION_IMAGE_CLASSES, "{\"labels\":[\"a\",\"b\",\"c\"]}",
     "{" ID "\"op\":\"label\",\"label\":\"b\",\"on\":false}", "{\"labels\":[\"a\",\"c\"]}", "label:b", true,
     false},
    {ANNOTATION_TRANSCRIPTION, "{\"text\":\"hi\"}", "{" ID "\"op\":\"text\",\"text\":null}", "{}", "text",
     true, false},
    {ANNOTATION_TRANSCRIPTION, "{}",
     "{" ID "\"op\":\"put\",\"shape\":{\"id\":\"s\",\"start\":1,\"end\":2,\"text\":\"hi\"}}",
     "{\"segments\":[{\"end\":2,\"id\":\"s\",\"start\":1,\"text\":\"hi\"}]}", "shape:s", true, false},
    {ANNOTATION_TEXT_SPANS, "{\"spans\":[{\"end\":2,\"id\":\"s\",\"label\":\"a\",\"start\":1}]}",
     "{" ID "\"op\":\"put\",\"shape\":{\"id\":\"t\",\"start\":1,\"end\":3,\"label\":\"b\"}}",
     "{\"spans\":[{\"end\":2,\"id\":\"s\",\"label\":\"a\",\"start\":1},"
     "{\"end\":3,\"id\":\"t\",\"label\":\"b\",\"start\":1}]}",
     "shape:t", true, false},
    {ANNOTATION_DETECTION, "{\"attributes\":{\"a\":1,\"c\":[2]}}",
     "{" ID "\"op\":\"attribute\",\"name\":\"b\",\"value\":{\"y\":1,\"x\":2}}",
     "{\"attributes\":{\"a\":1,\"b\":{\"x\":2,\"y\":1},\"c\":[2]}}", "attribute:b", true, false},
    {ANNOTATION_DETECTION, "{\"attributes\":{\"a\":1}}",
     "{" ID "\"op\":\"attribute\",\"name\":\"a\",\"value\":null}", "{}", "attribute:a", true, false},
    {ANNOTATION_DETECTION, "{\"shapes\":[" A_BOX "]}",
     "{" ID "\"op\":\"replace\",\"annotation\":{\"shapes\":[" BARE ",{\"type\":\"box\",\"label\":\"c\","
     "\"x\":200,\"y\":2,\"w\":3,\"h\":4}]}}",
     "{\"shapes\":[" BARE "]}", "*", true, false},
};

static void applies(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(good); i++) {
        auto_arena struct arena a = {0};
        struct err err = {0};
        struct annotation n;
        struct operation op, again;
        struct operation_outcome out;
        assert_true(model_parse(&a, good[i].type, str_of(good[i].before), &n, &err));
        if (!operation_read(&a, good[i].type, json_parse(&a, str_of(good[i].operation), &err), &op, &err) ||
            !operation_apply(&a, good[i].type, &n, &op, 100, 50, &out, &err))
            fail_msg("%s: %s", good[i].operation, err.message);
        assert_string_equal(model_text(&a, &n).p, good[i].after);
        assert_true(str_is(op.target, good[i].target));
        assert_int_equal(out.changed, good[i].changed);
        assert_int_equal(out.clipped, good[i].clipped);
        /* What is written does the same again. */
        auto_buf struct buf text = {0}, twice = {0};
        operation_write(&text, &op);
        assert_true(operation_read(&a, good[i].type, json_parse(&a, buf_view(&text), &err), &again, &err));
        operation_write(&twice, &again);
        assert_string_equal(text.p, twice.p);
        assert_true(model_parse(&a, good[i].type, str_of(good[i].before), &n, &err));
        assert_true(operation_apply(&a, good[i].type, &n, &again, 100, 50, &out, &err));
        assert_string_equal(model_text(&a, &n).p, good[i].after);
        assert_false(out.clipped);
    }
}

static const struct {
    enum annotation_type type;
    const char *operation, *field, *says;
} bad[] = {
    {ANNOTATION_DETECTION, "[]", "", "must be an object"},
    {ANNOTATION_DETECTION, "{" ID "\"op\":\"paint\"}", "op", "must be put"},
    {ANNOTATION_DETECTION, "{\"op\":\"put\",\"shape\":" A_BOX "}", "id", "client"},
    {ANNOTATION_DETECTION, "{\"id\":\"abc.1\",\"op\":\"put\",\"shape\":" A_BOX "}", "id", "8 to 24"},
    {ANNOTATION_DETECTION, "{\"id\":\"abcdefgh.0\",\"op\":\"put\",\"shape\":" A_BOX "}", "id", "from 1"},
    {ANNOTATION_DETECTION, "{\"id\":\"abcdefgh.01\",\"op\":\"put\",\"shape\":" A_BOX "}", "id", "from 1"},
    {ANNOTATION_DETECTION, "{" ID "\"op\":\"put\",\"shape\":" A_BOX ",\"label\":\"x\"}", "label", "member"},
    {ANNOTATION_DETECTION, "{" ID "\"op\":\"put\",\"shape\":" A_BOX ",\"base\":-1}", "base", "negative"},
    {ANNOTATION_DETECTION, "{" ID "\"op\":\"put\",\"shape\":" A_BOX ",\"at\":0.5}", "at", "whole"},
    {ANNOTATION_DETECTION, "{" ID "\"op\":\"put\",\"shape\":" BARE "}", "shape.id", "1 to 100"},
    {ANNOTATION_DETECTION,
     "{" ID "\"op\":\"put\",\"shape\":{\"id\":\"a\",\"type\":\"box\",\"label\":\"c\",\"x\":1,\"y\":2,\"w\":0,"
     "\"h\":4}}",
     "shape.w", "is 0"},
    {ANNOTATION_DETECTION,
     "{" ID "\"op\":\"put\",\"shape\":{\"id\":\"a\",\"type\":\"box\",\"label\":\"c\",\"x\":101,\"y\":2,"
     "\"w\":1,\"h\":4}}",
     "shape.x", "outside"},
    {ANNOTATION_SEGMENTATION,
     "{" ID "\"op\":\"put\",\"shape\":{\"id\":\"a\",\"type\":\"polygon\",\"label\":\"c\","
     "\"rings\":[[1,1,2,2,3,3]]}}",
     "shape.rings", "no area"},
    {ANNOTATION_SEGMENTATION,
     "{" ID "\"op\":\"put\",\"shape\":{\"id\":\"a\",\"type\":\"mask\",\"label\":\"c\",\"size\":[2,3],"
     "\"counts\":\"132\"}}",
     "shape.size", "3 x 2"},
    {ANNOTATION_SEGMENTATION, "{" ID "\"op\":\"put\",\"shape\":" A_BOX "}", "shape.type", "does not take"},
    {ANNOTATION_IMAGE_CLASS, "{" ID "\"op\":\"remove\",\"shape\":\"a\"}", "shape", "does not belong"},
    {ANNOTATION_DETECTION, "{" ID "\"op\":\"remove\"}", "shape", "1 to 100"},
    {ANNOTATION_DETECTION, "{" ID "\"op\":\"label\",\"label\":\"a\",\"on\":true}", "label",
     "does not belong"},
    {ANNOTATION_IMAGE_CLASS, "{" ID "\"op\":\"label\",\"label\":\" \",\"on\":true}", "label", "1 to 200"},
    {ANNOTATION_IMAGE_CLASS, "{" ID "\"op\":\"label\",\"label\":\"a\"}", "on", "true or false"},
    {ANNOTATION_DETECTION, "{" ID "\"op\":\"text\",\"text\":\"a\"}", "text", "does not belong"},
    {ANNOTATION_TRANSCRIPTION, "{" ID "\"op\":\"text\"}", "text", "null"},
    {ANNOTATION_DETECTION, "{" ID "\"op\":\"attribute\",\"name\":\"\",\"value\":1}", "name", "1 to 100"},
    {ANNOTATION_DETECTION, "{" ID "\"op\":\"attribute\",\"name\":\"a\"}", "value", "missing"},
    {ANNOTATION_DETECTION, "{" ID "\"op\":\"attribute\",\"name\":\"a\",\"value\":[[[[[[[[1]]]]]]]]}", "value",
     "7 levels"},
    {ANNOTATION_DETECTION, "{" ID "\"op\":\"replace\",\"annotation\":{\"labels\":[\"a\"]}}", "labels",
     "does not belong"},
};

static void refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(bad); i++) {
        auto_arena struct arena a = {0};
        struct err err = {0};
        struct annotation n = {0};
        struct operation op;
        struct operation_outcome out;
        yyjson_val *v = json_parse(&a, str_of(bad[i].operation), &err);
        assert_non_null(v);
        if (operation_read(&a, bad[i].type, v, &op, &err) &&
            operation_apply(&a, bad[i].type, &n, &op, 100, 50, &out, &err))
            fail_msg("accepted: %s", bad[i].operation);
        assert_int_equal(err.code, ERR_INVALID);
        assert_string_equal(err.field, bad[i].field);
        if (!strstr(err.message, bad[i].says))
            fail_msg("%s: \"%s\" does not say \"%s\"", bad[i].operation, err.message, bad[i].says);
        assert_string_equal(model_text(&a, &n).p, "{}");
    }
}

/* Derived ids are the same for everybody, differ between equal shapes, and say nothing when compared. */
static void ids(void **state)
{
    (void)state;
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct str one, two, bare;
    const struct str text = STR("{\"shapes\":[" BARE "," BARE "," A_BOX "," A_LAST "]}");
    assert_true(annotation_with_ids(&a, text, &one, &err));
    assert_true(annotation_with_ids(&a, text, &two, &err));
    assert_true(str_eq(one, two));
    assert_true(annotation_with_ids(&a, one, &two, &err));
    assert_true(str_eq(one, two));
    assert_true(annotation_equal(text, one));
    assert_true(annotation_without_ids(&a, one, &two, &err));
    assert_true(annotation_without_ids(&a, text, &bare, &err));
    assert_true(str_eq(bare, two));
    struct annotation n;
    assert_true(model_parse(&a, ANNOTATION_DETECTION, one, &n, &err));
    for (uint32_t i = 0; i < n.shape_count; i++)
        for (uint32_t k = 0; k < i; k++)
            assert_false(str_eq(n.shapes[i].id, n.shapes[k].id));
    assert_true(str_is(n.shapes[2].id, "a"));
    assert_int_equal(n.shapes[0].id.n, 10);
    assert_int_equal(n.shapes[0].id.p[0], 's');
}

/* The first edit of what was imported without ids finds shapes by the ids that everybody derives. */
static void first_edit(void **state)
{
    (void)state;
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct str known;
    struct annotation shown, n;
    const struct str text = STR("{\"shapes\":[" BARE "," BARE "]}");
    assert_true(annotation_with_ids(&a, text, &known, &err));
    assert_true(model_parse(&a, ANNOTATION_DETECTION, known, &shown, &err));
    assert_true(model_parse(&a, ANNOTATION_DETECTION, text, &n, &err));
    struct operation op = {.kind = OPERATION_REMOVE, .shape_id = shown.shapes[0].id};
    struct operation_outcome out;
    assert_true(operation_apply(&a, ANNOTATION_DETECTION, &n, &op, 0, 0, &out, &err));
    assert_int_equal(n.shape_count, 1);
    assert_true(str_eq(n.shapes[0].id, shown.shapes[1].id));
}

static void meets(void **state)
{
    (void)state;
    assert_true(operation_meets(STR("shape:a"), STR("shape:a")));
    assert_false(operation_meets(STR("shape:a"), STR("shape:b")));
    assert_true(operation_meets(STR("shape:a"), STR("*")));
    assert_true(operation_meets(STR("*"), STR("label:a")));
    assert_true(operation_meets(STR("label"), STR("label")));
    assert_false(operation_meets(STR("label:a"), STR("label:a")));
}

/* A put that would make too many points is refused, and the shape stays what it was. */
static void limits(void **state)
{
    (void)state;
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct operation_outcome out;
    struct annotation n = {0};
    enum { MANY = 600000 };
    double *xy = arena_alloc(&a, 2 * MANY * sizeof *xy);
    for (size_t i = 0; i < MANY; i++) {
        xy[2 * i] = (double)(i % 100);
        xy[2 * i + 1] = (double)(i % 7);
    }
    struct ring large = {xy, MANY}, small = {(double[]){0, 0, 5, 0, 5, 5}, 3};
    struct operation op = {.kind = OPERATION_PUT, .list = MODEL_SHAPES, .at = -1};
    const struct {
        const char *id;
        struct ring *ring;
        bool ok;
    } steps[] = {{"a", &small, true}, {"b", &large, true}, {"a", &large, false}, {"c", &large, false}};
    for (size_t i = 0; i < countof(steps); i++) {
        op.shape_id = str_of(steps[i].id);
        op.shape = (struct shape){.kind = SHAPE_POLYGON,
                                  .id = op.shape_id,
                                  .label = STR("x"),
                                  .rings = steps[i].ring,
                                  .ring_count = 1,
                                  .has_area = false};
        assert_int_equal(operation_apply(&a, ANNOTATION_SEGMENTATION, &n, &op, 0, 0, &out, &err),
                         steps[i].ok);
    }
    assert_int_equal(n.shape_count, 2);
    assert_int_equal(n.shapes[0].rings[0].count, 3);
    assert_string_equal(err.id, "points-too-many");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(applies),    cmocka_unit_test(refused), cmocka_unit_test(ids),
        cmocka_unit_test(first_edit), cmocka_unit_test(meets),   cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
