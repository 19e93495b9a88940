/* The request parser: first byte is the size of the pieces it is fed, the rest are requests. */
#include "net/http1_parse.h"

static const struct http_limits limits = {.max_header = 4096, .max_headers = 20, .max_target = 256};

static bool on_body(void *ctx, struct str piece)
{
    return (++*(unsigned *)ctx + piece.n) % 3 != 0;
}

static void check_request(const struct request *r)
{
    if (!http_known_method(r->method).p || !r->path.n || r->content_length < -1)
        abort();
    if (r->header_count > limits.max_headers || (r->version == 11 && !http_host_valid(r->host)))
        abort();
    for (size_t i = 0; i < r->header_count; i++)
        if (!r->headers[i].name.n || !http_value_valid(r->headers[i].value))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (!n)
        return 0;
    size_t step = data[0] + 1;
    const char *p = (const char *)data + 1, *end = (const char *)data + n;
    struct arena a;
    arena_init(&a);
    struct request r = {.arena = &a};
    struct http1_parser parser;
    unsigned pieces = 0;
    http1_parser_init(&parser, &limits, on_body, &pieces);
    http1_parser_begin(&parser, &r);
    while (p < end) {
        size_t used, give = step < (size_t)(end - p) ? step : (size_t)(end - p);
        enum http1_event e = http1_parser_feed(&parser, p, give, &used);
        if (used > give)
            abort();
        p += used;
        if (e == HTTP1_REFUSED)
            break;
        if (e == HTTP1_HEAD || e == HTTP1_DONE)
            check_request(&r);
        if (e == HTTP1_DONE) {
            r = (struct request){.arena = &a};
            http1_parser_begin(&parser, &r);
        }
    }
    arena_release(&a);
    return 0;
}
