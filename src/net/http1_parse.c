#include "net/http1_parse.h"

#define FIRST_HEADERS 24
#define MAX_TRAILING  (16 * 1024)

static int refuse(struct http1_parser *p, int status, const char *detail)
{
    if (!p->status) {
        p->status = status;
        p->detail = detail;
    }
    return HPE_USER;
}

static struct http1_parser *parser_of(llhttp_t *ll)
{
    return container_of(ll, struct http1_parser, ll);
}

static void append(struct http1_parser *p, struct str *s, const char *at, size_t n)
{
    char *to = s->n ? arena_grow(p->r->arena, (void *)s->p, s->n, s->n + n) : arena_alloc(p->r->arena, n + 1);
    memcpy(to + s->n, at, n);
    s->p = to;
    s->n += n;
}

/* --- rules that HTTP/2 shares --- */

struct str http_known_method(struct str name)
{
    static const struct str known[] = {
        {"GET", 3}, {"HEAD", 4}, {"POST", 4}, {"PUT", 3}, {"PATCH", 5}, {"DELETE", 6}, {"OPTIONS", 7},
    };
    for (size_t i = 0; i < countof(known); i++)
        if (str_eq(name, known[i]))
            return known[i];
    return STR_NULL;
}

const char *http_split_target(struct str target, struct str *ret_path, struct str *ret_query)
{
    if (!target.n || target.p[0] != '/')
        return "the request target must start with '/'";
    size_t mark = target.n;
    for (size_t i = 0; i < target.n; i++) {
        unsigned char ch = (unsigned char)target.p[i];
        if (ch <= ' ' || ch >= 0x7f)
            return "the request target has a byte that must be percent-encoded";
        if (ch == '#')
            return "the request target has a fragment";
        if (ch == '?' && mark == target.n)
            mark = i;
    }
    *ret_path = (struct str){target.p, mark};
    *ret_query = mark < target.n ? (struct str){target.p + mark + 1, target.n - mark - 1} : STR("");
    return NULL;
}

bool http_host_valid(struct str host)
{
    for (size_t i = 0; i < host.n; i++) {
        unsigned char ch = (unsigned char)host.p[i];
        bool letter = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9');
        if (!letter && !memchr("-._~:[]%", ch, 8))
            return false;
    }
    return host.n > 0 && host.n <= 255;
}

bool http_value_valid(struct str value)
{
    bool ascii = true;
    for (size_t i = 0; i < value.n; i++) {
        unsigned char ch = (unsigned char)value.p[i];
        if ((ch < ' ' && ch != '\t') || ch == 0x7f)
            return false;
        ascii &= ch < 0x80;
    }
    return ascii || utf8_valid(value);
}

/* --- llhttp's callbacks --- */

/* llhttp knows RTSP and ICE too. */
static int on_protocol(llhttp_t *ll, const char *at, size_t n)
{
    struct http1_parser *p = parser_of(ll);
    for (size_t i = 0; i < n; i++, p->protocol_n++)
        if (p->protocol_n >= 4 || at[i] != "HTTP"[p->protocol_n])
            return refuse(p, 400, "the protocol is not HTTP");
    return 0;
}

static int on_url(llhttp_t *ll, const char *at, size_t n)
{
    struct http1_parser *p = parser_of(ll);
    if (p->target.n + n > p->limits->max_target)
        return refuse(p, 414, "the request target is too long");
    append(p, &p->target, at, n);
    return 0;
}

static int trailing(struct http1_parser *p, size_t n)
{
    p->trailing += n + 2;
    if (p->trailing > MAX_TRAILING)
        return refuse(p, 431, "the trailers and chunk extensions are too large");
    return 0;
}

static int on_field(llhttp_t *ll, const char *at, size_t n)
{
    struct http1_parser *p = parser_of(ll);
    if (p->head_done)
        return trailing(p, n);
    size_t from = p->name.n;
    append(p, &p->name, at, n);
    char *name = (char *)p->name.p;
    for (size_t i = from; i < p->name.n; i++)
        if (name[i] >= 'A' && name[i] <= 'Z')
            name[i] |= 0x20;
    return 0;
}

static int on_value(llhttp_t *ll, const char *at, size_t n)
{
    struct http1_parser *p = parser_of(ll);
    if (p->head_done)
        return trailing(p, n);
    append(p, &p->value, at, n);
    return 0;
}

