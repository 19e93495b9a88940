#include "net/conn.h"

#include "net/server.h"
#include "net/tls.h"

#include <errno.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#define IN_MAX       (64 * 1024)       /* unread input kept per connection */
#define TURN         (4 * 1024 * 1024) /* bytes of a file sent before others get their turn */
#define CORK_MAX     (64 * 1024)
#define LINGER_MS    2000 /* without a byte */
#define LINGER_BYTES (64 * 1024 * 1024)
#define READ_ROUNDS  4

static void on_event(uv_poll_t *h, int status, int events);

/* --- plain transport --- */

static ssize_t plain_read(struct conn *c, char *p, size_t n)
{
    return recv(c->fd, p, n, 0);
}

static ssize_t plain_write(struct conn *c, const struct iovec *iov, int count, bool more)
{
    int flags = MSG_NOSIGNAL | (more ? MSG_MORE : 0);
    if (count == 1)
        return send(c->fd, iov[0].iov_base, iov[0].iov_len, flags);
    struct msghdr m = {.msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)count};
    return sendmsg(c->fd, &m, flags);
}

static ssize_t plain_file(struct conn *c, int fd, uint64_t offset, uint64_t length)
{
    off_t at = (off_t)offset;
    ssize_t n = sendfile(c->fd, fd, &at, length > TURN ? TURN : (size_t)length);
    if (n == 0)
        errno = EIO; /* the file became shorter than was promised */
    return n ? n : -1;
}

static void plain_shutdown(struct conn *c)
{
    shutdown(c->fd, SHUT_WR);
}

static const struct conn_transport plain_transport = {plain_read, plain_write, plain_file, plain_shutdown};

/* --- events asked for --- */

static void update_mask(struct conn *c)
{
    if (c->closing || c->failed)
        return;
    bool waits = conn_pending(c) > 0 || c->connecting || c->read_wants_write;
    bool reads = (c->reading && !c->eof && c->in.n < IN_MAX) || c->write_wants_read;
    uint8_t mask = (uint8_t)((reads ? UV_READABLE : 0) | (waits ? UV_WRITABLE : 0));
    if (!reads && c->ev->hangup && !c->eof && !c->hung)
        mask |= UV_DISCONNECT; /* or the loop would not notice that the peer has left */
    if (mask == c->mask)
        return;
    c->mask = mask;
    if (mask)
        uv_poll_start(&c->poll, mask, on_event);
    else
        uv_poll_stop(&c->poll);
}

/* --- life --- */

struct conn *conn_new(struct loop *l, int fd, SSL *ssl, const struct conn_events *ev, void *proto)
{
    struct conn *c = base_zalloc(sizeof *c);
    c->loop = l;
    c->fd = fd;
    c->file_fd = -1;
    c->ssl = ssl;
    c->via = ssl ? &tls_transport : &plain_transport;
    c->ev = ev;
    c->proto = proto;
    if (ssl)
        SSL_set_fd(ssl, fd);
    uv_poll_init(&l->uv, &c->poll, fd);
    c->poll.data = c;
    c->next = l->conns;
    if (c->next)
        c->next->prev = c;
    l->conns = c;
    l->conn_count++;
    loop_tick_start(l);
    return c;
}

void conn_watch_connect(struct conn *c)
{
    c->connecting = true;
    update_mask(c);
}

static void free_if_unused(struct conn *c)
{
    if (!c->unwatched || c->queued)
        return;
    buf_release(&c->in);
    buf_release(&c->out);
    free(c->remains);
    c->loop->conn_count--;
    free(c);
}

static void on_closed(uv_handle_t *h)
{
    struct conn *c = h->data;
    c->unwatched = true;
    free_if_unused(c);
}

void conn_close(struct conn *c)
{
    if (c->closing)
        return;
    c->closing = true;
    struct loop *l = c->loop;
    if (l->corked == c) {
        l->corked = NULL;
        buf_clear(&l->cork);
    }
    *(c->prev ? &c->prev->next : &l->conns) = c->next;
    if (c->next)
        c->next->prev = c->prev;
    if (c->server_side)
        atomic_fetch_sub(&l->server->connections, 1);
    conn_drop(c, c->kept);
    SSL_free(c->ssl);
    c->ssl = NULL;
    /* The handle first: it takes the descriptor out of the loop, which must not happen to the next owner of
     * the number. */
    uv_close((uv_handle_t *)&c->poll, on_closed);
    close(c->fd);
}

