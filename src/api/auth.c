#include "api/auth.h"

#include "base/messages.h"
#include "net/cookies.h"
#include "net/url.h"

static const char *session_name(const struct core *core, const struct request *r)
{
    return auth_is_secure(core, r) ? COOKIES_SECURE AUTH_COOKIE : AUTH_COOKIE;
}

const char *auth_cookie_name(const struct core *core, const struct request *r, struct arena *a,
                             const char *name)
{
    return arena_printf(a, "%s%s", auth_is_secure(core, r) ? COOKIES_SECURE : "", name);
}

static bool is_bearer(const struct request *r, struct str *ret)
{
    struct str rest, scheme = str_cut(request_header(r, "authorization"), ' ', &rest);
    *ret = str_trim(rest);
    return str_ieq(scheme, STR("bearer"));
}

size_t auth_cookie_twice(const struct core *core, const struct request *r, struct header **ret)
{
    struct str ignored;
    const char *name = session_name(core, r);
    if (is_bearer(r, &ignored) || request_cookies(r, name, &ignored) < 2)
        return 0;
    return cookies_forget_others(r, name, ret);
}

/* The credential that the request carries; false when there is none. Other schemes than Bearer are not for us
 * (a proxy's, perhaps). Of two sessions neither is taken: the server cannot know which of them the person
 * means. */
static bool credential(const struct core *core, const struct request *r, struct str *ret, bool *ret_cookie)
{
    *ret_cookie = !is_bearer(r, ret);
    if (!*ret_cookie)
        return true;
    size_t n = request_cookies(r, session_name(core, r), ret);
    if (n > 1)
        *ret = STR("");
    return n > 1 || ret->n > 0;
}

/* A job's token is for requests from inside of its own container, and nothing else is taken there: one that
 * was printed into a log opens nothing. */
static bool is_from_there(struct core *core, const struct request *r, struct caller *c)
{
    if (c->job == r->tag)
        return true;
    accounts_caller_release(core->accounts, c);
    return false;
}

enum auth auth_peek(struct core *core, const struct request *r, struct caller *ret)
{
    struct str secret;
    bool cookie;
    struct caller found = {0};
    enum auth result = AUTH_HIT;
    if (credential(core, r, &secret, &cookie))
        result = accounts_peek(core->accounts, secret, cookie, &found);
    if (result == AUTH_HIT && !is_from_there(core, r, &found))
        result = AUTH_NONE;
    if (result == AUTH_HIT) {
        found.peer = r->peer;
        found.host = r->host;
        *ret = found;
    }
    return result;
}

bool auth_caller(struct core *core, const struct request *r, struct caller *ret, struct err *err)
{
    struct str secret;
    bool cookie;
    enum auth result = auth_peek(core, r, ret);
    if (result == AUTH_HIT)
        return true;
    credential(core, r, &secret, &cookie);
    if (!accounts_resolve(core->accounts, secret, cookie, ret, err))
        return false;
    if (!is_from_there(core, r, ret))
        return r->tag ? err_message(err, ERR_UNAUTHORIZED, NULL, MESSAGE_JOB_TOKEN_ONLY)
                      : err_message(err, ERR_UNAUTHORIZED, NULL, MESSAGE_JOB_TOKEN_ELSEWHERE);
    ret->peer = r->peer;
    ret->host = r->host;
    return true;
}

/* --- other sites --- */
static struct str without_slash(struct str url)
{
    while (url.n > 0 && url.p[url.n - 1] == '/')
        url.n--;
    return url;
}

/* Whether the Origin header names us. */
bool auth_origin_is_ours(const struct core *core, const struct request *r, struct str origin)
{
    struct str scheme = r->tls ? STR("https://") : STR("http://");
    if (core->public_url && str_ieq(origin, without_slash(str_of(core->public_url))))
        return true;
    if (r->host.n == 0 || origin.n < r->host.n)
        return false;
    struct str tail = {origin.p + origin.n - r->host.n, r->host.n};
    struct str head = {origin.p, origin.n - r->host.n};
    if (!str_ieq(tail, r->host))
        return false;
    /* Behind a proxy that ends TLS the scheme differs: then the browser's own word is needed. */
    return str_ieq(head, scheme) ||
           (str_ieq(head, STR("https://")) && str_is(request_header(r, "sec-fetch-site"), "same-origin"));
}

bool auth_socket_ok(const struct core *core, const struct request *r, const struct caller *c, struct err *err)
{
    struct str origin = request_header(r, "origin");
    if (c->token || !origin.p)
        return c->token || err_set(err, ERR_FORBIDDEN, NULL, "a WebSocket needs the page's own Origin");
    struct str host = origin;
    ptrdiff_t at = str_find(origin, STR("://"));
    if (at >= 0)
        host = (struct str){origin.p + at + 3, origin.n - (size_t)at - 3};
    return str_eq(host, r->host) || auth_origin_is_ours(core, r, origin) ||
           err_set(err, ERR_FORBIDDEN, NULL, "the Origin is another site's");
}

static bool foreign(struct err *err)
{
    return err_set(err, ERR_FORBIDDEN, NULL,
                   "a request with the session's cookie must come from this site: Origin (or Sec-Fetch-Site) "
                   "says otherwise or is missing");
}

bool auth_origin_ok(const struct core *core, const struct request *r, const struct caller *c, struct err *err)
{
    static const char *const safe[] = {"GET", "HEAD", "OPTIONS"};
    for (size_t i = 0; i < countof(safe); i++)
        if (str_is(r->method, safe[i]))
            return true;
    if (!c->session)
        return true;
    struct str origin = request_header(r, "origin");
    bool ours = origin.p ? auth_origin_is_ours(core, r, origin)
                         : str_is(request_header(r, "sec-fetch-site"), "same-origin");
    return ours || foreign(err);
}

/* Signing in carries no session yet, but another site must not sign a browser in as another user either.
 * Programs send neither header. */
bool auth_sign_in_ok(const struct core *core, const struct request *r, struct err *err)
{
    struct str origin = request_header(r, "origin"), site = request_header(r, "sec-fetch-site");
    bool ours = origin.p ? auth_origin_is_ours(core, r, origin)
                         : !site.p || str_is(site, "same-origin") || str_is(site, "none");
    return ours || foreign(err);
}

bool auth_is_sign_in(const struct route *r)
{
    for (const struct route *i = auth_routes; r && i->method; i++)
        if (i == r)
            return i->permission != NULL;
    return false;
}

bool auth_is_secure(const struct core *core, const struct request *r)
{
    return r->tls || (core->public_url && str_starts(str_of(core->public_url), "https://"));
}

const char *auth_base_url(const struct core *core, const struct request *r, struct arena *a)
{
    if (core->public_url)
        return arena_strz(a, without_slash(str_of(core->public_url)));
    return arena_printf(a, "%s://" STR_FMT, r->tls ? "https" : "http", STR_ARG(r->host));
}
