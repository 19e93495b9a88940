/* From what a provider says about a person to a user of the platform. */
#ifndef INGOT_CORE_ACCOUNT_IDENTITY_H
#define INGOT_CORE_ACCOUNT_IDENTITY_H

#include "core/account/provider.h"
#include "core/core.h"

struct identity {
    struct str subject;     /* the provider's name of the person; never empty */
    struct str name, email; /* STR_NULL when not said */
    bool email_verified;    /* by the provider; else any person could have written it there */
};
/* The user that signed in before with this identity; else (as the provider's settings allow) the user with
 * this verified address, or a new one. ERR_FORBIDDEN when neither is allowed. */
bool identity_user(struct core *core, const struct provider *p, const struct identity *who, const char *peer,
                   struct arena *a, int64_t *ret, struct err *err);
/* A name that fits our rules, from whatever a provider calls a person. */
struct str identity_clean_name(struct arena *a, struct str name);

#endif
