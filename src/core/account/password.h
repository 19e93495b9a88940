/* Passwords as argon2id hashes (RFC 9106: 19 MiB, 2 passes). At most two are worked on at a time, so memory
 * stays bounded, and only a few callers may wait for their turn: the rest is told to come back. */
#ifndef INGOT_CORE_ACCOUNT_PASSWORD_H
#define INGOT_CORE_ACCOUNT_PASSWORD_H

#include "base/arena.h"
#include "base/err.h"

#define PASSWORD_MIN  6
#define PASSWORD_MAX  128 /* characters */
#define PASSWORD_TEXT 24  /* bytes of a generated one */

/* The rule of K2; field names it in the error. */
bool password_rule(struct str password, const char *field, struct err *err);
/* The encoded hash in the arena. ERR_TOO_MANY when too many wait. */
bool password_hash(struct arena *a, struct str password, struct str *ret, struct err *err);
/* *ret_right: whether it is the password of the hash. hash STR_NULL (unknown user): takes as long, never
 * right. go_on (may be NULL) is asked when the turn has come; when it returns false its error is ours. */
bool password_verify(struct str hash, struct str password, bool (*go_on)(void *ctx, struct err *err),
                     void *ctx, bool *ret_right, struct err *err);
/* Ends the program when it cannot: a password of 20 letters and digits that cannot be mistaken. */
void password_generate(char ret[PASSWORD_TEXT]);

#endif
