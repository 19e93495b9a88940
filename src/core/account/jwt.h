/* JSON Web Tokens of OpenID Connect: signatures RS256 and ES256 by the provider's key set (RFC 7515, 7517).
 */
#ifndef INGOT_CORE_ACCOUNT_JWT_H
#define INGOT_CORE_ACCOUNT_JWT_H

#include "base/json.h"

/* The claims when one of the keys (JWK set) signed the token. ERR_NOT_FOUND when the set lacks the key that
 * the token names: fetch it anew; ERR_UNAUTHORIZED when the token is malformed or the signature wrong. */
bool jwt_verify(struct arena *a, struct str token, yyjson_val *keys, yyjson_val **ret_claims,
                struct err *err);

struct jwt_rules {
    const char *issuer, *audience, *nonce; /* nonce NULL: not asked for */
    int64_t now;                           /* seconds since 1970 */
};
/* iss, aud (and azp), exp, nbf, iat, nonce; a minute of clock difference is allowed. */
bool jwt_check_claims(yyjson_val *claims, const struct jwt_rules *r, struct err *err);

#endif
