#include "net/client.h"

#include "base/buf.h"

#include <curl/curl.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>

#define DEFAULT_MAX     (16 * 1024 * 1024)
#define DEFAULT_TIMEOUT 30
#define CONNECT_TIMEOUT 10
#define MAX_HEADERS     (64 * 1024)

struct exchange_state {
    const struct client_request *q;
    CURL *curl;
    struct buf body, headers;
    size_t max;
    int64_t left; /* of body_fd */
    bool too_large, headers_too_large, sink_ended;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t kept; /* each thread's handle, with its open connections */

static void init(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    pthread_key_create(&kept, curl_easy_cleanup);
}

static CURL *handle_of(const struct client_request *q)
{
    CURL *c = q->keep ? pthread_getspecific(kept) : NULL;
    if (c) {
        curl_easy_reset(c);
        return c;
    }
    c = curl_easy_init();
    if (c && q->keep)
        pthread_setspecific(kept, c);
    return c;
}

static bool to_sink(const struct exchange_state *s)
{
    long status = 0;
    if (!s->q->sink || !s->q->sink_success)
        return s->q->sink != NULL;
    curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &status);
    if (s->q->sink_status)
        return status == s->q->sink_status;
    return status >= 200 && status < 300;
}

/* A success, but not the one that the sink is for. */
static bool not_for_sink(const struct exchange_state *s)
{
    long status = 0;
    curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &status);
    return s->q->sink && s->q->sink_success && s->q->sink_status && status != s->q->sink_status &&
           status >= 200 && status < 300;
}

static size_t on_body(char *p, size_t size, size_t count, void *ctx)
{
    struct exchange_state *s = ctx;
    size_t n = size * count;
    if (not_for_sink(s)) { /* the caller does not want it, however slowly it comes */
        s->sink_ended = true;
        return 0;
    }
    if (to_sink(s)) {
        s->sink_ended = !s->q->sink(s->q->sink_ctx, (struct str){p, n});
        return s->sink_ended ? 0 : n;
    }
    if (n > s->max - s->body.n) {
        s->too_large = true;
        return 0;
    }
    buf_add(&s->body, p, n);
    return n;
}

static size_t on_header(char *p, size_t size, size_t count, void *ctx)
{
    struct exchange_state *s = ctx;
    size_t n = size * count;
    if (n >= 5 && memcmp(p, "HTTP/", 5) == 0) { /* a further answer: after 100, a redirect, a challenge */
        buf_clear(&s->headers);
        return n;
    }
    if (n > MAX_HEADERS - s->headers.n) {
        s->headers_too_large = true;
        return 0;
    }
    if (n > 2)
        buf_add(&s->headers, p, n);
    return n;
}

static size_t on_read(char *p, size_t size, size_t count, void *ctx)
{
    struct exchange_state *s = ctx;
    size_t want = size * count;
    if ((int64_t)want > s->left)
        want = (size_t)s->left;
    if (!want)
        return 0;
    ssize_t n;
    do
        n = read(s->q->body_fd, p, want);
    while (n < 0 && errno == EINTR);
    if (n <= 0) /* shorter than promised */
        return CURL_READFUNC_ABORT;
    s->left -= n;
    return (size_t)n;
}

static int on_seek(void *ctx, curl_off_t offset, int origin)
{
    struct exchange_state *s = ctx;
    if (origin != SEEK_SET || offset < 0 || offset > s->q->body_size)
        return CURL_SEEKFUNC_FAIL;
    int64_t done = s->q->body_size - s->left;
    if (lseek(s->q->body_fd, (off_t)(offset - done), SEEK_CUR) < 0)
        return CURL_SEEKFUNC_FAIL;
    s->left = s->q->body_size - offset;
    return CURL_SEEKFUNC_OK;
}

static void set_body(CURL *c, const struct client_request *q, struct exchange_state *s)
{
    /* 0 in a zeroed struct is not meant as standard input. */
    bool from_file = !q->body.p && (q->body_fd > 0 || (q->body_fd == 0 && q->body_size > 0));
    if (from_file) {
        s->left = q->body_size;
        curl_easy_setopt(c, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(c, CURLOPT_READFUNCTION, on_read);
        curl_easy_setopt(c, CURLOPT_READDATA, s);
        curl_easy_setopt(c, CURLOPT_SEEKFUNCTION, on_seek);
        curl_easy_setopt(c, CURLOPT_SEEKDATA, s);
        curl_easy_setopt(c, CURLOPT_INFILESIZE_LARGE, (curl_off_t)q->body_size);
    } else if (q->body.p || strcmp(q->method, "POST") == 0 || strcmp(q->method, "PUT") == 0 ||
               strcmp(q->method, "PATCH") == 0) {
        curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body.n);
        curl_easy_setopt(c, CURLOPT_POSTFIELDS, q->body.p ? q->body.p : "");
    }
    if (strcmp(q->method, "HEAD") == 0)
        curl_easy_setopt(c, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, q->method);
}

