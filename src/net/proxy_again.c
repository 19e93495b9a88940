/* Sending a forwarded request again: bodies that are kept for it, and to whom. */
#include "net/proxy_own.h"

#include <stdatomic.h>

#define ATTEMPTS_MAX 4
#define KEPT_ALL_MAX (64u << 20) /* bytes of bodies that are kept for all requests */

static atomic_size_t kept_all;

void proxy_keep_no_more(struct proxy *p)
{
    atomic_fetch_sub_explicit(&kept_all, p->kept.n, memory_order_relaxed);
    buf_release(&p->kept);
    p->keeping = false;
}

void proxy_keep(struct proxy *p, struct str piece)
{
    if (!p->keeping)
        return;
    size_t all = atomic_fetch_add_explicit(&kept_all, piece.n, memory_order_relaxed) + piece.n;
    if (piece.n <= p->t.keep_body - p->kept.n && all <= KEPT_ALL_MAX) {
        if (!p->kept.cap && p->x->pub.content_length > 0 &&
            (uint64_t)p->x->pub.content_length <= p->t.keep_body)
            buf_reserve(&p->kept, (size_t)p->x->pub.content_length);
        buf_str(&p->kept, piece);
        return;
    }
    atomic_fetch_sub_explicit(&kept_all, piece.n, memory_order_relaxed);
    proxy_keep_no_more(p);
}

static bool harmless(struct str method)
{
    static const char *const methods[] = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE"};
    for (size_t i = 0; i < countof(methods); i++)
        if (str_is(method, methods[i]))
            return true;
    return false;
}

static bool is_safe(struct str method)
{
    return str_is(method, "GET") || str_is(method, "HEAD") || str_is(method, "OPTIONS");
}

bool proxy_may_repeat(const struct proxy *p)
{
    return (p->t.resend || harmless(p->x->pub.method)) &&
           (p->x->pub.content_length == 0 || (p->taking ? p->keeping : p->t.keep_body > 0));
}

/* What went nowhere may go anywhere. */
static bool can_repeat(const struct proxy *p, enum proxy_failure why)
{
    if (p->answer.started || !p->x->proto || p->x->answered_for || p->x->answered)
        return false;
    bool has_body = !p->taking || p->keeping;
    return has_body && ((why == PROXY_UNREACHABLE && !p->connected) || proxy_may_repeat(p));
}

/* Nothing of the body comes until there is a connection for it. */
static void start_over(struct proxy *p, bool may_reuse)
{
    proxy_drop_upstream(p);
    p->body_sent = false;
    if (p->taking && !p->body_in)
        request_pause(&p->x->pub);
    proxy_connect(p, may_reuse);
}

bool proxy_again(struct proxy *p, enum proxy_failure why)
{
    if (why == PROXY_SILENT || !can_repeat(p, why))
        return false;
    /* An idle connection that died before it answered says nothing about the upstream. */
    if (p->reused && !p->retried) {
        p->retried = true;
        start_over(p, false);
        return true;
    }
    const char *key = NULL;
    bool goes_on = p->t.resend || is_safe(p->x->pub.method) || !p->connected;
    if (!p->t.next || !goes_on || ++p->attempts >= ATTEMPTS_MAX || !p->t.next(p->t.ctx, why, &key))
        return false;
    p->key = arena_strdup(&p->x->arena, key);
    p->retried = false;
    start_over(p, true);
    return true;
}

void proxy_failed(struct proxy *p, enum proxy_failure why, int status, const char *detail)
{
    if (!proxy_again(p, why))
        proxy_fail(p, why, status, detail);
}
