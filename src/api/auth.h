/* Requests and people: turns a request into a caller, guards cookie requests against other sites, and the
 * routes for signing in. */
#ifndef INGOT_API_AUTH_H
#define INGOT_API_AUTH_H

#include "api/route.h"
#include "core/account/accounts.h"

#define AUTH_COOKIE "ingot_session"

/* The name of a cookie of ours: under TLS with a beginning that keeps other hosts of the domain, and other
 * paths of this one, from setting it. Such cookies have the path "/". */
const char *auth_cookie_name(const struct core *core, const struct request *r, struct arena *a,
                             const char *name);
/* The session's cookie is there twice, so one of both is another page's: ERR_MALFORMED, and headers for the
 * answer that make the browser forget the other. 0 when it is not. A bearer token makes it not matter. */
size_t auth_cookie_twice(const struct core *core, const struct request *r, struct header **ret);

/* On a loop thread: the caller that sends the request. AUTH_HIT: it is *ret (user 0 when there is no
 * credential at all); AUTH_NONE: a credential that is not one: 401 (public routes go on without a user);
 * AUTH_UNKNOWN: ask auth_caller on a pool thread. ret->peer points into the request. `Authorization: Bearer`
 * wins over the cookie. */
enum auth auth_peek(struct core *core, const struct request *r, struct caller *ret);
/* The same on a pool thread, with the answer known: false with ERR_UNAUTHORIZED (or ERR_UNAVAILABLE). Release
 * with accounts_caller_release. */
bool auth_caller(struct core *core, const struct request *r, struct caller *ret, struct err *err);
/* Requests that change something and are carried by the cookie must come from our own pages: Origin equal to
 * scheme://Host (or the public address), or Sec-Fetch-Site: same-origin. Always true for tokens, without a
 * credential and for GET, HEAD and OPTIONS. */
bool auth_origin_ok(const struct core *core, const struct request *r, const struct caller *c,
                    struct err *err);

/* The Origin is scheme://Host of this request, or the public address. */
/* For WebSockets, which a page of another site must not open with the cookie of the person that looks at it:
 * ERR_FORBIDDEN unless a token asks or the Origin is the site's own. */
bool auth_socket_ok(const struct core *core, const struct request *r, const struct caller *c,
                    struct err *err);
bool auth_origin_is_ours(const struct core *core, const struct request *r, struct str origin);

/* For signing in, where there is no session yet: an Origin of another site is refused, none is fine. */
bool auth_sign_in_ok(const struct core *core, const struct request *r, struct err *err);

/* Whether the route opens a session: not for jobs. */
bool auth_is_sign_in(const struct route *r);

/* Whether the browser reaches us by https (cookies are Secure then). */
bool auth_is_secure(const struct core *core, const struct request *r);
/* The public address, or what the request says: "https://ingot.example". */
const char *auth_base_url(const struct core *core, const struct request *r, struct arena *a);

/* sessions, session, profile, sign-in: api/rest/sign_in.c. */
extern const struct route auth_routes[];

#endif
