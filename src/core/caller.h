/* The user, job or part of the platform that asks, and what it may do. A permission is "<kind>.<verb>"
 * ("dataset.create"). Roles are sets of permissions; a user has at most one platform role through the
 * `administrator` flag, and one role per project (own membership or through groups: the union). A token
 * narrows what its owner may do to its scopes.
 */
#ifndef INGOT_CORE_CALLER_H
#define INGOT_CORE_CALLER_H

#include "core/kind.h"

#define CALLER_CREDENTIAL 33 /* one byte for the sort, and a SHA-256 */

struct caller {
    int64_t user; /* 0: not signed in */
    const char *name;
    bool administrator;     /* and not narrowed by a token's scopes */
    int64_t session, token; /* which of both carried the request; 0 */
    int64_t job;      /* a job that asks with its own token, in the name of the user that started it; 0 */
    const char *peer; /* address, for the audit */
    struct str host;  /* by which they reached the platform, as in Host; STR_NULL: not known */
    uint8_t credential[CALLER_CREDENTIAL]; /* accounts' own: names the session or token; zeroes without one */
    struct audit_action
        *acting;        /* the engine's own: the action that the caller's writes belong to, or NULL */
    uint64_t epoch;     /* accounts' own: accounts_epoch when the rights were read */
    const void *grants; /* accounts' own: projects and permissions, immutable, held while the caller lives */
};

/* The platform itself (start-up, controllers, restore): may do everything. */
extern const struct caller caller_system;

/* project 0: a platform-wide permission. */
bool caller_may(const struct caller *c, const char *permission, int64_t project);
/* The same, with ERR_UNAUTHORIZED or ERR_FORBIDDEN (the permission is err->field); ERR_NOT_FOUND when the
 * caller is no member of the project at all (its existence is a secret). */
bool caller_need(const struct caller *c, const char *permission, int64_t project, struct err *err);
bool caller_in_project(const struct caller *c, int64_t project);
/* That user themself, and not a job of theirs: for ways into containers, keys and passwords. */
bool caller_is(const struct caller *c, int64_t user);
/* Whether a token may use the permission at all, wherever that comes from (public objects need no
 * membership): false and ERR_FORBIDDEN when its scopes leave it out. */
bool caller_scoped(const struct caller *c, const char *permission, struct err *err);

#endif
