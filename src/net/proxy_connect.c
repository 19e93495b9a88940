/* Connections of the proxy: to an address, a name, a socket's path, or what the target's owner gives. */
#include "net/proxy_own.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <sys/un.h>

#define CONNECT_MS    10000
#define ADDRESSES_MAX 8 /* of one name, tried in turn */

static void no_way(struct proxy *p, const char *detail)
{
    proxy_failed(p, PROXY_UNREACHABLE, 502, detail);
}

static void use_socket(struct proxy *p, int fd)
{
    p->c = conn_new(p->x->loop, fd, NULL, &proxy_up_events, p);
    conn_write_later(p->c, buf_view(&p->head));
    conn_deadline(p->c, CONNECT_MS);
    conn_watch_connect(p->c);
}

static bool connect_to(struct proxy *p, const struct sockaddr *to, socklen_t n)
{
    int fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int one = 1;
    if (fd >= 0 && to->sa_family != AF_UNIX)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (fd < 0 || (connect(fd, to, n) != 0 && errno != EINPROGRESS)) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    use_socket(p, fd);
    return true;
}

static void connect_only(struct proxy *p, const struct sockaddr *to, socklen_t n)
{
    if (!connect_to(p, to, n))
        no_way(p, "the upstream cannot be reached");
}

/* A name may have several addresses ("localhost" often has ::1 before 127.0.0.1) of which not all are served.
 * False when there is none left. */
bool proxy_connect_next(struct proxy *p)
{
    proxy_drop_upstream(p);
    while (p->tried < p->address_count) {
        const struct address *a = &p->addresses[p->tried++];
        if (connect_to(p, (const struct sockaddr *)&a->to, a->n))
            return true;
    }
    return false;
}

static void connect_unix(struct proxy *p)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t n = strlen(p->t.unix_path);
    if (n >= sizeof to.sun_path) {
        no_way(p, "the upstream's socket path is too long");
        return;
    }
    memcpy(to.sun_path, p->t.unix_path, n);
    connect_only(p, (const struct sockaddr *)&to, sizeof to);
}

static void keep_addresses(struct proxy *p, const struct addrinfo *found)
{
    p->addresses = arena_array(&p->x->arena, struct address, ADDRESSES_MAX);
    p->address_count = p->tried = 0;
    for (; found && p->address_count < ADDRESSES_MAX; found = found->ai_next) {
        struct address *a = &p->addresses[p->address_count++];
        memcpy(&a->to, found->ai_addr, found->ai_addrlen);
        a->n = found->ai_addrlen;
    }
}

static void on_resolved(uv_getaddrinfo_t *q, int status, struct addrinfo *found)
{
    struct proxy *p = q->data;
    struct exchange *x = p->x;
    if (x->proto && !x->answered_for) {
        keep_addresses(p, status == 0 ? found : NULL);
        if (!proxy_connect_next(p))
            no_way(p,
                   status == 0 ? "the upstream cannot be reached" : "the upstream's name cannot be resolved");
    }
    uv_freeaddrinfo(found);
    exchange_unref(x);
}

static void resolve(struct proxy *p)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    if (uv_ip4_addr(p->t.host, p->t.port, &v4) == 0) {
        connect_only(p, (const struct sockaddr *)&v4, sizeof v4);
        return;
    }
    if (uv_ip6_addr(p->t.host, p->t.port, &v6) == 0) {
        connect_only(p, (const struct sockaddr *)&v6, sizeof v6);
        return;
    }
    static const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    p->resolving.data = p;
    p->x->refs++;
    if (uv_getaddrinfo(&p->x->loop->uv, &p->resolving, on_resolved, p->t.host, p->port, &hints) == 0)
        return;
    no_way(p, "the upstream's name cannot be resolved");
    exchange_unref(p->x);
}

static bool reuse_idle(struct proxy *p)
{
    struct conn *c = p->key ? upstream_take(p->x->loop->upstreams, p->key, !proxy_may_repeat(p)) : NULL;
    if (!c)
        return false;
    p->c = c;
    p->reused = true;
    c->ev = &proxy_up_events;
    c->proto = p;
    conn_write(c, p->head.p, p->head.n);
    proxy_connected(p, c);
    return true;
}

void proxy_connect(struct proxy *p, bool may_reuse)
{
    p->connected = false;
    if (may_reuse && reuse_idle(p))
        return;
    p->reused = false;
    if (p->t.connect) {
        int fd = p->t.connect(p->t.ctx);
        p->no_socket = fd < 0;
        if (fd < 0)
            no_way(p, "the upstream cannot be reached");
        else
            use_socket(p, fd);
    } else if (p->t.unix_path) {
        connect_unix(p);
    } else {
        resolve(p);
    }
}
