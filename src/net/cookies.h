/* Cookies that are in the way. A page on another port of this host, such as a notebook's, may set cookies
 * that the browser then sends here too: so many that no request fits, or another of a name of ours. */
#ifndef INGOT_NET_COOKIES_H
#define INGOT_NET_COOKIES_H

#include "net/http.h"

#define COOKIES_OWN "ingot_" /* how the names of the platform's own begin */
#define COOKIES_SECURE                                                                                       \
    "__Host-" /* and what is before them under TLS, where no other host or path can set such a one */

/* Whether the name is one of the platform's own. */
bool cookies_are_own(struct str name, const char *own);
/* Of a request that was too large: Set-Cookie headers that make the browser forget the cookies in it but our
 * own, for the path "/" and the first part of the request's; *ret is in the arena. 0 when it was not the
 * cookies. unfinished: the value of a Cookie header that was not read to its end, or STR_NULL. */
size_t cookies_forget_all(struct request *r, struct str path, struct str unfinished, size_t max_header,
                          struct header **ret);
/* Of a request that has the cookie twice: headers that make the browser forget all of that name but the one
 * for the path "/" and this very host, which is ours. */
size_t cookies_forget_others(const struct request *r, const char *name, struct header **ret);

#endif
