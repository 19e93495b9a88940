/* Signing in through a provider: authorization code with PKCE (S256), state and nonce. The login attempt
 * travels in a signed cookie of the browser that began it, so nothing is kept here and an answer meant for
 * one browser is worthless in another. All calls block (HTTP, database). */
#ifndef INGOT_CORE_ACCOUNT_EXTERNAL_H
#define INGOT_CORE_ACCOUNT_EXTERNAL_H

#include "core/account/accounts.h"

#define EXTERNAL_SECONDS 600 /* an attempt's life */

/* {"password": true, "providers": [{"id", "title"}]} */
void external_show(struct core *core, struct buf *out);

struct external_begin {
    struct str provider, next; /* next: where to go afterwards, a path of this site; empty: "/" */
    const char *redirect_uri;  /* of our callback */
};
/* *ret_location: where to send the browser; *ret_cookie: the attempt, to come back with the callback. */
bool external_begin(struct core *core, const struct external_begin *b, struct arena *a,
                    const char **ret_location, const char **ret_cookie, struct err *err);

struct external_callback {
    struct str provider, cookie;
    struct str code, state, issuer, error, error_description; /* of the query; STR_NULL when absent */
    struct sign_in from;                                      /* peer and agent */
};
/* Opens the session. ERR_UNAUTHORIZED when the attempt or the provider's answer does not hold, ERR_FORBIDDEN
 * when the user may not come in, ERR_UPSTREAM when the provider cannot be reached. */
bool external_finish(struct core *core, const struct external_callback *c, struct arena *a,
                     char ret_secret[ACCOUNTS_SECRET_MAX], const char **ret_next, struct err *err);

/* A path on this site and nothing else ("//host" and "/\host" leave it). */
bool external_next_ok(struct str next);

#endif