/* --- memory --- */

void conn_keep(struct conn *c, size_t n)
{
    if (c->closing)
        return;
    c->kept += n;
    atomic_fetch_add(&c->loop->server->kept, n);
}

void conn_drop(struct conn *c, size_t n)
{
    n = n < c->kept ? n : c->kept; /* all of it was when it closed */
    c->kept -= n;
    atomic_fetch_sub(&c->loop->server->kept, n);
}

bool conn_over_share(const struct conn *c)
{
    struct http_server *s = c->loop->server;
    unsigned n = atomic_load(&s->connections);
    return atomic_load(&s->kept) > s->limits.max_kept && c->kept > s->limits.max_kept / (n ? n : 1);
}

static void read_some(struct conn *c);

/* `flushed` is due when something had to wait, though it may have been for no longer than one call. */
static void tell_flushed(struct conn *c)
{
    if (!c->waited || conn_pending(c) || c->closing || c->failed)
        return;
    c->waited = false;
    c->ev->flushed(c);
}

static void run_later(struct task *t)
{
    struct conn *c = container_of(t, struct conn, later);
    c->queued = false;
    if (c->closing) {
        free_if_unused(c);
    } else if (c->failed) {
        c->ev->closed(c);
        conn_close(c);
    } else {
        tell_flushed(c);
        if (!c->closing && !c->failed)
            read_some(c);
        update_mask(c);
    }
}

static void queue_later(struct conn *c)
{
    if (c->queued)
        return;
    c->queued = true;
    c->later.run = run_later;
    loop_post(c->loop, &c->later);
}

void conn_fail(struct conn *c)
{
    if (c->failed || c->closing)
        return;
    c->failed = true;
    c->reading = false;
    c->mask = 0;
    uv_poll_stop(&c->poll);
    queue_later(c);
}

/* --- lingering close --- */

static size_t linger_data(struct conn *c, const char *p, size_t n)
{
    (void)p;
    c->lingered += n;
    if (c->lingered > LINGER_BYTES)
        conn_fail(c);
    if (c->shut)
        conn_deadline(c, LINGER_MS);
    return n;
}

static void linger_eof(struct conn *c)
{
    if (c->shut)
        conn_fail(c);
}

static void linger_nothing(struct conn *c)
{
    (void)c;
}

static const struct conn_events linger_events = {
    .data = linger_data,
    .eof = linger_eof,
    .flushed = linger_nothing,
    .closed = linger_nothing,
    .timeout = conn_fail,
};

static void shut_if_flushed(struct conn *c)
{
    if (!c->lingering || c->shut || c->failed || c->closing || conn_pending(c) || c->loop->corked == c)
        return;
    c->shut = true;
    c->via->shutdown(c);
    if (c->eof)
        conn_fail(c);
    else
        conn_deadline(c, LINGER_MS);
}

void conn_linger(struct conn *c)
{
    if (c->lingering || c->closing)
        return;
    c->lingering = true;
    c->ev = &linger_events;
    c->proto = NULL;
    c->deadline = 0;
    buf_clear(&c->in);
    conn_read_start(c);
    shut_if_flushed(c);
}

/* --- reading --- */

static void give(struct conn *c, const char *p, size_t n, size_t *ret_used)
{
    c->delivering = true;
    bool corked = conn_cork(c);
    size_t used = 0;
    do {
        c->again = false;
        used += c->ev->data(c, p + used, n - used);
    } while (used < n && c->again && !c->closing && !c->failed);
    c->delivering = false;
    if (corked)
        conn_uncork(c);
    *ret_used = used;
}

static void deliver(struct conn *c, const char *p, size_t n)
{
    size_t used;
    if (!c->in.n) {
        give(c, p, n, &used);
        if (used < n && !c->closing)
            buf_add(&c->in, p + used, n - used);
        return;
    }
    if (n)
        buf_add(&c->in, p, n);
    /* The protocol may not append to c->in, so the memory stays where it is. */
    give(c, c->in.p, c->in.n, &used);
    if (c->closing)
        return;
    buf_consume(&c->in, used < c->in.n ? used : c->in.n);
    if (!c->in.n)
        buf_release(&c->in);
}

