/* The server the protocol tests talk to: every way to answer is a route. Prints its port, serves until it
 * gets TERM, then stops gracefully and exits with 0.
 *
 *   net_test_server [--tls CERT KEY] [--log FILE] [--file FILE] [--threads N] [--NAME-OF-LIMIT N] [--stop-ms
 * N] */
#include "base/buf.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/pool.h"
#include "base/thread.h"
#include "net/http.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static struct pool *pool;
static const char *file_path;
static struct http_server *server;

static const struct header text_type = {{"Content-Type", 12}, {"text/plain", 10}};

static void reply(struct request *r, int status, const char *fmt, ...) printf_like(3, 4);

static void reply(struct request *r, int status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *text = arena_vprintf(r->arena, fmt, args);
    va_end(args);
    respond(r, status, &text_type, 1, str_of(text));
}

static size_t number(struct request *r, const char *name, size_t otherwise)
{
    struct str s;
    struct err err;
    uint64_t n;
    return request_param(r, name, &s, &err) && str_to_u64(s, &n) ? (size_t)n : otherwise;
}

/* --- plain answers --- */

static void hello(struct request *r)
{
    respond(r, 200, &text_type, 1, STR("hello\n"));
}

static const char constant[300] = "constant";

static void fixed(struct request *r)
{
    respond_static(r, 200, &text_type, 1, (struct str){constant, sizeof constant});
}

static void large(struct request *r)
{
    size_t n = number(r, "n", 1 << 20);
    char *p = arena_alloc(r->arena, n + 1);
    for (size_t i = 0; i < n; i++)
        p[i] = (char)('a' + i % 26);
    respond(r, 200, &text_type, 1, (struct str){p, n});
}

static void pooled_large(void *arg)
{
    large(arg);
}

static void pool_large(struct request *r)
{
    if (!pool_submit(pool, pooled_large, r))
        reply(r, 503, "full");
}

static void status(struct request *r)
{
    respond(r, (int)number(r, "s", 200), NULL, 0, STR("body"));
}

/* What the server understood, for comparison. */
static void show(struct request *r)
{
    char *text = arena_printf(r->arena,
                              STR_FMT " path=" STR_FMT " query=" STR_FMT " host=" STR_FMT
                                      " version=%d length=%" PRId64 " tls=%d peer=%s\n",
                              STR_ARG(r->method), STR_ARG(r->path), STR_ARG(r->query), STR_ARG(r->host),
                              r->version, r->content_length, r->tls, r->peer);
    auto_buf struct buf b = {0};
    buf_z(&b, text);
    for (size_t i = 0; i < r->header_count; i++)
        buf_printf(&b, STR_FMT ": " STR_FMT "\n", STR_ARG(r->headers[i].name), STR_ARG(r->headers[i].value));
    r->log_user = "tester";
    respond(r, 200, &text_type, 1, buf_view(&b));
}

static void split(struct request *r)
{
    struct header h = {STR("X-Evil"), STR("a\r\nX-Injected: 1")};
    respond(r, 200, &h, 1, STR("ok"));
}

static void on_pool(void *arg)
{
    struct request *r = arg;
    r->log_user = "pooled";
    reply(r, 200, "from a pool thread\n");
}

static void pooled(struct request *r)
{
    if (!pool_submit(pool, on_pool, r))
        reply(r, 503, "full");
}

/* Answers when /release is asked, so that tests decide about the order and not a clock. */
static pthread_mutex_t held_lock = PTHREAD_MUTEX_INITIALIZER;
static struct request *held[64];
static unsigned held_count;

static void hold(struct request *r)
{
    pthread_mutex_lock(&held_lock);
    bool room = held_count < countof(held);
    if (room)
        held[held_count++] = r;
    pthread_mutex_unlock(&held_lock);
    if (!room)
        reply(r, 503, "full");
}

static void release_held(struct request *r)
{
    pthread_mutex_lock(&held_lock);
    unsigned n = held_count;
    held_count = 0;
    struct request *all[countof(held)];
    memcpy(all, held, sizeof all);
    pthread_mutex_unlock(&held_lock);
    for (unsigned i = 0; i < n; i++)
        reply(all[i], 200, "released\n");
    reply(r, 200, "%u\n", n);
}

static void count_held(struct request *r)
{
    pthread_mutex_lock(&held_lock);
    unsigned n = held_count;
    pthread_mutex_unlock(&held_lock);
    reply(r, 200, "%u\n", n);
}

/* --- bodies --- */

static void echo_done(struct request *r, struct str body, bool complete)
{
    if (!complete)
        reply(r, 400, "incomplete");
    else
        respond(r, 200, &text_type, 1, body);
}

