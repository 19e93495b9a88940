#include "net/accesslog.h"

#include "net/date.h"
#include "net/server.h"

#include <errno.h>
#include <stdio.h>

#define FLUSH_AT (32 * 1024)

/* A word without blanks, control characters or quotes, so that the line can be split at blanks. */
static void add_word(struct buf *b, struct str s)
{
    if (!s.n) {
        buf_char(b, '-');
        return;
    }
    for (size_t i = 0; i < s.n; i++) {
        unsigned char ch = (unsigned char)s.p[i];
        if (ch > ' ' && ch != '"' && ch != '\\' && ch < 0x7f)
            continue;
        for (size_t j = 0; j < s.n; j++) {
            ch = (unsigned char)s.p[j];
            if (ch > ' ' && ch != '"' && ch != '\\' && ch < 0x7f)
                buf_char(b, (char)ch);
            else
                buf_printf(b, "\\x%02x", ch);
        }
        return;
    }
    buf_str(b, s);
}

static const char *version_text(int version)
{
    return version == 20 ? " 2 " : version == 10 ? " 1.0 " : " 1.1 ";
}

void accesslog_add(struct exchange *x, int status)
{
    struct loop *l = x->loop;
    if (l->server->access_log_fd < 0 || x->logged)
        return;
    x->logged = true;
    struct buf *b = &l->log;
    buf_z(b, date_log(l));
    buf_z(b, "Z ");
    buf_z(b, x->pub.peer);
    buf_char(b, ' ');
    add_word(b, x->heard ? str_of(x->pub.log_user) : STR_NULL);
    buf_char(b, ' ');
    add_word(b, x->pub.method);
    buf_char(b, ' ');
    add_word(b, x->pub.path);
    buf_z(b, version_text(x->pub.version));
    char tail[96];
    uint64_t us = (uv_hrtime() - x->started) / 1000;
    int n = snprintf(tail, sizeof tail, "%d %llu %llu.%03u %llu\n", status, (unsigned long long)x->sent,
                     (unsigned long long)(us / 1000), (unsigned)(us % 1000), (unsigned long long)x->pub.id);
    buf_add(b, tail, (size_t)n);
    if (b->n >= FLUSH_AT)
        accesslog_flush(l);
}

void accesslog_refused(struct loop *l, const char *peer, int status)
{
    if (l->server->access_log_fd < 0)
        return;
    buf_printf(&l->log, "%sZ %s - - - - %d 0 0.000 0\n", date_log(l), peer, status);
}

void accesslog_flush(struct loop *l)
{
    size_t at = 0;
    while (at < l->log.n) {
        ssize_t n = write(l->server->access_log_fd, l->log.p + at, l->log.n - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break; /* a full disk must not stop the service; these lines are lost */
        at += (size_t)n;
    }
    buf_clear(&l->log);
}