/* More may wait inside TLS, of which the poll handle knows nothing. */
static void read_buffered(struct conn *c)
{
    if (c->ssl && c->reading && !c->closing && !c->failed && SSL_has_pending(c->ssl))
        queue_later(c);
}

static void read_some(struct conn *c)
{
    for (int round = 0; round < READ_ROUNDS; round++) {
        if (c->closing || c->failed || c->eof || !c->reading || c->in.n >= IN_MAX)
            return;
        c->read_wants_write = false;
        ssize_t n = c->via->read(c, c->loop->scratch, LOOP_SCRATCH);
        if (n > 0) {
            deliver(c, c->loop->scratch, (size_t)n);
            if (!c->ssl && n < LOOP_SCRATCH)
                return;
            continue;
        }
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n < 0) {
            conn_fail(c);
            return;
        }
        c->eof = true;
        c->ev->eof(c);
        return;
    }
    read_buffered(c);
}

void conn_read_start(struct conn *c)
{
    if (c->reading)
        return;
    c->reading = true;
    update_mask(c);
    read_buffered(c);
}

void conn_read_stop(struct conn *c)
{
    c->reading = false; /* the mask follows when an event comes */
}

void conn_kick(struct conn *c)
{
    if (c->closing || c->failed)
        return;
    if (c->delivering) {
        c->again = true;
        return;
    }
    if (c->in.n)
        deliver(c, NULL, 0);
    update_mask(c);
    read_buffered(c);
}

/* --- writing --- */

uint64_t conn_pending(const struct conn *c)
{
    return c->out.n - c->out_at + c->ref.n + c->file_left;
}

static void advance(struct conn *c, size_t n)
{
    size_t bytes = c->out.n - c->out_at;
    if (n < bytes) {
        c->out_at += n;
        return;
    }
    n -= bytes;
    buf_release(&c->out);
    c->out_at = 0;
    c->ref.p = c->ref.p ? c->ref.p + n : NULL;
    c->ref.n -= n;
}

/* false: the socket takes no more now (or the connection failed). */
static bool send_memory(struct conn *c)
{
    while (c->out.n > c->out_at || c->ref.n) {
        struct iovec iov[2];
        int count = 0;
        if (c->out.n > c->out_at)
            iov[count++] = (struct iovec){c->out.p + c->out_at, c->out.n - c->out_at};
        if (c->ref.n)
            iov[count++] = (struct iovec){(void *)c->ref.p, c->ref.n};
        ssize_t n = c->via->write(c, iov, count, c->file_left > 0);
        if (n < 0) {
            if (errno == EINTR)
                continue;
            if (errno != EAGAIN)
                conn_fail(c);
            return false;
        }
        advance(c, (size_t)n);
    }
    return true;
}

static void send_file(struct conn *c)
{
    uint64_t budget = TURN;
    while (c->file_left && budget) {
        ssize_t n = c->via->file(c, c->file_fd, c->file_at, c->file_left);
        if (n < 0) {
            if (errno == EINTR)
                continue;
            if (errno != EAGAIN)
                conn_fail(c);
            return;
        }
        c->file_at += (uint64_t)n;
        c->file_left -= (uint64_t)n;
        budget -= (uint64_t)n < budget ? (uint64_t)n : budget;
    }
}

static void flush(struct conn *c)
{
    if (c->closing || c->failed || c->connecting)
        return;
    uint64_t before = conn_pending(c);
    c->write_wants_read = false;
    if (send_memory(c) && c->file_left)
        send_file(c);
    uint64_t after = conn_pending(c);
    if (!after)
        c->write_deadline = 0;
    else if (after != before || !c->write_deadline)
        c->write_deadline = uv_now(&c->loop->uv) + c->loop->server->limits.write_timeout_ms;
    shut_if_flushed(c);
    c->waited |= after > 0;
    if (c->waited && !after && !c->in_event)
        queue_later(c);
}

bool conn_cork(struct conn *c)
{
    if (c->loop->corked || c->closing)
        return false;
    c->loop->corked = c;
    return true;
}

