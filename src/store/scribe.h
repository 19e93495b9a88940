/* Writes small files on a thread of its own, so that the thread that makes them (unpacking, hashing) need not
 * wait for the file system. One thread gives them; what waits is bounded. */
#ifndef INGOT_STORE_SCRIBE_H
#define INGOT_STORE_SCRIBE_H

#include "base/err.h"
#include "base/str.h"

#define SCRIBE_NAME 64

struct scribe;
struct scribe *scribe_new(int dirfd);
/* A new file of the folder; bytes are copied. The error may be that of an earlier file. */
bool scribe_write(struct scribe *s, const char *name, struct str bytes, struct err *err);
/* All files that were given before are written (not synced), or one was not. For any thread. */
bool scribe_settle(struct scribe *s, struct err *err);
void scribe_free(struct scribe *s); /* settles first; NULL allowed */

#endif
