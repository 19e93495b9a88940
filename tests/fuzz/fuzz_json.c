/* json_parse on any bytes; what it accepts must be written and read again as the same text. */
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void rewrite(struct buf *b, yyjson_val *v)
{
    struct json_out o;
    json_begin(&o, b);
    json_value(&o, v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena struct arena a = {0};
    auto_buf struct buf once = {0}, twice = {0};
    struct err err = {0};
    yyjson_val *v = json_parse(&a, (struct str){(const char *)data, size}, &err);
    if (!v) {
        if (err.code != ERR_MALFORMED || !err.message[0])
            abort();
        return 0;
    }
    rewrite(&once, v);
    v = json_parse(&a, buf_view(&once), &err);
    if (!v)
        abort();
    rewrite(&twice, v);
    if (!str_eq(buf_view(&once), buf_view(&twice)))
        abort();
    return 0;
}
