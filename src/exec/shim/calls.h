/* System calls of mounts that the small C library has no names for. */
#ifndef INGOT_EXEC_SHIM_CALLS_H
#define INGOT_EXEC_SHIM_CALLS_H

#include <sys/mount.h>

#ifndef __GLIBC__
#include <linux/mount.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int open_tree(int dir, const char *path, unsigned flags)
{
    return (int)syscall(SYS_open_tree, dir, path, flags);
}

static inline int move_mount(int from, const char *name, int to, const char *target, unsigned flags)
{
    return (int)syscall(SYS_move_mount, from, name, to, target, flags);
}

static inline int mount_setattr(int dir, const char *path, unsigned flags, struct mount_attr *attr, size_t n)
{
    return (int)syscall(SYS_mount_setattr, dir, path, flags, attr, n);
}
#endif

#endif
