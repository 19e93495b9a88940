/* Outside sign-in providers: OpenID Connect and generic OAuth2, from the configuration file:
 *
 *   {"sign_in": {"password": true, "providers": [{"id": "corp", "title": "Corp", "type": "oidc",
 *     "issuer": "https://id.example", "client_id": "ingot", "client_secret": "env:CORP_SECRET"}]}}
 *
 * docs/sign-in.md has all keys. */
#ifndef INGOT_CORE_ACCOUNT_PROVIDER_H
#define INGOT_CORE_ACCOUNT_PROVIDER_H

#include "base/json.h"

#include <pthread.h>
#include <stdatomic.h>

struct provider {
    const char *id, *title;
    bool oidc; /* else plain OAuth2 */
    const char *issuer;
    const char *authorize_url, *token_url, *userinfo_url; /* OAuth2: given; OIDC: override the discovery */
    const char *client_id, *client_secret;                /* secret NULL: a public client (PKCE only) */
    const char *scopes;
    const char *subject_claim, *name_claim, *email_claim;
    const char *default_project, *default_role; /* names: new users become members */
    const char *ca_file;
    bool secret_in_body; /* "token_auth": "post" instead of "basic" */
    bool create_users, link_by_email;
    bool trust_email;             /* its addresses are all verified, though it does not say so */
    const char **allowed_domains; /* of e-mail addresses; ended by NULL; NULL: any */

    atomic_int talking; /* requests to it under way */
    /* What was fetched, kept for an hour; texts are malloced and replaced under the lock. */
    pthread_mutex_t lock;
    char *discovery, *keys;
    int64_t discovered_at, keys_at;
};

struct providers {
    struct arena arena;
    bool password; /* signing in with a password is offered */
    struct provider *items;
    size_t count;
    uint8_t key[32]; /* signs login attempts; new at each start */
};

/* path NULL: none. ERR_INVALID names the key that is wrong. Other parts of the file are not looked at. */
struct providers *providers_load(const char *path, struct err *err);
void providers_free(struct providers *p);
struct provider *providers_find(struct providers *p, struct str id); /* NULL when there is none */
/* https, or http to this machine. */
bool provider_url_ok(const char *url);

#endif