static void echo(struct request *r)
{
    request_collect(r, 1 << 20, echo_done);
}

static void echo_later(void *arg)
{
    request_collect(arg, 1 << 20, echo_done);
}

static void pool_echo(struct request *r)
{
    if (!pool_submit(pool, echo_later, r))
        reply(r, 503, "full");
}

struct upload {
    struct sha256 *hash;
    uint64_t n;
    bool slow;
    struct str piece;
    struct request *r;
    unsigned pieces;
};

static void hash_piece(void *arg)
{
    struct upload *u = arg;
    sha256_add(u->hash, u->piece.p, u->piece.n);
    free((void *)u->piece.p);
    request_resume(u->r);
}

static void upload_data(struct request *r, struct str piece)
{
    struct upload *u = r->user;
    u->n += piece.n;
    u->pieces++;
    if (!u->slow) {
        sha256_add(u->hash, piece.p, piece.n);
        return;
    }
    char *copy = base_alloc(piece.n);
    memcpy(copy, piece.p, piece.n);
    u->piece = (struct str){copy, piece.n};
    request_pause(r);
    if (!pool_submit(pool, hash_piece, u))
        abort();
}

static void upload_end(struct request *r, bool complete)
{
    struct upload *u = r->user;
    uint8_t sum[SHA256_SIZE];
    char hex[SHA256_HEX + 1];
    sha256_finish(u->hash, sum);
    hex_encode(sum, sizeof sum, hex);
    reply(r, complete ? 200 : 400, "%" PRIu64 " %s\n", u->n, hex);
}

static void upload(struct request *r)
{
    struct upload *u = arena_new(r->arena, struct upload);
    u->hash = sha256_new();
    u->r = r;
    u->slow = number(r, "slow", 0);
    r->user = u;
    request_stream(r, &(struct body_sink){upload_data, upload_end});
}

static void refuse_early(struct request *r)
{
    reply(r, 403, "not for you\n");
}

/* --- streams --- */

struct writer {
    struct stream *s;
    size_t left;
    size_t at;
};

static void write_more(struct writer *w)
{
    char piece[4096];
    while (w->left) {
        size_t n = w->left < sizeof piece ? w->left : sizeof piece;
        for (size_t i = 0; i < n; i++)
            piece[i] = (char)('a' + (w->at + i) % 26);
        w->at += n;
        w->left -= n;
        bool last = !w->left;
        size_t waiting = stream_write(w->s, (struct str){piece, n});
        if (last)
            stream_end(w->s);
        else if (waiting > 64 * 1024)
            return;
    }
}

static void stream_drained(struct stream *s, void *ctx)
{
    (void)s;
    write_more(ctx);
}

static void stream_closed(struct stream *s, void *ctx)
{
    (void)s;
    free(ctx);
}

static void stream(struct request *r)
{
    static const struct stream_events ev = {stream_drained, stream_closed};
    struct writer *w = base_zalloc(sizeof *w);
    w->left = number(r, "n", 100000);
    bool empty = !w->left;
    w->s = respond_stream(r, 200, &text_type, 1, &ev, w);
    if (empty)
        stream_end(w->s);
    else
        write_more(w);
}

/* Server-sent events: open until the client leaves; /sse-open counts them. */
static atomic_int open_streams;

static void sse_closed(struct stream *s, void *ctx)
{
    (void)s;
    (void)ctx;
    atomic_fetch_sub(&open_streams, 1);
}

static void sse(struct request *r)
{
    static const struct stream_events ev = {NULL, sse_closed};
    static const struct header type = {{"Content-Type", 12}, {"text/event-stream", 17}};
    atomic_fetch_add(&open_streams, 1);
    struct stream *s = respond_stream(r, 200, &type, 1, &ev, NULL);
    stream_write(s, STR("data: first\n\n"));
}

static void sse_open(struct request *r)
{
    reply(r, 200, "%d\n", atomic_load(&open_streams));
}

/* --- files --- */

static void file(struct request *r)
{
    int fd = open(file_path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        reply(r, 404, "no file");
        return;
    }
    size_t from = number(r, "from", 0), n = number(r, "n", (size_t)st.st_size - from);
    respond_file(r, n == (size_t)st.st_size ? 200 : 206, &text_type, 1, fd, from, n);
}

static void file_on_pool(void *arg)
{
    file(arg);
}

static void pool_file(struct request *r)
{
    if (!pool_submit(pool, file_on_pool, r))
        reply(r, 503, "full");
}

/* --- sockets --- */