static int on_tick(void *ctx, unused_ok curl_off_t in_all, curl_off_t in, unused_ok curl_off_t out_all,
                   curl_off_t out)
{
    const struct client_request *q = ctx;
    return q->tick(q->tick_ctx, out, in) ? 0 : 1;
}

static void set_tick(CURL *c, const struct client_request *q)
{
    if (!q->tick)
        return;
    curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_tick);
    curl_easy_setopt(c, CURLOPT_XFERINFODATA, q);
}

static void set_security(CURL *c, const struct client_request *q)
{
    if (q->insecure) {
        curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (q->ca_file)
        curl_easy_setopt(c, CURLOPT_CAINFO, q->ca_file);
    if (q->user_password)
        curl_easy_setopt(c, CURLOPT_USERPWD, q->user_password);
    if (q->aws_sigv4)
        curl_easy_setopt(c, CURLOPT_AWS_SIGV4, q->aws_sigv4);
}

static struct curl_slist *set_headers(CURL *c, const struct client_request *q)
{
    /* Without Expect curl does not wait a second before a large body. */
    struct curl_slist *list = curl_slist_append(NULL, "Expect:");
    bool typed = false;
    for (size_t i = 0; i < q->header_count; i++) {
        auto_buf struct buf line = {0};
        typed |= strcasecmp(q->headers[i].name, "content-type") == 0;
        buf_printf(&line, "%s%s%s", q->headers[i].name, *q->headers[i].value ? ": " : ";",
                   q->headers[i].value);
        list = curl_slist_append(list, line.p);
    }
    if (!typed)
        list = curl_slist_append(list, "Content-Type:");
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, list);
    return list;
}

static void set_common(CURL *c, const struct client_request *q, struct exchange_state *s, char *reason)
{
    curl_easy_setopt(c, CURLOPT_URL, q->url);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, reason);
    curl_easy_setopt(c, CURLOPT_USERAGENT, "ingot/" INGOT_VERSION);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_TIMEOUT);
    unsigned timeout = q->timeout_s ? q->timeout_s : DEFAULT_TIMEOUT;
    if (q->sink || q->patient) { /* long, but not silent */
        curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, (long)timeout);
    } else {
        curl_easy_setopt(c, CURLOPT_TIMEOUT, (long)timeout);
    }
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, s);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, s);
}

static bool failed(CURLcode code, const struct exchange_state *s, const char *reason, struct err *err)
{
    if (s->too_large)
        return err_set(err, ERR_UPSTREAM, NULL, "%s: the answer is larger than %zu bytes", s->q->url, s->max);
    if (s->headers_too_large)
        return err_set(err, ERR_UPSTREAM, NULL, "%s: the answer's header is larger than %d bytes", s->q->url,
                       MAX_HEADERS);
    bool certificate = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE;
    return err_set(err, ERR_UPSTREAM, certificate ? "certificate" : NULL, "%s: %s", s->q->url,
                   *reason ? reason : curl_easy_strerror(code));
}

static void fill(struct arena *a, CURL *c, const struct exchange_state *s, struct client_answer *ret)
{
    long status = 0;
    curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
    ret->status = (int)status;
    ret->body = arena_str(a, buf_view(&s->body));
    ret->raw_headers = arena_str(a, buf_view(&s->headers));
    ret->content_type = client_header_value(ret, "content-type");
    ret->location = client_header_value(ret, "location");
    ret->etag = client_header_value(ret, "etag");
}

bool client_do(struct arena *a, const struct client_request *q, struct client_answer *ret, struct err *err)
{
    pthread_once(&once, init);
    CURL *c = handle_of(q);
    if (!c)
        return err_set(err, ERR_UPSTREAM, NULL, "%s: no memory for a connection", q->url);
    char reason[CURL_ERROR_SIZE] = "";
    struct exchange_state s = {.q = q, .curl = c, .max = q->max_answer ? q->max_answer : DEFAULT_MAX};
    set_common(c, q, &s, reason);
    set_body(c, q, &s);
    set_security(c, q);
    set_tick(c, q);
    struct curl_slist *headers = set_headers(c, q);
    CURLcode code = curl_easy_perform(c);
    /* A sink that had enough still gets the answer it saw. */
    bool ok = code == CURLE_OK || (s.sink_ended && code == CURLE_WRITE_ERROR);
    if (ok)
        fill(a, c, &s, ret);
    else
        failed(code, &s, reason, err);
    if (q->keep)
        curl_easy_reset(c); /* it must not remember what ends here */
    curl_slist_free_all(headers);
    if (!q->keep)
        curl_easy_cleanup(c);
    buf_release(&s.body);
    buf_release(&s.headers);
    return ok;
}

struct str client_header_value(const struct client_answer *a, const char *name)
{
    struct str rest = a->raw_headers;
    while (rest.n) {
        struct str value, key = str_cut(str_cut(rest, '\n', &rest), ':', &value);
        if (value.p && str_ieq(str_trim(key), str_of(name)))
            return str_trim(value);
    }
    return STR_NULL;
}