/* Sends the corked bytes (and the borrowed piece); what stays is kept in out. */
static void send_cork(struct conn *c)
{
    struct buf *cork = &c->loop->cork;
    if (c->out.n > c->out_at || c->connecting || c->failed || c->closing) {
        if (!c->closing)
            buf_add(&c->out, cork->p, cork->n);
        c->waited = true;
        buf_clear(cork);
        return;
    }
    struct iovec iov[2] = {{cork->p, cork->n}, {(void *)c->ref.p, c->ref.n}};
    ssize_t n = 0;
    if (cork->n)
        n = c->via->write(c, iov, c->ref.n ? 2 : 1, c->file_left > 0);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        conn_fail(c);
    size_t sent = n < 0 ? 0 : (size_t)n;
    size_t of_cork = sent < cork->n ? sent : cork->n;
    if (of_cork < cork->n) {
        buf_add(&c->out, cork->p + of_cork, cork->n - of_cork);
        c->waited = true;
    }
    buf_clear(cork);
    if (sent > of_cork) {
        c->ref.p += sent - of_cork;
        c->ref.n -= sent - of_cork;
    }
}

void conn_uncork(struct conn *c)
{
    if (c->loop->corked != c)
        return;
    send_cork(c);
    c->loop->corked = NULL;
    flush(c);
    update_mask(c);
}

void conn_write(struct conn *c, const void *p, size_t n)
{
    if (c->closing || c->failed || !n)
        return;
    struct buf *cork = &c->loop->cork;
    if (c->loop->corked == c && !c->ref.n && !c->file_left) {
        if (cork->n + n > CORK_MAX)
            send_cork(c);
        if (cork->n + n <= CORK_MAX) {
            buf_add(cork, p, n);
            return;
        }
    }
    if (conn_pending(c) || c->connecting) {
        buf_add(&c->out, p, n);
    } else {
        struct iovec iov = {(void *)p, n};
        ssize_t sent = c->via->write(c, &iov, 1, false);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            conn_fail(c);
        else if (sent < (ssize_t)n)
            buf_add(&c->out, (const char *)p + (sent > 0 ? sent : 0), n - (size_t)(sent > 0 ? sent : 0));
    }
    c->waited |= conn_pending(c) > 0;
    if (conn_pending(c) && !c->write_deadline)
        c->write_deadline = uv_now(&c->loop->uv) + c->loop->server->limits.write_timeout_ms;
    update_mask(c);
}

void conn_write_later(struct conn *c, struct str s)
{
    buf_str(&c->out, s);
    c->waited = true;
}

void conn_write_ref(struct conn *c, struct str s)
{
    if (c->closing || c->failed || !s.n)
        return;
    if (c->loop->corked == c && c->loop->cork.n + s.n <= CORK_MAX / 4) {
        conn_write(c, s.p, s.n);
        return;
    }
    c->ref = s;
    if (c->loop->corked == c)
        send_cork(c);
    flush(c);
    update_mask(c);
}

void conn_write_file(struct conn *c, int fd, uint64_t offset, uint64_t length)
{
    if (c->closing || c->failed || !length)
        return;
    c->file_fd = fd;
    c->file_at = offset;
    c->file_left = length;
    if (c->loop->corked == c)
        send_cork(c);
    flush(c);
    update_mask(c);
}

/* --- events --- */

static void on_connected(struct conn *c)
{
    int error = 0;
    socklen_t n = sizeof error;
    getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &n);
    c->connecting = false;
    c->ev->connected(c, error);
}

static void on_event(uv_poll_t *h, int status, int events)
{
    struct conn *c = h->data;
    if (c->connecting) {
        on_connected(c);
        if (c->closing || c->failed)
            return;
    }
    if (status < 0) {
        conn_fail(c);
        return;
    }
    if ((events & UV_WRITABLE) || c->write_wants_read) {
        c->in_event = true;
        flush(c);
        c->in_event = false;
        tell_flushed(c);
    }
    if ((events & UV_DISCONNECT) && !c->closing && !c->failed && !c->hung) {
        c->hung = true;
        if (c->ev->hangup)
            c->ev->hangup(c);
    }
    if (((events & UV_READABLE) || c->read_wants_write) && !c->closing && !c->failed)
        read_some(c);
    update_mask(c);
}

void conn_deadline(struct conn *c, unsigned ms)
{
    c->deadline = ms ? uv_now(&c->loop->uv) + ms : 0;
}

void conn_check_time(struct conn *c, uint64_t now)
{
    if (c->closing || c->failed)
        return;
    if (c->write_deadline && now >= c->write_deadline) {
        conn_fail(c);
        return;
    }
    if (!c->deadline || now < c->deadline)
        return;
    c->deadline = 0;
    c->ev->timeout(c);
}