static atomic_int open_sockets;

static void ws_message(struct ws *w, bool text, struct str data, void *ctx)
{
    (void)ctx;
    int64_t code;
    if (text && str_starts(data, "close ") && str_to_i64((struct str){data.p + 6, data.n - 6}, &code))
        ws_close(w, (int)code, "as you wish");
    else
        ws_send(w, text, data);
}

static void ws_closed(struct ws *w, int code, void *ctx)
{
    (void)w;
    (void)ctx;
    log_info("ws closed %d", code);
    atomic_fetch_sub(&open_sockets, 1);
}

static const struct ws_events ws_ev = {ws_message, NULL, ws_closed};

static void ws_echo(struct request *r)
{
    struct str offered = request_header(r, "sec-websocket-protocol");
    struct ws_options o = {.max_message = number(r, "max", 0), .protocol = offered.n ? "chat" : NULL};
    atomic_fetch_add(&open_sockets, 1);
    if (!respond_ws(r, &o, &ws_ev, NULL))
        atomic_fetch_sub(&open_sockets, 1);
}

static void ws_open(struct request *r)
{
    reply(r, 200, "%d\n", atomic_load(&open_sockets));
}

/* Sends from a pool thread until the count is reached, slowed down by what waits. */
struct burst {
    struct ws *w;
    pthread_mutex_t lock;
    size_t sent, total;
    bool gone, busy;
    unsigned refs;
};

static void burst_unref(struct burst *b)
{
    pthread_mutex_lock(&b->lock);
    bool last = --b->refs == 0;
    pthread_mutex_unlock(&b->lock);
    if (last)
        free(b);
}

static void burst_run(void *arg)
{
    struct burst *b = arg;
    pthread_mutex_lock(&b->lock);
    while (!b->gone && b->sent < b->total) {
        char text[32];
        int n = snprintf(text, sizeof text, "message %zu", b->sent++);
        if (ws_send(b->w, true, (struct str){text, (size_t)n}) > 100000)
            break;
    }
    if (!b->gone && b->sent == b->total)
        ws_close(b->w, 1000, "done");
    b->busy = false;
    pthread_mutex_unlock(&b->lock);
    burst_unref(b);
}

static void burst_go(struct burst *b)
{
    pthread_mutex_lock(&b->lock);
    bool go = !b->busy && b->sent < b->total;
    b->busy |= go;
    b->refs += go;
    pthread_mutex_unlock(&b->lock);
    if (go && !pool_submit(pool, burst_run, b))
        abort();
}

static void burst_drained(struct ws *w, void *ctx)
{
    (void)w;
    burst_go(ctx);
}

static void burst_message(struct ws *w, bool text, struct str data, void *ctx)
{
    (void)w;
    (void)text;
    (void)data;
    burst_go(ctx);
}

static void burst_closed(struct ws *w, int code, void *ctx)
{
    (void)w;
    (void)code;
    struct burst *b = ctx;
    pthread_mutex_lock(&b->lock);
    b->gone = true;
    pthread_mutex_unlock(&b->lock);
    burst_unref(b);
}

static void ws_burst(struct request *r)
{
    static const struct ws_events ev = {burst_message, burst_drained, burst_closed};
    struct burst *b = base_zalloc(sizeof *b);
    pthread_mutex_init(&b->lock, NULL);
    b->total = number(r, "n", 1000);
    b->refs = 1;
    pthread_mutex_lock(&b->lock); /* messages may come before w is set */
    b->w = respond_ws(r, NULL, &ev, b);
    bool opened = b->w;
    pthread_mutex_unlock(&b->lock);
    if (!opened)
        free(b);
}

/* --- proxy: /p/HOW/rest asks the upstream for /rest --- */

static const char *upstream_unix;
static unsigned upstream_port;

static int connect_upstream(void *ctx)
{
    (void)ctx;
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)upstream_port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof to) != 0 && errno != EINPROGRESS) {
        close(fd);
        return -1;
    }
    return fd;
}

static void proxy_now(struct request *r, const char *how, const char *path)
{
    struct proxy_target t = {
        .path = path, .strip_auth = true, .strip_cookie = "secret", .forwarded_prefix = "/p"};
    if (strcmp(how, "unix") == 0) {
        t.unix_path = upstream_unix;
    } else if (strcmp(how, "connect") == 0) {
        t.connect = connect_upstream;
    } else if (strcmp(how, "nowhere") == 0) {
        t.host = "127.0.0.1";
        t.port = 1;
    } else {
        t.host = strcmp(how, "name") == 0     ? "localhost"
                 : strcmp(how, "noname") == 0 ? "no.such.invalid"
                                              : "127.0.0.1";
        t.port = (uint16_t)upstream_port;
        t.host_header = strcmp(how, "name") == 0 ? "given.example" : NULL;
    }
    respond_proxy(r, &t);
}

