/* A Content-Type, a zero byte, and a body: parts lie in the body, one after the other. Compressed bodies go
 * the same way: what comes out is bounded. */
#include "infer/multipart.h"
#include "infer/squeeze.h"

#define MOST (1u << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct str all = {(const char *)data, size}, body, boundary, type = str_cut(all, '\0', &body);
    struct multipart_part *parts;
    size_t n;
    if (!body.p)
        return 0;
    for (int s = SQUEEZE_GZIP; s <= SQUEEZE_DEFLATE; s++) {
        auto_buf struct buf out = {0};
        if (squeeze_expand((enum squeeze)s, body, MOST, &out, &err) && out.n > MOST)
            abort();
    }
    if (!multipart_boundary(type, &boundary) || !multipart_parse(&a, body, boundary, &parts, &n, &err))
        return 0;
    const char *at = body.p;
    for (size_t i = 0; i < n; i++) {
        if (n > MULTIPART_MAX_PARTS || parts[i].bytes.p < at || parts[i].bytes.n > size)
            abort();
        at = parts[i].bytes.p + parts[i].bytes.n;
        if (at > body.p + body.n)
            abort();
    }
    return 0;
}
