/* Files that can be made again: no row, no fsync, written beside and renamed so that a reader never sees half
 * of one. */
#include "base/fs.h"
#include "store/store_own.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

int store_cache_open(struct store *s, const char *name, uint64_t *ret_size)
{
    int fd = openat(s->cache_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    if (fd >= 0 && fstat(fd, &st) != 0) {
        close(fd);
        return -1;
    }
    if (fd >= 0)
        *ret_size = (uint64_t)st.st_size;
    return fd;
}

bool store_cache_put(struct store *s, const char *name, struct str data, struct err *err)
{
    char temporary[40];
    uint8_t id[16];
    random_bytes(id, sizeof id);
    hex_encode(id, sizeof id, temporary);
    auto_fd int fd = openat(s->cache_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (fd < 0)
        return err_errno(err, errno, "cannot write to the cache");
    bool ok = fs_write_all(fd, data.p, data.n, err);
    if (ok && renameat(s->cache_fd, temporary, s->cache_fd, name) != 0)
        ok = err_errno(err, errno, "cannot write to the cache");
    if (!ok)
        unlinkat(s->cache_fd, temporary, 0);
    return ok;
}
