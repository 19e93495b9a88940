/* A manifest: what is accepted is written again as the same manifest. */
#include "model/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void written(const struct model_manifest *m, struct buf *b)
{
    struct json_out out;
    json_begin(&out, b);
    model_manifest_write(m, &out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena struct arena a = {0};
    auto_buf struct buf once = {0}, again = {0};
    struct err err = {0};
    struct model_manifest m, same;
    if (!model_manifest_parse(&a, (struct str){(const char *)data, size}, &m, &err)) {
        if (!err.message[0])
            abort();
        return 0;
    }
    written(&m, &once);
    if (!model_manifest_parse(&a, buf_view(&once), &same, &err))
        abort();
    written(&same, &again);
    if (!str_eq(buf_view(&once), buf_view(&again)))
        abort();
    return 0;
}
