/* Files. Everything that takes a path from outside goes through fs_open_beneath. */
#ifndef INGOT_BASE_FS_H
#define INGOT_BASE_FS_H

#include "base/arena.h"
#include "base/err.h"

#include <fcntl.h>

/* openat2(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS): path can't leave dirfd. */
int fs_open_beneath(int dirfd, const char *path, int flags, mode_t mode, struct err *err);
bool fs_mkdirs(const char *path, mode_t mode, struct err *err);
/* Whole file into the arena, at most max bytes (ERR_TOO_LARGE). */
bool fs_read(struct arena *a, const char *path, size_t max, struct str *ret, struct err *err);
/* Write to a temporary name, fsync, rename, fsync the folder: either the old or the new content survives. */
bool fs_write_atomic(const char *path, struct str data, mode_t mode, struct err *err);
bool fs_write_all(int fd, const void *p, size_t n, struct err *err);
bool fs_remove_tree(int dirfd, const char *name, struct err *err); /* never follows links; absent is fine */
bool fs_sync_dir(const char *path, struct err *err);
uint64_t fs_free_bytes(const char *path);

#endif
