#include "core/serve/address.h"

static struct str without_port(struct str host)
{
    struct str port;
    if (host.n && host.p[0] == '[')
        return (struct str){host.p, (size_t)(str_find(host, STR("]")) + 1)};
    return str_cut(host, ':', &port);
}

static struct str without_slash(struct str url)
{
    while (url.n && url.p[url.n - 1] == '/')
        url.n--;
    return url;
}

/* ":8443" of "https://gateway.example:8443", or nothing. */
static struct str port_of(struct str url)
{
    ptrdiff_t scheme = str_find(url, STR("://"));
    struct str rest = {url.p + (scheme < 0 ? 0 : scheme + 3), url.n - (size_t)(scheme < 0 ? 0 : scheme + 3)};
    struct str path, authority = str_cut(rest, '/', &path), name = without_port(authority);
    return (struct str){authority.p + name.n, authority.n - name.n};
}

static const char *base_of(const struct core *core, struct str host, struct arena *a)
{
    struct str name = without_port(host);
    if (core->gateway_url)
        return arena_strz(a, without_slash(str_of(core->gateway_url)));
    if (!name.n)
        name = STR("127.0.0.1");
    return arena_printf(a, "%s://" STR_FMT ":%u", core->tls ? "https" : "http", STR_ARG(name),
                        core->gateway_port);
}

const char *serve_address(const struct core *core, struct str host, const char *project_name,
                          const char *name, const char *own_host, struct arena *a)
{
    const char *base = base_of(core, host, a);
    if (!own_host)
        return arena_printf(a, "%s/%s/%s", base, project_name, name);
    return arena_printf(a, "%s://%s" STR_FMT, str_starts(str_of(base), "https:") ? "https" : "http", own_host,
                        STR_ARG(port_of(str_of(base))));
}
