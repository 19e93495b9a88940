/* A manifest of an algorithm: what is accepted is written again as the same manifest, and its own defaults
 * are values that it takes. */
#include "model/algorithm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void written(const struct algorithm *m, struct buf *b)
{
    struct json_out out;
    json_begin(&out, b);
    algorithm_write(m, &out);
}

/* Parameters without a default, or more bytes than a variable takes, are the only reasons left. */
static void values(struct arena *a, const struct algorithm_function *f)
{
    struct err err = {0};
    struct str text, again;
    if (!algorithm_values(a, f, NULL, true, &text, &err)) {
        if (!err.message[0])
            abort();
        return;
    }
    yyjson_val *v = json_parse(a, text, &err);
    if (!v || !algorithm_values(a, f, v, true, &again, &err) || !str_eq(text, again)) {
        /* Defaults may leave out what they merge: only together is that wrong. */
        if (strcmp(err.field, "parameters.merge") != 0)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena struct arena a = {0};
    auto_buf struct buf once = {0}, again = {0};
    struct err err = {0};
    struct algorithm m, same;
    if (!algorithm_parse(&a, (struct str){(const char *)data, size}, &m, &err)) {
        if (!err.message[0])
            abort();
        return 0;
    }
    written(&m, &once);
    if (once.n > ALGORITHM_MAX_BYTES)
        return 0;
    if (!algorithm_parse(&a, buf_view(&once), &same, &err))
        abort();
    written(&same, &again);
    if (!str_eq(buf_view(&once), buf_view(&again)))
        abort();
    for (size_t i = 0; i < ALGORITHM_FUNCTION_COUNT; i++)
        values(&a, &m.functions[i]);
    return 0;
}
