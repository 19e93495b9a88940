/* Ed25519 keys in the files of OpenSSH. */
#ifndef INGOT_CORE_JOB_SSH_KEY_H
#define INGOT_CORE_JOB_SSH_KEY_H

#include "base/arena.h"
#include "base/err.h"

#define SSH_KEY_SEED 32

/* The private key's file and the line of the public one, in the arena. */
bool ssh_key_files(struct arena *a, const uint8_t seed[SSH_KEY_SEED], struct str *ret_private,
                   struct str *ret_public, struct err *err);

#endif