/* The headers whose count or value decides about the framing. */
static int note_special(struct http1_parser *p, struct str name, struct str value)
{
    switch (name.n) {
    case 4:
        if (str_is(name, "host")) {
            p->hosts++;
            p->r->host = value;
        }
        break;
    case 6:
        if (str_is(name, "expect")) {
            if (!str_ieq(value, STR("100-continue")))
                return refuse(p, 417, "the only expectation known is 100-continue");
            p->expect_continue = true;
        }
        break;
    case 14:
        p->lengths += str_is(name, "content-length");
        break;
    case 17:
        if (str_is(name, "transfer-encoding")) {
            p->codings++;
            if (!str_ieq(value, STR("chunked")))
                return refuse(p, 501, "the only transfer coding known is chunked");
        }
        break;
    default:
        break;
    }
    return 0;
}

static int on_value_complete(llhttp_t *ll)
{
    struct http1_parser *p = parser_of(ll);
    if (p->head_done)
        return 0;
    if (p->r->header_count >= p->limits->max_headers)
        return refuse(p, 431, "too many headers");
    if (!http_value_valid(p->value))
        return refuse(p, 400, "a header value has a control character or is not UTF-8");
    if (p->r->header_count == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : FIRST_HEADERS;
        p->headers =
            arena_grow(p->r->arena, p->headers, p->cap * sizeof *p->headers, cap * sizeof *p->headers);
        p->cap = cap;
        p->r->headers = p->headers;
    }
    struct str value = p->value.p ? str_trim(p->value) : STR("");
    p->headers[p->r->header_count++] = (struct header){p->name, value};
    struct str name = p->name;
    p->name = p->value = STR_NULL;
    return note_special(p, name, value);
}

static const char *check_target(struct http1_parser *p)
{
    struct str t = p->target;
    if (str_is(t, "*") && str_is(p->r->method, "OPTIONS")) {
        p->asterisk = true;
        p->r->path = t;
        p->r->query = STR("");
        return NULL;
    }
    size_t scheme = str_starts(t, "http://") ? 7 : str_starts(t, "https://") ? 8 : 0;
    if (scheme) {
        while (scheme < t.n && t.p[scheme] != '/' && t.p[scheme] != '?')
            scheme++;
        t = (struct str){t.p + scheme, t.n - scheme};
        if (!t.n)
            t = STR("/");
    }
    return http_split_target(t, &p->r->path, &p->r->query);
}

static int check_head(struct http1_parser *p)
{
    const llhttp_t *ll = &p->ll;
    if (ll->http_major == 0)
        return refuse(p, 400, "the request line has no version: HTTP/0.9 is not served");
    if (ll->http_major != 1 || ll->http_minor > 1)
        return refuse(p, 505, "the HTTP version is not supported");
    p->r->version = 10 + ll->http_minor;
    p->r->method = http_known_method(str_of(llhttp_method_name(ll->method)));
    if (!p->r->method.p)
        return refuse(p, 501, "the method is not implemented");
    const char *wrong = check_target(p);
    if (wrong)
        return refuse(p, 400, wrong);
    if (p->hosts > 1 || (p->hosts == 0 && p->r->version == 11))
        return refuse(p, 400, p->hosts ? "there is more than one Host header" : "the Host header is missing");
    if (p->hosts && !http_host_valid(p->r->host))
        return refuse(p, 400, "the Host header is not a host name");
    if (p->lengths > 1)
        return refuse(p, 400, "there is more than one Content-Length header");
    if (p->codings && p->lengths)
        return refuse(p, 400, "Content-Length and Transfer-Encoding exclude each other");
    if (p->codings > 1)
        return refuse(p, 400, "there is more than one Transfer-Encoding header");
    if (p->codings && p->r->version == 10)
        return refuse(p, 400, "HTTP/1.0 has no Transfer-Encoding");
    if (ll->content_length > INT64_MAX)
        return refuse(p, 400, "Content-Length is too large");
    return 0;
}

