#include "codec/mapping.h"

#include "base/fs.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

bool mapping_open(int dirfd, struct str path, struct str *ret, struct err *err)
{
    auto_arena struct arena a = {0};
    const char *name = arena_strz(&a, path);
    auto_fd int fd = fs_open_beneath(dirfd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0, err);
    if (fd < 0)
        return false;
    struct stat st;
    if (fstat(fd, &st) != 0)
        return err_errno(err, errno, "%s", name);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INVALID, NULL, "%s is not a regular file", name);
    if (st.st_size == 0) {
        *ret = STR("");
        return true;
    }
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return err_errno(err, errno, "%s", name);
    *ret = (struct str){p, (size_t)st.st_size};
    return true;
}

void mapping_close(struct str bytes)
{
    if (bytes.n)
        munmap((void *)(uintptr_t)bytes.p, bytes.n);
}

void mapping_drop(struct str part)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)part.p + page - 1) & ~(page - 1),
              to = ((uintptr_t)part.p + part.n) & ~(page - 1);
    /* Advice: when it is not taken, only memory is lost. */
    if (part.n && to > from)
        (void)madvise((void *)from, to - from, MADV_DONTNEED);
}
