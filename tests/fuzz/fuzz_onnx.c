/* The walk over ONNX files: whatever is accepted has a summary that can be written, compared and guessed
 * from, and the guess is a manifest or says what must be asked. */
#include "model/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena struct arena a = {0};
    auto_buf struct buf b = {0};
    struct json_out out;
    struct err err = {0};
    struct onnx_summary s;
    struct str file = {(const char *)data, size};
    bool good = onnx_check(file, &err);
    if (onnx_summarize(&a, file, &s, &err) != good)
        abort();
    if (!good) {
        if (err.code != ERR_INVALID || !err.message[0])
            abort();
        return 0;
    }
    json_begin(&out, &b);
    onnx_summary_write(&s, &out);
    if (!json_parse(&a, buf_view(&b), &err))
        abort();
    buf_clear(&b);
    json_begin(&out, &b);
    onnx_summary_compare(&s, &s, &a, &out);
    struct model_guess g;
    struct model_manifest m;
    const struct model_seen seen[] = {{STR("a.onnx"), &s}, {STR("b.onnx"), &s}};
    const struct str files[] = {STR("a.onnx"), STR("b.onnx"), STR("vocab.txt")};
    for (size_t n = 1; n <= 2; n++) {
        model_manifest_guess(&a, seen, n, files, countof(files), &g);
        if (!g.n_asked && !model_manifest_parse(&a, g.json, &m, &err))
            abort();
    }
    return 0;
}
