/* Secrets that must be kept for a while: encrypted and authenticated (AES-256-GCM) with a key that lies in a
 * file of its own, so that neither the database nor a backup of it gives them away. */
#ifndef INGOT_BASE_SEAL_H
#define INGOT_BASE_SEAL_H

#include "base/arena.h"
#include "base/err.h"

#define SEAL_KEY 32

/* The key in the file; made at the first call (mode 0600). */
bool seal_key(int dirfd, const char *file, uint8_t ret[SEAL_KEY], struct err *err);
/* As text, different each time. */
char *seal_text(struct arena *a, const uint8_t key[SEAL_KEY], struct str secret);
/* false: it was sealed with another key, or changed. */
bool seal_open(struct arena *a, const uint8_t key[SEAL_KEY], struct str sealed, struct str *ret);

#endif