static int on_head(llhttp_t *ll)
{
    struct http1_parser *p = parser_of(ll);
    if (check_head(p) != 0)
        return HPE_USER;
    p->head_done = true;
    p->chunked = p->codings > 0;
    p->r->content_length = p->chunked ? -1 : (int64_t)(p->lengths ? ll->content_length : 0);
    p->keep_alive = llhttp_should_keep_alive(ll);
    p->upgrade = ll->upgrade && p->r->content_length == 0 && p->r->version == 11;
    ll->upgrade = 0; /* the message is read as any other; the answer decides */
    return p->r->content_length == 0 ? 0 : HPE_PAUSED;
}

static int on_body(llhttp_t *ll, const char *at, size_t n)
{
    struct http1_parser *p = parser_of(ll);
    return p->body(p->ctx, (struct str){at, n}) ? 0 : HPE_PAUSED;
}

static int on_extension(llhttp_t *ll, const char *at, size_t n)
{
    (void)at;
    return trailing(parser_of(ll), n);
}

static int on_done(llhttp_t *ll)
{
    parser_of(ll)->done = true;
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_protocol = on_protocol,
    .on_url = on_url,
    .on_header_field = on_field,
    .on_header_value = on_value,
    .on_header_value_complete = on_value_complete,
    .on_headers_complete = on_head,
    .on_body = on_body,
    .on_chunk_extension_name = on_extension,
    .on_chunk_extension_value = on_extension,
    .on_message_complete = on_done,
};

void http1_parser_init(struct http1_parser *p, const struct http_limits *limits,
                       bool (*body)(void *ctx, struct str piece), void *ctx)
{
    memset(p, 0, sizeof *p);
    p->limits = limits;
    p->body = body;
    p->ctx = ctx;
}

void http1_parser_begin(struct http1_parser *p, struct request *r)
{
    const struct http_limits *limits = p->limits;
    bool (*body)(void *, struct str) = p->body;
    void *ctx = p->ctx;
    http1_parser_init(p, limits, body, ctx);
    llhttp_init(&p->ll, HTTP_REQUEST, &settings);
    p->r = r;
    p->started = true;
}

static bool is_token(unsigned char ch)
{
    return ch > ' ' && ch < 0x7f && !strchr("\"(),/:;<=>?@[\\]{}", ch);
}

/* at: the byte that was not expected, or NUL. */
static enum http1_event refused(struct http1_parser *p, llhttp_errno_t e, unsigned char at)
{
    const char *reason = llhttp_get_error_reason(&p->ll);
    switch (e) {
    case HPE_INVALID_METHOD:
        if (is_token(at))
            refuse(p, 501, "the method is not known");
        else
            refuse(p, 400, "this is not HTTP");
        break;
    case HPE_INVALID_VERSION:
        if (reason && strcmp(reason, "Invalid HTTP version") == 0)
            refuse(p, 505, "the HTTP version is not supported");
        else
            refuse(p, 400, "the request line does not end with the version and CR LF");
        break;
    case HPE_PAUSED_H2_UPGRADE:
        refuse(p, 400, "an HTTP/2 preface is only possible at the start of a connection");
        break;
    default:
        refuse(p, 400, reason ? reason : "the request is malformed");
        break;
    }
    return HTTP1_REFUSED;
}

enum http1_event http1_parser_feed(struct http1_parser *p, const char *data, size_t n, size_t *ret_used)
{
    size_t limit = p->limits->max_header;
    bool in_head = !p->head_done;
    if (in_head && n > limit - p->raw)
        n = limit - p->raw;
    llhttp_errno_t e = llhttp_execute(&p->ll, data, n);
    *ret_used = n;
    if (e == HPE_OK) {
        p->raw += in_head ? n : 0;
        if (!p->head_done && p->raw >= limit) {
            refuse(p, 431, "the header is too large");
            return HTTP1_REFUSED;
        }
        return HTTP1_MORE;
    }
    const char *pos = llhttp_get_error_pos(&p->ll);
    if (pos >= data && pos <= data + n)
        *ret_used = (size_t)(pos - data);
    if (e != HPE_PAUSED)
        return refused(p, e, *ret_used < n ? (unsigned char)data[*ret_used] : 0);
    llhttp_resume(&p->ll);
    if (p->done)
        return HTTP1_DONE;
    if (!p->head_told) {
        p->head_told = true;
        return HTTP1_HEAD;
    }
    return HTTP1_PAUSED;
}

int64_t http1_parser_left(const struct http1_parser *p)
{
    if (p->done)
        return 0;
    return p->chunked ? -1 : (int64_t)p->ll.content_length;
}
