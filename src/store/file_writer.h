/* Writes small files on a thread of its own, so that the thread that makes them (unpacking, hashing) need not
 * wait for the file system. One thread gives them; what waits is bounded. */
#ifndef INGOT_STORE_FILE_WRITER_H
#define INGOT_STORE_FILE_WRITER_H

#include "base/err.h"
#include "base/str.h"

#define FILE_WRITER_NAME 64

struct file_writer;
struct file_writer *file_writer_new(int dirfd);
/* A new file of the folder; bytes are copied. The error may be that of an earlier file. */
bool file_writer_write(struct file_writer *s, const char *name, struct str bytes, struct err *err);
/* All files that were given before are written (not synced), or one was not. For any thread. */
bool file_writer_wait(struct file_writer *s, struct err *err);
void file_writer_free(struct file_writer *s); /* settles first; NULL allowed */

#endif
