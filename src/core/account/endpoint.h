/* Talking to a provider: its addresses (OIDC discovery), its keys, its token and userinfo endpoints. What was
 * discovered is kept for an hour; keys are fetched anew when asked, but at most once a minute. All block. */
#ifndef INGOT_CORE_ACCOUNT_ENDPOINT_H
#define INGOT_CORE_ACCOUNT_ENDPOINT_H

#include "core/account/provider.h"

struct endpoint {
    const char *authorize, *token;
    const char *userinfo, *keys; /* NULL when there is none */
};
bool endpoint_find(struct provider *p, struct arena *a, struct endpoint *ret, struct err *err);
bool endpoint_keys(struct provider *p, const struct endpoint *e, struct arena *a, bool anew, yyjson_val **ret,
                   struct err *err);
/* Changes the code into tokens; the answer's JSON. */
bool endpoint_redeem(struct provider *p, const struct endpoint *e, struct str code, const char *verifier,
                     struct str redirect_uri, struct arena *a, yyjson_val **ret, struct err *err);
bool endpoint_userinfo(struct provider *p, const struct endpoint *e, struct str access_token, struct arena *a,
                       yyjson_val **ret, struct err *err);

#endif
