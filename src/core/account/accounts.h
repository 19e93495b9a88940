/* From a credential to a caller: caches of tokens, sessions and grants over the kinds user, group,
 * group_member, role, project, member, token and session.
 *
 * A credential (the cookie's value, or a bearer token) is looked up by its SHA-256, the only form that is
 * stored. What a user may do is an immutable snapshot (`grants`), shared by reference count and held by each
 * caller. Snapshots carry the generation they were made in; a change of users, groups, roles, projects or
 * members begins a new one, so an old snapshot is never used for a request that starts after the change was
 * answered. Everything here is safe to call from any thread. */
#ifndef INGOT_CORE_ACCOUNT_ACCOUNTS_H
#define INGOT_CORE_ACCOUNT_ACCOUNTS_H

#include "base/json.h"
#include "core/caller.h"
#include "core/core.h"

struct accounts;

/* When the kinds' tables exist (core_open): makes the built-in roles or brings them up to date, reads the
 * sign-in providers of the configuration file (NULL: none). core->accounts is set by the caller. */
struct accounts *accounts_new(struct core *core, const char *config, struct err *err);
void accounts_free(struct accounts *acc); /* NULL is fine; while core->db is still open */

/* Makes `admin` when there is no user yet: with the password of $INGOT_ADMIN_PASSWORD (then *ret_password is
 * NULL) or a generated one. *ret_password is NULL when nothing was made. */
bool accounts_first_admin(struct core *core, struct arena *a, const char **ret_password, struct err *err);

/* --- from a request to a caller --- */
enum auth {
    AUTH_HIT,     /* *ret is filled: release it */
    AUTH_NONE,    /* no such credential: 401 */
    AUTH_UNKNOWN, /* not in the cache: ask accounts_resolve on a pool thread */
};
/* Never blocks; for loop threads. secret is the token's or the cookie's text. Of a job's token the caller has
 * `job` set; whether the request came from that job is for the calling function to check. */
enum auth accounts_peek(struct accounts *acc, struct str secret, bool is_cookie, struct caller *ret);
/* The same with the database behind. ERR_UNAUTHORIZED when it is unknown, expired or its user is disabled. */
bool accounts_resolve(struct accounts *acc, struct str secret, bool is_cookie, struct caller *ret,
                      struct err *err);
/* The same for what a former caller's `credential` names, for what was given to that session or token:
 * cookies of tools, answers that last. Whether it counts as a use of it is `use`. */
enum auth accounts_peek_again(struct accounts *acc, const uint8_t credential[CALLER_CREDENTIAL], bool use,
                              struct caller *ret);
bool accounts_resolve_again(struct accounts *acc, const uint8_t credential[CALLER_CREDENTIAL], bool use,
                            struct caller *ret, struct err *err);
/* Gives the grants back; c has no user afterwards. Harmless for callers without grants. */
void accounts_caller_release(struct accounts *acc, struct caller *c);
/* Another holder of the same caller; release both. */
struct caller accounts_caller_ref(const struct caller *c);
/* No right has changed since the caller was made. */
bool accounts_caller_current(const struct accounts *acc, const struct caller *c);
/* The token that the containers of a job's attempt show to the platform (job_token.h). */
#define ACCOUNTS_SECRET_MAX 64 /* bytes of a credential's text with its NUL */
bool accounts_job_token(struct core *core, const struct object *job, int32_t attempt,
                        char ret[ACCOUNTS_SECRET_MAX], struct err *err);
/* Counts what may have changed rights: grants, ended sessions and tokens. A caller with another
 * `epoch` is to be looked up again. */
uint64_t accounts_epoch(const struct accounts *acc);
/* Whenever that counts, fn is called afterwards, on any thread: be quick. One listener; NULL: none. */
void accounts_on_change(struct accounts *acc, void (*fn)(void));
/* A caller for what a controller does in a user's name. ERR_NOT_FOUND for unknown and disabled users. */
bool accounts_caller_of(struct accounts *acc, int64_t user, struct caller *ret, struct err *err);

/* --- signing in and out --- */
#define ACCOUNTS_SESSION_MAX  (7 * 24 * 3600) /* seconds a session lives at most */
#define ACCOUNTS_SESSION_IDLE (12 * 3600)     /* seconds without a request after which it ends */

struct sign_in {
    struct str name, password;
    const char *peer; /* address */
    struct str agent; /* User-Agent */
};
/* Checks the password and opens a session. ERR_UNAUTHORIZED in the same words (and after the same work) for
 * an unknown name, a wrong password and a disabled user; ERR_TOO_MANY with *ret_retry seconds while delayed.
 */
bool accounts_sign_in(struct core *core, const struct sign_in *s, char ret_secret[ACCOUNTS_SECRET_MAX],
                      unsigned *ret_retry, struct err *err);
/* The same check without a session, for protocols that send the password (the registry): the user's id. */
bool accounts_check_password(struct core *core, const struct sign_in *s, int64_t *ret_user,
                             unsigned *ret_retry, struct err *err);
/* Opens a session for a user whose identity is proven; how ("password", "corp") goes to the audit. */
bool accounts_open_session(struct core *core, int64_t user, const struct sign_in *s, const char *how,
                           char ret_secret[ACCOUNTS_SECRET_MAX], struct err *err);
/* Ends the session that carries the request. */
bool accounts_sign_out(struct core *core, const struct caller *c, struct err *err);
/* By the user's own hand: needs a session (no token) and the old password. Ends all sessions of the user. */
bool accounts_change_password(struct core *core, const struct caller *c, struct str old, struct str new_,
                              struct err *err);
/* body: email, display_name, language. */
bool accounts_change_profile(struct core *core, const struct caller *c, yyjson_val *body, struct arena *a,
                             struct err *err);
/* What the user's programs keep about how they like to work (keys of the workbench): one JSON object of at
 * most PREFERENCES_MAX bytes, {} at first. It is the user's alone and changes nothing on the server, so it
 * has neither revision nor line of audit. */
#define PREFERENCES_MAX (32 * 1024)
bool accounts_keep_preferences(struct core *core, const struct caller *c, yyjson_val *body, struct err *err);
bool accounts_show_preferences(struct core *core, const struct caller *c, struct buf *out, struct err *err);
/* What GET /api/v1/session answers. */
bool accounts_show_session(struct core *core, const struct caller *c, struct buf *out, struct err *err);
/* What GET /api/v1/permissions answers. */
void accounts_show_permissions(struct buf *out);

/* --- for the kinds' hooks --- */
/* Grants changed: rights are read anew from the next request on. */
void accounts_grants_changed(struct core *core);
/* A credential was ended. */
void accounts_forget_token(struct core *core, int64_t token);
void accounts_forget_session(struct core *core, int64_t session);
void accounts_forget_job(struct core *core, int64_t job);
void accounts_forget_user(struct core *core, int64_t user); /* all of both */
/* Everything in the database was replaced. */
void accounts_forget_all(struct core *core);

/* The kinds. Notes for the engine:
 * - The permission to touch an object of kind project is asked with project = its id, of a group's, user's,
 *   role's with project = 0; kind_project.visible limits lists and reads to the caller's projects.
 * - token and session are SCOPE_OWN: the owner is created_by.
 * - token.secret is virtual: before_create puts it into the object, `show` writes it while it is there (so
 * the answer to the create shows the object that the hook saw).
 * - Columns are called "user" and "group": quote identifiers. */
extern const struct kind kind_user, kind_group, kind_group_member, kind_role, kind_project, kind_member,
    kind_token, kind_session;
/* What can be asked of a project; the answers come from above: core/project_actions.c. */
extern const struct action project_actions[];

#endif
