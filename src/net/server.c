#include "net/server.h"

#include "base/log.h"
#include "net/conn.h"
#include "net/http1.h"
#include "net/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>

#define BACKLOG     1024
#define ACCEPT_TURN 64

static void fill_limits(struct http_limits *m)
{
    static const struct http_limits defaults = {
        .max_header = 32 * 1024,
        .max_headers = 100,
        .max_target = 8 * 1024,
        .header_timeout_ms = 10000,
        .idle_timeout_ms = 75000,
        .body_timeout_ms = 30000,
        .write_timeout_ms = 30000,
        .max_connections = 10000,
        .max_streams = 128,
        .max_kept = (size_t)256 << 20,
        .max_kept_each = (size_t)32 << 20,
    };
#define FILL(f) m->f = m->f ? m->f : defaults.f
    FILL(max_header);
    FILL(max_headers);
    FILL(max_target);
    FILL(header_timeout_ms);
    FILL(idle_timeout_ms);
    FILL(body_timeout_ms);
    FILL(write_timeout_ms);
    FILL(max_connections);
    FILL(max_streams);
    FILL(max_kept);
    FILL(max_kept_each);
#undef FILL
}

/* --- listening --- */

static bool parse_listen(const char *listen, struct sockaddr_storage *ret, socklen_t *ret_n, struct err *err)
{
    char host[256];
    const char *colon = strrchr(listen, ':');
    size_t n = colon ? (size_t)(colon - listen) : 0;
    const char *start = listen;
    if (n >= 2 && listen[0] == '[' && listen[n - 1] == ']') {
        start++;
        n -= 2;
    }
    uint64_t port;
    if (!colon || n >= sizeof host || !str_to_u64(str_of(colon + 1), &port) || port > 65535)
        return err_set(err, ERR_INVALID, "listen", "'%s' is not of the form HOST:PORT", listen);
    memcpy(host, start, n);
    host[n] = '\0';
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV}, *found;
    int code = getaddrinfo(n ? host : NULL, colon + 1, &hints, &found);
    if (code != 0)
        return err_set(err, ERR_INVALID, "listen", "%s: %s", listen, gai_strerror(code));
    memcpy(ret, found->ai_addr, found->ai_addrlen);
    *ret_n = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
}

static int open_socket(const struct sockaddr_storage *at, socklen_t at_n, bool share)
{
    int fd = socket(at->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    int one = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (share)
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
    if (bind(fd, (const struct sockaddr *)at, at_n) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int e = errno;
    close(fd);
    errno = e;
    return -1;
}

static uint16_t *port_of(struct sockaddr_storage *at)
{
    return at->ss_family == AF_INET6 ? &((struct sockaddr_in6 *)at)->sin6_port
                                     : &((struct sockaddr_in *)at)->sin_port;
}

/* All loops listen on one port. A first socket that does not share finds out whether another program has it.
 */
static bool open_all(struct http_server *s, const char *listen, int *fds, struct err *err)
{
    struct sockaddr_storage at = {0};
    socklen_t n;
    if (!parse_listen(listen, &at, &n, err))
        return false;
    if (*port_of(&at)) {
        int probe = open_socket(&at, n, false);
        if (probe < 0)
            return err_errno(err, errno, "cannot listen on %s", listen);
        close(probe);
    }
    for (unsigned i = 0; i < s->loop_count; i++) {
        fds[i] = open_socket(&at, n, true);
        if (fds[i] < 0) {
            int e = errno;
            while (i-- > 0)
                close(fds[i]);
            return err_errno(err, e, "cannot listen on %s", listen);
        }
        if (i == 0)
            getsockname(fds[0], (struct sockaddr *)&at, &n);
    }
    s->port = ntohs(*port_of(&at));
    return true;
}

/* One socket that was handed to us, for all loops: each accepts what it gets hold of. */
static bool share_socket(struct http_server *s, int fd, int *fds, struct err *err)
{
    struct sockaddr_storage at = {0};
    socklen_t n = sizeof at, flag = sizeof(int);
    int listens = 0;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &flag) != 0 || !listens ||
        getsockname(fd, (struct sockaddr *)&at, &n) != 0 ||
        (at.ss_family != AF_INET && at.ss_family != AF_INET6))
        return err_set(err, ERR_INVALID, "socket", "descriptor %d is no listening TCP socket", fd);
    s->port = ntohs(*port_of(&at));
    s->handed = true;
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    for (unsigned i = 0; i < s->loop_count; i++) {
        fds[i] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        if (fds[i] < 0)
            return err_errno(err, errno, "cannot share the socket that was handed over");
    }
    close(fd);
    return true;
}

