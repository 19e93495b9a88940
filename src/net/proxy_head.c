#include "net/proxy_head.h"

#include "base/hash.h"
#include "net/cookies.h"

#include <openssl/evp.h>

static bool in_list(struct str name, const struct str *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (name.n == list[i].n && str_ieq(name, list[i]))
            return true;
    return false;
}

/* The Connection header names further headers that end at the next hop. */
static bool named_in(struct str list, struct str name)
{
    while (list.n)
        if (str_ieq(str_trim(str_cut(list, ',', &list)), name))
            return true;
    return false;
}

/* As the headers of static lists: a constant expression, which STR is not. */
#define NAME(text)                                                                                           \
    {                                                                                                        \
        text, sizeof text - 1                                                                                \
    }

static const struct str hop_by_hop[] = {
    NAME("connection"), NAME("keep-alive"), NAME("proxy-connection"),  NAME("te"),
    NAME("trailer"),    NAME("upgrade"),    NAME("transfer-encoding"), NAME("content-length")};
/* Ours to say, whatever the client sent. */
static const struct str replaced[] = {NAME("host"),
                                      NAME("expect"),
                                      NAME("cookie"),
                                      NAME("forwarded"),
                                      NAME("proxy-authorization"),
                                      NAME("x-forwarded-for"),
                                      NAME("x-forwarded-host"),
                                      NAME("x-forwarded-proto"),
                                      NAME("x-forwarded-prefix"),
                                      NAME("x-real-ip")};

bool proxy_wants_upgrade(const struct exchange *x)
{
    return x->connect || (x->upgradable && request_header(&x->pub, "upgrade").n > 0);
}

static void field(struct buf *b, const char *name, struct str value)
{
    buf_z(b, name);
    buf_add(b, ": ", 2);
    buf_str(b, value);
    buf_add(b, "\r\n", 2);
}

/* HTTP/2 clients may split the cookies over several headers; HTTP/1 has one. */
static void cookies(struct buf *b, const struct request *r, const char *without)
{
    bool first = true;
    for (size_t i = 0; i < r->header_count; i++) {
        if (!str_is(r->headers[i].name, "cookie"))
            continue;
        struct str rest = r->headers[i].value;
        while (rest.n) {
            struct str value, pair = str_trim(str_cut(rest, ';', &rest));
            struct str name = str_cut(pair, '=', &value);
            if (!pair.n || (without && cookies_are_own(str_trim(name), without)))
                continue;
            buf_z(b, first ? "Cookie: " : "; ");
            buf_str(b, pair);
            first = false;
        }
    }
    if (!first)
        buf_add(b, "\r\n", 2);
}

static bool is_added(const struct proxy_target *t, struct str name)
{
    for (size_t i = 0; i < t->n_add; i++)
        if (str_eq(t->add[i].name, name))
            return true;
    return false;
}

static void added(struct buf *b, const struct proxy_target *t)
{
    for (size_t i = 0; i < t->n_add; i++) {
        if (!t->add[i].value.p)
            continue;
        buf_str(b, t->add[i].name);
        buf_add(b, ": ", 2);
        buf_str(b, t->add[i].value);
        buf_add(b, "\r\n", 2);
    }
}

static void passed_on(struct buf *b, const struct request *r, const struct proxy_target *t)
{
    struct str connection = request_header(r, "connection");
    for (size_t i = 0; i < r->header_count; i++) {
        struct str name = r->headers[i].name;
        if (in_list(name, hop_by_hop, countof(hop_by_hop)) || in_list(name, replaced, countof(replaced)))
            continue;
        if (named_in(connection, name) || is_added(t, name) ||
            (t->strip_auth && str_is(name, "authorization")) ||
            (t->plain_frames && str_is(name, "sec-websocket-extensions")))
            continue;
        buf_str(b, name);
        buf_add(b, ": ", 2);
        buf_str(b, r->headers[i].value);
        buf_add(b, "\r\n", 2);
    }
}

static void framing(struct buf *b, const struct exchange *x)
{
    const struct request *r = &x->pub;
    bool usual = str_is(r->method, "POST") || str_is(r->method, "PUT") || str_is(r->method, "PATCH");
    if (r->content_length < 0)
        buf_z(b, "Transfer-Encoding: chunked\r\n");
    else if (r->content_length > 0 || usual)
        buf_printf(b, "Content-Length: %lld\r\n", (long long)r->content_length);
    if (!proxy_wants_upgrade(x))
        return;
    buf_z(b, "Connection: Upgrade\r\n");
    if (!x->connect) {
        field(b, "Upgrade", request_header(r, "upgrade"));
        return;
    }
    /* RFC 8441 has no key; HTTP/1.1 must have one. */
    uint8_t raw[16], key[32];
    random_bytes(raw, sizeof raw);
    EVP_EncodeBlock(key, raw, sizeof raw);
    field(b, "Upgrade", STR("websocket"));
    field(b, "Sec-WebSocket-Key", str_of((const char *)key));
}

void proxy_request_head(struct buf *b, struct exchange *x, const struct proxy_target *t)
{
    const struct request *r = &x->pub;
    buf_str(b, r->method);
    buf_char(b, ' ');
    buf_str(b, t->path ? str_of(t->path) : r->path);
    if (r->query.n) {
        buf_char(b, '?');
        buf_str(b, r->query);
    }
    buf_z(b, " HTTP/1.1\r\n");
    struct str host = t->host_header ? str_of(t->host_header) : r->host;
    field(b, "Host", host.n ? host : STR("localhost"));
    passed_on(b, r, t);
    added(b, t);
    if (!t->no_cookies)
        cookies(b, r, t->strip_cookie);
    field(b, "X-Forwarded-For", str_of(r->peer));
    field(b, "X-Forwarded-Proto", r->tls ? STR("https") : STR("http"));
    if (r->host.n)
        field(b, "X-Forwarded-Host", r->host);
    if (t->forwarded_prefix)
        field(b, "X-Forwarded-Prefix", str_of(t->forwarded_prefix));
    framing(b, x);
    buf_add(b, "\r\n", 2);
}

bool proxy_drops_answer_header(struct str name, struct str connection, bool upgrade)
{
    static const struct str ours[] = {NAME("date"), NAME("alt-svc"), NAME("proxy-authenticate")};
    if (upgrade && (str_ieq(name, STR("upgrade")) || str_ieq(name, STR("connection"))))
        return false;
    return in_list(name, hop_by_hop, countof(hop_by_hop)) || in_list(name, ours, countof(ours)) ||
           named_in(connection, name);
}

bool proxy_guards_answer_header(struct str name, struct str value, const struct proxy_target *t)
{
    static const struct str site_wide[] = {NAME("clear-site-data"),
                                           NAME("strict-transport-security"),
                                           NAME("service-worker-allowed"),
                                           NAME("public-key-pins"),
                                           NAME("nel"),
                                           NAME("report-to")};
    if (in_list(name, site_wide, countof(site_wide)))
        return true;
    return t->strip_cookie && str_ieq(name, STR("set-cookie")) &&
           cookies_are_own(str_trim(value), t->strip_cookie);
}
