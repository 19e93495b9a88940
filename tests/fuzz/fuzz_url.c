/* Decoding of paths and queries; what decodes must come back from its encoded form. */
#include "net/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct str raw = {(const char *)data, n}, got, again;
    struct err err;
    if (url_segment(&a, raw, &got, &err)) {
        if (!utf8_valid(got) || memchr(got.p, 0, got.n))
            abort();
        if (memchr(got.p, '/', got.n) && !memchr(raw.p, '/', raw.n))
            abort();
    }
    if (url_value(&a, raw, &got, &err))
        if (!url_value(&a, str_of(url_encode(&a, got)), &again, &err) || !str_eq(got, again))
            abort();
    struct url_param *list;
    size_t count;
    if (url_query(&a, raw, &list, &count, &err) && count > 64)
        abort();
    return 0;
}