/* --- accepting --- */

static void peer_text(const struct sockaddr_storage *from, char ret[48])
{
    const void *address = from->ss_family == AF_INET6
                              ? (const void *)&((const struct sockaddr_in6 *)from)->sin6_addr
                              : (const void *)&((const struct sockaddr_in *)from)->sin_addr;
    if (!inet_ntop(from->ss_family, address, ret, 48))
        memcpy(ret, "-", 2);
    if (strncmp(ret, "::ffff:", 7) == 0 && strchr(ret, '.'))
        memmove(ret, ret + 7, strlen(ret + 7) + 1);
}

static void refuse_full(struct http_server *s, int fd)
{
    static const char text[] =
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\n"
        "Content-Length: 97\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"
        "{\"type\":\"about:blank\",\"title\":\"Service Unavailable\",\"status\":503,"
        "\"detail\":\"too many connections\"}";
    if (!s->tls)
        send(fd, text, sizeof text - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(fd);
}

static void take(struct loop *l, int fd, const struct sockaddr_storage *from)
{
    struct http_server *s = l->server;
    if (atomic_fetch_add(&s->connections, 1) >= s->limits.max_connections) {
        atomic_fetch_sub(&s->connections, 1);
        refuse_full(s, fd);
        return;
    }
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    SSL *ssl = s->tls ? tls_session(s->tls) : NULL;
    if (s->tls && !ssl) {
        atomic_fetch_sub(&s->connections, 1);
        close(fd);
        return;
    }
    struct conn *c = conn_new(l, fd, ssl, &http1_events, NULL);
    c->server_side = true;
    peer_text(from, c->peer);
    http1_start(c);
}

bool server_accept(struct loop *l)
{
    for (int i = 0; i < ACCEPT_TURN; i++) {
        if (!l->listening)
            return false;
        struct sockaddr_storage from = {0};
        socklen_t n = sizeof from;
        int fd = accept4(l->listen_fd, (struct sockaddr *)&from, &n, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            take(l, fd, &from);
            continue;
        }
        if (errno == EINTR || errno == ECONNABORTED)
            continue;
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            /* The socket stays readable: wait for the tick instead of spinning. */
            if (!l->accept_paused)
                log_warn("cannot accept a connection: %s", strerror(errno));
            l->accept_paused = true;
            uv_poll_stop(&l->listener);
            loop_tick_start(l);
        }
        return false;
    }
    return true;
}

/* --- life --- */

static unsigned core_count(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > 64 ? 64 : (unsigned)n;
}

struct http_server *http_start(const struct http_options *o, struct err *err)
{
    struct tls *tls = NULL;
    if (!o->cert_file != !o->key_file) {
        err_set(err, ERR_INVALID, "key_file", "TLS needs a certificate file and a key file");
        return NULL;
    }
    if (o->cert_file && !(tls = tls_new(o->cert_file, o->key_file, err)))
        return NULL;
    struct http_server *s = base_zalloc(sizeof *s);
    s->limits = o->limits;
    fill_limits(&s->limits);
    s->handler = o->handler;
    s->ctx = o->ctx;
    s->access_log_fd = o->access_log_fd;
    s->tag = o->tag;
    s->tls = tls;
    s->loop_count = o->threads ? o->threads : core_count();
    auto_free int *fds = base_zalloc(s->loop_count * sizeof *fds);
    if (!(o->socket ? share_socket(s, o->socket, fds, err) : open_all(s, o->listen, fds, err))) {
        tls_free(tls);
        free(s);
        return NULL;
    }
    s->loops = base_zalloc(s->loop_count * sizeof(struct loop *));
    for (unsigned i = 0; i < s->loop_count; i++)
        s->loops[i] = loop_new(s, fds[i]);
    for (unsigned i = 0; i < s->loop_count; i++)
        loop_start(s->loops[i]);
    return s;
}

uint16_t http_port(const struct http_server *s)
{
    return s->port;
}

void http_stop(struct http_server *s, unsigned timeout_ms)
{
    for (unsigned i = 0; i < s->loop_count; i++)
        loop_stop(s->loops[i], timeout_ms);
    for (unsigned i = 0; i < s->loop_count; i++)
        loop_join(s->loops[i]);
    free(s->loops);
    tls_free(s->tls);
    free(s);
}
