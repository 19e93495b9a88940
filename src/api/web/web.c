#include "api/web/web.h"

#include "api/problem.h"
#include "api/range.h"
#include "api/web/assets.h"
#include "net/url.h"

/* Ant Design sets styles from scripts; nothing else is taken from anywhere but here. */
#define CSP                                                                                                  \
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "  \
    "font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; object-src 'none'; "                \
    "base-uri 'self'; form-action 'self'; frame-ancestors 'self'"

static const struct asset *find(struct str path)
{
    size_t low = 0, high = web_assets_count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        int c = strncmp(web_assets[mid].path, path.p, path.n);
        if (c == 0 && web_assets[mid].path[path.n])
            c = 1;
        if (c == 0)
            return &web_assets[mid];
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

/* "q=0", "q=0.0", "q=0.000" */
static bool is_zero(struct str q)
{
    bool zero = str_starts(q, "q=0");
    for (size_t i = 3; zero && i < q.n; i++)
        zero = q.p[i] == '.' || q.p[i] == '0';
    return zero;
}

bool web_accepts(struct str header, const char *coding)
{
    while (header.p && header.n) {
        struct str params;
        struct str name = str_trim(str_cut(str_cut(header, ',', &header), ';', &params));
        if (!str_ieq(name, str_of(coding)))
            continue;
        return !is_zero(str_trim(params));
    }
    return false;
}

/* The bytes to send, and how they are packed. Parts are always of the bare bytes. */
static struct str packed(struct request *r, const struct asset *asset, struct str *coding)
{
    struct str encodings = request_header(r, "accept-encoding");
    bool part = request_header(r, "range").p;
    *coding = STR_NULL;
    if (!part && asset->brotli && web_accepts(encodings, "br")) {
        *coding = STR("br");
        return (struct str){(const char *)asset->brotli, asset->brotli_size};
    }
    if (!part && asset->gzip && web_accepts(encodings, "gzip")) {
        *coding = STR("gzip");
        return (struct str){(const char *)asset->gzip, asset->gzip_size};
    }
    return (struct str){(const char *)asset->data, asset->size};
}

static void serve(struct request *r, const struct asset *asset)
{
    struct str coding, body = packed(r, asset, &coding);
    struct header headers[] = {
        {STR("ETag"), str_of(asset->etag)},
        {STR("Cache-Control"),
         asset->immutable ? STR("public, max-age=31536000, immutable") : STR("no-cache")},
        {STR("Vary"), STR("Accept-Encoding")},
        {STR("X-Content-Type-Options"), STR("nosniff")},
        {STR("Content-Security-Policy"), STR(CSP)},
        {STR("Referrer-Policy"), STR("same-origin")},
        {STR("Content-Type"), str_of(asset->type)},
        {STR("Content-Encoding"), coding}, /* or the part's place */
    };
    struct str known = request_header(r, "if-none-match");
    if (known.p && (str_is(str_trim(known), "*") || str_find(known, str_of(asset->etag)) >= 0)) {
        respond_static(r, 304, headers, 6, STR_NULL);
        return;
    }
    uint64_t offset = 0, length = body.n;
    struct str if_range = request_header(r, "if-range");
    enum range range = RANGE_ALL;
    if (!if_range.p || str_is(if_range, asset->etag))
        range = range_parse(request_header(r, "range"), body.n, &offset, &length);
    if (range == RANGE_BAD) {
        range_refuse(r, body.n);
        return;
    }
    if (range == RANGE_PART)
        headers[7] =
            (struct header){STR("Content-Range"), str_of(range_text(r->arena, offset, length, body.n))};
    respond_static(r, range == RANGE_PART ? 206 : 200, headers, coding.p || range == RANGE_PART ? 8 : 7,
                   (struct str){body.p + offset, length});
}

static void refuse(struct request *r, enum err_code code, const char *why)
{
    struct err err = {0};
    const struct header allow = {STR("Allow"), STR("GET, HEAD")};
    err_set(&err, code, NULL, "%s", why);
    problem_respond(r, &err, STR_NULL, &allow, code == ERR_METHOD ? 1 : 0);
}

/* Every segment must decode; no asset has a name that needs escapes, so the path is compared as sent. */
static bool clean(struct request *r, struct err *err)
{
    struct str rest = {r->path.p + 1, r->path.n - 1}, segment;
    while (rest.p && rest.n)
        if (!url_segment(r->arena, str_cut(rest, '/', &rest), &segment, err))
            return false;
    return true;
}

void web_respond(struct request *r)
{
    struct err err = {0};
    if (!str_is(r->method, "GET") && !str_is(r->method, "HEAD")) {
        refuse(r, ERR_METHOD, "this path answers only GET and HEAD");
        return;
    }
    if (!clean(r, &err)) {
        problem_respond(r, &err, STR_NULL, NULL, 0);
        return;
    }
    const struct asset *asset = find(r->path);
    /* Names of projects stand in the addresses of their pages; they may have dots, and letters to be escaped.
     */
    bool page = str_starts(r->path, "/p/") ||
                (!memchr(r->path.p, '.', r->path.n) && !memchr(r->path.p, ';', r->path.n) &&
                 !memchr(r->path.p, '%', r->path.n));
    if (!asset && page)
        asset = find(STR("/index.html"));
    if (asset)
        serve(r, asset);
    else
        refuse(r, ERR_NOT_FOUND,
               web_assets_count ? "there is no such page" : "this program was built without the web UI");
}
