/* The inside of struct accounts, for the files of this folder only. */
#ifndef INGOT_CORE_ACCOUNT_STATE_H
#define INGOT_CORE_ACCOUNT_STATE_H

#include "base/map.h"
#include "core/account/accounts.h"
#include "core/account/failures.h"
#include "core/account/grants.h"

#include <pthread.h>

#define ACCOUNTS_TOKEN_PREFIX "ingot_"
#define ACCOUNTS_SECRET_TEXT  43 /* characters of 32 bytes in base64url */
#define SECOND                INT64_C(1000000)

struct providers;

struct accounts {
    struct core *core;
    atomic_uint_least64_t generation;  /* of grants: a snapshot of another one is stale */
    atomic_uint_least64_t revocations; /* of credentials: a lookup that began before one is not cached */
    _Atomic(void (*)(void)) on_change; /* hears of both */
    pthread_rwlock_t lock;             /* of the map */
    struct map *credentials;           /* key as credential_key -> struct credential */
    struct failures *failures;
    struct providers *providers; /* never NULL */
};

#define CREDENTIAL_KEY CALLER_CREDENTIAL

/* One cached token, session or token of a job. All but the atomics is constant; freed under the write lock.
 */
struct credential {
    uint8_t key[CREDENTIAL_KEY];
    bool cookie, job;
    int64_t id, user;            /* id: of the token, the session or the job */
    int64_t expires;             /* 0: never */
    atomic_int_least64_t used;   /* last request */
    atomic_int_least64_t stored; /* what the row's last_used_at says */
    struct grants *grants;
    struct credential *next; /* while being dropped */
};

/* false when the text cannot be a credential of that sort. */
bool credential_key(struct str secret, bool is_cookie, uint8_t ret[CREDENTIAL_KEY]);
/* Writes what is newer in memory than in the rows by a minute (by anything when all), then sweeps expired
 * sessions. */
bool credentials_store(struct accounts *acc, bool all, struct err *err);

void credentials_drop(struct accounts *acc); /* all; frees the map */

#endif
