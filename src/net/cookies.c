#include "net/cookies.h"

#define MANY   50 /* cookies, each of which is a header field in HTTP/2 */
#define FORGET 64 /* at most so many at a time */

bool cookies_are_own(struct str name, const char *own)
{
    size_t n = strlen(COOKIES_SECURE);
    if (str_starts(name, COOKIES_SECURE))
        name = (struct str){name.p + n, name.n - n};
    return str_starts(name, own);
}

static struct header forget(struct arena *a, struct str name, struct str path, const char *domain)
{
    const char *text = arena_printf(a, STR_FMT "=; Path=" STR_FMT "; Max-Age=0%s%s", STR_ARG(name),
                                    STR_ARG(path), domain ? "; Domain=" : "", domain ? domain : "");
    return (struct header){STR("Set-Cookie"), str_of(text)};
}

/* "/api" of "/api/v1/jobs?x"; a path that could end the attribute is not one. */
static struct str first_part(struct str path)
{
    size_t n = path.n > 0 && path.p[0] == '/';
    while (n > 0 && n < path.n && !strchr("/?", path.p[n]))
        n++;
    for (size_t i = 0; i < n; i++)
        if (path.p[i] == ';' || path.p[i] <= ' ')
            return STR("/");
    return n > 1 ? (struct str){path.p, n} : STR("/");
}

struct seen {
    struct str name[FORGET];
    size_t n, count, bytes;
};

static void look_at(struct seen *s, struct str text)
{
    s->bytes += text.n;
    while (text.n) {
        struct str value, name = str_cut(str_trim(str_cut(text, ';', &text)), '=', &value);
        s->count++;
        if (name.n > 0 && s->n < FORGET && !cookies_are_own(name, COOKIES_OWN))
            s->name[s->n++] = name;
    }
}

size_t cookies_forget_all(struct request *r, struct str path, struct str unfinished, size_t max_header,
                          struct header **ret)
{
    struct seen s = {0};
    size_t n = 0;
    for (size_t i = 0; i < r->header_count; i++)
        if (str_is(r->headers[i].name, "cookie"))
            look_at(&s, r->headers[i].value);
    look_at(&s, unfinished);
    if (s.bytes < max_header / 2 && s.count < MANY)
        return 0;
    struct str part = first_part(path);
    *ret = arena_array(r->arena, struct header, 2 * s.n + 1);
    for (size_t i = 0; i < s.n; i++) {
        (*ret)[n++] = forget(r->arena, s.name[i], STR("/"), NULL);
        if (part.n > 1)
            (*ret)[n++] = forget(r->arena, s.name[i], part, NULL);
    }
    return n;
}

size_t cookies_forget_others(const struct request *r, const char *name, struct header **ret)
{
    struct str own = str_of(name), host = r->host;
    size_t n = 0;
    *ret = arena_array(r->arena, struct header, FORGET);
    for (size_t i = 1; i <= r->path.n && n + 2 < FORGET / 2; i++)
        if (i == r->path.n || r->path.p[i] == '/') {
            struct str part = {r->path.p, i}, folder = {r->path.p, i + (i < r->path.n)};
            if (memchr(part.p, ';', part.n))
                break;
            (*ret)[n++] = forget(r->arena, own, part, NULL);
            if (folder.n > part.n)
                (*ret)[n++] = forget(r->arena, own, folder, NULL);
        }
    host = str_cut(host, ':', &(struct str){0});
    while (host.n > 0 && memchr(host.p, '.', host.n) && n < FORGET) {
        (*ret)[n++] = forget(r->arena, own, STR("/"), arena_strz(r->arena, host));
        str_cut(host, '.', &host);
    }
    return n;
}
