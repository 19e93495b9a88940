/* annotation_check and what works on what it accepts: canonical text is a fixed point, clipping and moving
 * give valid annotations again. */
#include "codec/annotation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *ctx, struct str label, uint32_t count)
{
    (void)ctx;
    (void)label;
    (void)count;
}

static struct str same(void *ctx, struct str label)
{
    (void)ctx;
    return label;
}

static void one_type(enum annotation_type type, struct str json)
{
    static const double turn[6] = {0.8, -0.6, 20, 0.6, 0.8, -3};
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct str text, again, moved;
    if (!annotation_check(&a, type, json, &text, &err)) {
        if (!err.message[0])
            abort();
        return;
    }
    if (!annotation_check(&a, type, text, &again, &err) || !str_eq(text, again) ||
        !annotation_equal(json, text))
        abort();
    if (!annotation_each_label(text, ignore, NULL, &err) ||
        !annotation_relabel(&a, text, same, NULL, &again, &err) || !str_eq(again, text))
        abort();
    if (annotation_clip(&a, text, 100, 50, &moved, NULL, &err) &&
        !annotation_check(&a, type, moved, &again, &err))
        abort();
    if (annotation_transform(&a, type, text, turn, 120, 80, &moved, NULL, &err) &&
        !annotation_check(&a, type, moved, &again, &err))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int i = 0; i < ANNOTATION_TYPE_COUNT; i++)
        one_type((enum annotation_type)i, (struct str){(const char *)data, size});
    return 0;
}
