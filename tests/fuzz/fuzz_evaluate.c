/* {"truth": ..., "found": ..., "width": 9, "height": 9}: whatever passes for annotations gives a report whose
 * shares are shares, and two different samples do not disturb each other. */
#include "base/json.h"
#include "codec/annotation.h"
#include "metric/evaluate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct str text_of(struct arena *a, yyjson_val *v)
{
    auto_buf struct buf b = {0};
    struct json_out o;
    json_begin(&o, &b);
    json_value(&o, v);
    return arena_str(a, buf_view(&b));
}

static void look(struct arena *a, struct evaluate *e)
{
    auto_buf struct buf b = {0};
    struct json_out o;
    struct err err = {0};
    size_t i, max;
    yyjson_val *row;
    json_begin(&o, &b);
    evaluate_report(e, 5, &o);
    yyjson_val *report = json_parse(a, arena_str(a, buf_view(&b)), &err);
    if (!report)
        abort();
    yyjson_arr_foreach(yyjson_obj_get(report, "figures"), i, max, row)
    {
        yyjson_val *v = yyjson_obj_get(row, "value");
        if (!yyjson_is_null(v) && yyjson_get_num(v) < 0)
            abort();
    }
}

static void one_type(enum annotation_type type, yyjson_val *v)
{
    auto_arena struct arena a = {0};
    struct err err = {0};
    yyjson_val *truth = yyjson_obj_get(v, "truth"), *found = yyjson_obj_get(v, "found");
    uint32_t w = (uint32_t)yyjson_get_uint(yyjson_obj_get(v, "width")) % 4096;
    uint32_t h = (uint32_t)yyjson_get_uint(yyjson_obj_get(v, "height")) % 4096;
    struct evaluate *e = truth && found ? evaluate_new(type, &err) : NULL;
    if (!e)
        return;
    struct str t = text_of(&a, truth), f = text_of(&a, found);
    if (!evaluate_add(e, t, f, w, h, &err) && !err.message[0])
        abort();
    if (!evaluate_add(e, f, t, w, h, &err) && !err.message[0])
        abort();
    look(&a, e);
    evaluate_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena struct arena a = {0};
    struct err err = {0};
    yyjson_val *v = size <= 1 << 14 ? json_parse(&a, (struct str){(const char *)data, size}, &err) : NULL;
    for (int i = 0; v && i < ANNOTATION_TYPE_COUNT; i++)
        one_type((enum annotation_type)i, v);
    return 0;
}