struct proxy_job {
    struct request *r;
    const char *path;
};

static void proxy_on_pool(void *arg)
{
    struct proxy_job *j = arg;
    proxy_now(j->r, "tcp", j->path);
}

static void proxy(struct request *r)
{
    struct str rest, how = str_cut((struct str){r->path.p + 3, r->path.n - 3}, '/', &rest);
    const char *path = arena_printf(r->arena, "/" STR_FMT, STR_ARG(rest));
    if (!str_is(how, "pool")) {
        proxy_now(r, arena_strz(r->arena, how), path);
        return;
    }
    struct proxy_job *j = arena_new(r->arena, struct proxy_job);
    *j = (struct proxy_job){r, path};
    if (!pool_submit(pool, proxy_on_pool, j))
        reply(r, 503, "full");
}

/* --- routes --- */

static const struct {
    const char *path;
    void (*fn)(struct request *r);
} routes[] = {
    {"/hello", hello},
    {"/fixed", fixed},
    {"/large", large},
    {"/pool-large", pool_large},
    {"/status", status},
    {"/show", show},
    {"/split", split},
    {"/pool", pooled},
    {"/hold", hold},
    {"/release", release_held},
    {"/held", count_held},
    {"/echo", echo},
    {"/pool-echo", pool_echo},
    {"/upload", upload},
    {"/refuse", refuse_early},
    {"/stream", stream},
    {"/sse", sse},
    {"/sse-open", sse_open},
    {"/file", file},
    {"/pool-file", pool_file},
    {"/ws", ws_echo},
    {"/ws-open", ws_open},
    {"/ws-burst", ws_burst},
};

static void handle(struct request *r, void *ctx)
{
    (void)ctx;
    for (size_t i = 0; i < countof(routes); i++) {
        if (str_is(r->path, routes[i].path)) {
            routes[i].fn(r);
            return;
        }
    }
    if (str_starts(r->path, "/p/"))
        proxy(r);
    else
        reply(r, 404, "no such route\n");
}

static bool set_limit(struct http_limits *m, const char *name, unsigned long n)
{
#define LIMIT(f)                                                                                             \
    if (strcmp(name, "--" #f) == 0) {                                                                        \
        m->f = n;                                                                                            \
        return true;                                                                                         \
    }
    LIMIT(max_header)
    LIMIT(max_headers)
    LIMIT(max_target)
    LIMIT(header_timeout_ms)
    LIMIT(idle_timeout_ms)
    LIMIT(body_timeout_ms)
    LIMIT(write_timeout_ms)
    LIMIT(max_connections)
    LIMIT(max_streams)
    LIMIT(max_kept)
    LIMIT(max_kept_each)
#undef LIMIT
    return false;
}

static unsigned stop_ms = 10000;

static void parse_args(int argc, char **argv, struct http_options *o)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (strcmp(name, "--cert") == 0)
            o->cert_file = value;
        else if (strcmp(name, "--key") == 0)
            o->key_file = value;
        else if (strcmp(name, "--log") == 0)
            o->access_log_fd = open(value, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        else if (strcmp(name, "--file") == 0)
            file_path = value;
        else if (strcmp(name, "--upstream") == 0)
            upstream_port = (unsigned)atoi(value);
        else if (strcmp(name, "--upstream-unix") == 0)
            upstream_unix = value;
        else if (strcmp(name, "--listen") == 0)
            o->listen = value;
        else if (strcmp(name, "--threads") == 0)
            o->threads = (unsigned)atoi(value);
        else if (strcmp(name, "--stop-ms") == 0)
            stop_ms = (unsigned)atoi(value);
        else if (!set_limit(&o->limits, name, strtoul(value, NULL, 10))) {
            fprintf(stderr, "unknown option %s\n", name);
            exit(2);
        }
    }
}

int main(int argc, char **argv)
{
    struct http_options o = {.listen = "127.0.0.1:0", .threads = 2, .handler = handle, .access_log_fd = -1};
    parse_args(argc, argv, &o);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    pool = pool_new("test", 4, 1024);
    struct err err;
    server = http_start(&o, &err);
    if (!server) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    printf("%u\n", http_port(server));
    fflush(stdout);
    int got;
    sigwait(&set, &got);
    http_stop(server, stop_ms);
    pool_free(pool);
    return 0;
}
