/* {"annotation": ..., "operations": [...]}: whatever is applied leaves a valid annotation, and an operation
 * that was written is read and does the same again. */
#include "base/json.h"
#include "codec/operation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool ok)
{
    if (!ok)
        abort();
}

static void one_operation(struct arena *a, enum annotation_type type, struct annotation *n, yyjson_val *v)
{
    struct err err = {0};
    struct operation op, again;
    struct operation_outcome out = {0};
    auto_buf struct buf written = {0}, twice = {0};
    struct str before = model_text(a, n), after, checked;
    if (!operation_read(a, type, v, &op, &err)) {
        expect(err.message[0]);
        return;
    }
    bool done = operation_apply(a, type, n, &op, 100, 50, &out, &err);
    after = model_text(a, n);
    expect(annotation_check(a, type, after, &checked, &err) && str_eq(after, checked));
    if (!done) {
        expect(err.message[0] && annotation_equal(before, after));
        return;
    }
    expect(out.changed || str_eq(before, after));
    operation_write(&written, &op);
    v = json_parse(a, arena_str(a, buf_view(&written)), &err);
    expect(v && operation_read(a, type, v, &again, &err));
    operation_write(&twice, &again);
    expect(str_eq(buf_view(&written), buf_view(&twice)) && str_eq(op.target, again.target));
}

static void one_type(enum annotation_type type, struct str json)
{
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct annotation n = {0};
    yyjson_val *v = json_parse(&a, json, &err);
    size_t i, max;
    yyjson_val *item;
    if (!v || !model_read(&a, type, yyjson_obj_get(v, "annotation"), &n, &err))
        return;
    yyjson_arr_foreach(yyjson_obj_get(v, "operations"), i, max, item) one_operation(&a, type, &n, item);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 1 << 16)
        return 0;
    for (int i = 0; i < ANNOTATION_TYPE_COUNT; i++)
        one_type((enum annotation_type)i, (struct str){(const char *)data, size});
    return 0;
}
