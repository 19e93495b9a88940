/* A container's cgroup, in whichever version the machine has. libc only: the shim links it too. `path` is the
 * one of the container, e.g. "/ingot/17-1-0". */
#ifndef INGOT_EXEC_LOCAL_CGROUP_H
#define INGOT_EXEC_LOCAL_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

struct cgroup_use {
    int64_t cpu_ns, memory, pids;
};

bool cgroup_is_hybrid(void); /* version 1 with version 2 at /sys/fs/cgroup/unified */
int cgroup_version(void);    /* 1, 2, or 0 when there are none */
bool cgroup_oom(const char *path);
bool cgroup_forks_refused(const char *path); /* the limit of processes was met */
bool cgroup_read(const char *path, struct cgroup_use *ret);
/* Stops all that is in it, or lets it go on. Frozen: waits a moment until nothing moves; false when something
 * still does, or when the machine has no freezer. */
bool cgroup_freeze(const char *path, bool frozen);
/* No limit of the processor any more, for what is about to end: a group that has used the time of the next
 * minutes already (a fork bomb in the kernel's hands does) would not run again before they are over, not even
 * to die. */
void cgroup_unthrottle(const char *path);
void cgroup_kill(const char *path);   /* KILL to all that is in it, unthrottled */
bool cgroup_remove(const char *path); /* true when it is gone */
void cgroup_clear(const char *path);  /* ends and removes all below it, and it */

#endif
