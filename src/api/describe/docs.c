#include "api/describe/docs.h"

#include "api/problem.h"
#include "base/hash.h"

extern const unsigned char docs_page[]; /* docs.html, by cmake/docs.cmake */
extern const size_t docs_page_size;

/* Only the script that stands in the page may run. */
static const char *policy(struct arena *a, struct str page)
{
    ptrdiff_t from = str_find(page, STR("<script>")), to = str_find(page, STR("</script>"));
    uint8_t digest[SHA256_SIZE];
    char text[64];
    from += (ptrdiff_t)strlen("<script>");
    sha256_of((struct str){page.p + from, (size_t)(to - from)}, digest);
    base64url_encode(digest, sizeof digest, text);
    return arena_printf(
        a,
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-%s='; connect-src 'self'; "
        "base-uri 'none'; frame-ancestors 'self'",
        text);
}

void docs_respond(struct request *r)
{
    const struct str page = {(const char *)docs_page, docs_page_size};
    if (str_is(r->method, "GET") || str_is(r->method, "HEAD")) {
        const struct header headers[] = {
            {STR("Content-Type"), STR("text/html; charset=utf-8")},
            {STR("Cache-Control"), STR("no-cache")},
            {STR("X-Content-Type-Options"), STR("nosniff")},
            {STR("Referrer-Policy"), STR("same-origin")},
            {STR("Content-Security-Policy"), str_of(policy(r->arena, page))},
        };
        respond_static(r, 200, headers, countof(headers), page);
        return;
    }
    struct err err = {0};
    const struct header allow = {STR("Allow"), STR("GET, HEAD")};
    err_set(&err, ERR_METHOD, NULL, "this path answers only GET and HEAD");
    problem_respond(r, &err, STR_NULL, &allow, 1);
}
