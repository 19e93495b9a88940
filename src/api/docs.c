#include "api/docs.h"
#include "api/problem.h"

#define CSP                                                                                                  \
    "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; " \
    "base-uri 'none'; frame-ancestors 'self'"

extern const unsigned char docs_page[]; /* docs.html, by cmake/docs.cmake */
extern const size_t docs_page_size;

void docs_respond(struct request *r)
{
    const struct header headers[] = {
        {STR("Content-Type"), STR("text/html; charset=utf-8")},
        {STR("Cache-Control"), STR("no-cache")},
        {STR("X-Content-Type-Options"), STR("nosniff")},
        {STR("Referrer-Policy"), STR("same-origin")},
        {STR("Content-Security-Policy"), STR(CSP)},
    };
    if (str_is(r->method, "GET") || str_is(r->method, "HEAD")) {
        respond_static(r, 200, headers, countof(headers),
                       (struct str){(const char *)docs_page, docs_page_size});
        return;
    }
    struct err err = {0};
    const struct header allow = {STR("Allow"), STR("GET, HEAD")};
    err_set(&err, ERR_METHOD, NULL, "this path answers only GET and HEAD");
    problem_respond(r, &err, STR_NULL, &allow, 1);
}
