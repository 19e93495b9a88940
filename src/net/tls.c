#include "net/tls.h"

#include "base/log.h"

#include <errno.h>
#include <openssl/err.h>
#include <sys/stat.h>

struct file_state {
    struct timespec changed;
    off_t size;
    ino_t inode;
};

struct tls {
    pthread_mutex_t lock;
    SSL_CTX *ctx;
    char *cert_file, *key_file;
    struct file_state cert, key;
    uint64_t looked_at;
};

static struct file_state state_of(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return (struct file_state){0};
    return (struct file_state){st.st_mtim, st.st_size, st.st_ino};
}

static bool same_state(const struct file_state *a, const struct file_state *b)
{
    return a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec &&
           a->size == b->size && a->inode == b->inode;
}

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_n, const unsigned char *in,
                           unsigned in_n, void *arg)
{
    (void)ssl;
    (void)arg;
    static const unsigned char ours[] = "\x02h2\x08http/1.1";
    if (SSL_select_next_proto((unsigned char **)out, out_n, ours, sizeof ours - 1, in, in_n) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    return SSL_TLSEXT_ERR_OK;
}

static bool ssl_error(struct err *err, const char *what, const char *file)
{
    char text[160];
    ERR_error_string_n(ERR_peek_last_error(), text, sizeof text);
    ERR_clear_error();
    return err_set(err, ERR_INVALID, NULL, "%s %s: %s", what, file, text);
}

static SSL_CTX *load(const char *cert_file, const char *key_file, struct err *err)
{
    ERR_clear_error();
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    if (!ctx) {
        ssl_error(err, "TLS cannot start", "");
        return NULL;
    }
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                 SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(ctx, 1);
    SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
    static const unsigned char context[] = "ingot";
    SSL_CTX_set_session_id_context(ctx, context, sizeof context - 1);
    if (SSL_CTX_use_certificate_chain_file(ctx, cert_file) != 1)
        ssl_error(err, "certificate", cert_file);
    else if (SSL_CTX_use_PrivateKey_file(ctx, key_file, SSL_FILETYPE_PEM) != 1)
        ssl_error(err, "private key", key_file);
    else if (SSL_CTX_check_private_key(ctx) != 1)
        ssl_error(err, "the private key does not belong to the certificate:", key_file);
    else
        return ctx;
    SSL_CTX_free(ctx);
    return NULL;
}

struct tls *tls_new(const char *cert_file, const char *key_file, struct err *err)
{
    struct file_state cert = state_of(cert_file), key = state_of(key_file);
    SSL_CTX *ctx = load(cert_file, key_file, err);
    if (!ctx)
        return NULL;
    struct tls *t = base_zalloc(sizeof *t);
    pthread_mutex_init(&t->lock, NULL);
    t->ctx = ctx;
    t->cert_file = base_strdup(cert_file);
    t->key_file = base_strdup(key_file);
    t->cert = cert;
    t->key = key;
    return t;
}

void tls_free(struct tls *t)
{
    if (!t)
        return;
    SSL_CTX_free(t->ctx);
    pthread_mutex_destroy(&t->lock);
    free(t->cert_file);
    free(t->key_file);
    free(t);
}

/* Under the lock. */
static void reload_if_changed(struct tls *t)
{
    uint64_t now = uv_hrtime();
    if (t->looked_at && now - t->looked_at < UINT64_C(1000000000))
        return;
    t->looked_at = now;
    struct file_state cert = state_of(t->cert_file), key = state_of(t->key_file);
    if (same_state(&cert, &t->cert) && same_state(&key, &t->key))
        return;
    t->cert = cert;
    t->key = key;
    struct err err;
    SSL_CTX *ctx = load(t->cert_file, t->key_file, &err);
    if (!ctx) {
        log_warn("the changed certificate is not used: %s", err.message);
        return;
    }
    SSL_CTX_free(t->ctx);
    t->ctx = ctx;
    log_info("certificate %s was loaded again", t->cert_file);
}

SSL *tls_session(struct tls *t)
{
    pthread_mutex_lock(&t->lock);
    reload_if_changed(t);
    SSL *ssl = SSL_new(t->ctx);
    pthread_mutex_unlock(&t->lock);
    if (ssl)
        SSL_set_accept_state(ssl);
    return ssl;
}

/* --- transport --- */

static ssize_t failure(struct conn *c, int result, bool reading)
{
    switch (SSL_get_error(c->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        c->write_wants_read = !reading;
        errno = EAGAIN;
        return -1;
    case SSL_ERROR_WANT_WRITE:
        c->read_wants_write = reading;
        errno = EAGAIN;
        return -1;
    case SSL_ERROR_ZERO_RETURN:
        if (reading)
            return 0;
        break;
    default:
        break;
    }
    ERR_clear_error();
    /* No close_notify may follow on a broken session. */
    SSL_set_quiet_shutdown(c->ssl, 1);
    errno = EPROTO;
    return -1;
}

static ssize_t tls_read(struct conn *c, char *p, size_t n)
{
    ERR_clear_error();
    int got = SSL_read(c->ssl, p, n > INT32_MAX ? INT32_MAX : (int)n);
    return got > 0 ? got : failure(c, got, true);
}

static ssize_t write_piece(struct conn *c, const void *p, size_t n)
{
    ERR_clear_error();
    int sent = SSL_write(c->ssl, p, n > INT32_MAX ? INT32_MAX : (int)n);
    return sent > 0 ? sent : failure(c, sent, false);
}

static ssize_t tls_write(struct conn *c, const struct iovec *iov, int count, bool more)
{
    (void)more;
    ssize_t total = 0;
    for (int i = 0; i < count; i++) {
        if (!iov[i].iov_len)
            continue;
        ssize_t n = write_piece(c, iov[i].iov_base, iov[i].iov_len);
        if (n < 0)
            return total ? total : -1;
        total += n;
        if ((size_t)n < iov[i].iov_len)
            break;
    }
    return total;
}

static ssize_t tls_file(struct conn *c, int fd, uint64_t offset, uint64_t length)
{
    size_t want = length > LOOP_SCRATCH ? LOOP_SCRATCH : (size_t)length;
    ssize_t got = pread(fd, c->loop->scratch2, want, (off_t)offset);
    if (got < (ssize_t)want) {
        errno = got < 0 ? errno : EIO; /* the file became shorter than was promised */
        return -1;
    }
    return write_piece(c, c->loop->scratch2, want);
}

static void tls_shutdown(struct conn *c)
{
    ERR_clear_error();
    SSL_shutdown(c->ssl);
    ERR_clear_error();
    shutdown(c->fd, SHUT_WR);
}

const struct conn_transport tls_transport = {tls_read, tls_write, tls_file, tls_shutdown};
