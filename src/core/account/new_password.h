/* A new password for whoever has the data folder, when nobody can sign in any more (ingot admin password).
 *
 * A program on the machine leaves a request in the folder, which only its owner can write to: the user and
 * the hash of the password, never the password. The server takes it within a second; where none runs the
 * program opens the folder and takes it itself. The change is audited as the platform's own, and the user's
 * sessions end; tokens stay. */
#ifndef INGOT_CORE_ACCOUNT_NEW_PASSWORD_H
#define INGOT_CORE_ACCOUNT_NEW_PASSWORD_H

#include "core/core.h"

struct new_password {
    const char *data, *db_url; /* as core_options has them */
    struct str user, password;
    unsigned wait_s; /* for a server that runs */
};
/* From a program other than the server: when it returns true the password holds. */
bool new_password_set(const struct new_password *p, struct arena *a, struct err *err);
/* The server's, or that of whoever opened the folder: what was asked for, if anything; the answer is left in
 * the folder. */
bool new_password_take(struct core *core, struct err *err);

#endif
