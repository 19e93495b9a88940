/* How many processors this process may use: those of its affinity, and no more than its control group's limit
 * (of version 2 or 1, its own and those above it) rounded up. At least 1. */
#ifndef INGOT_INFER_CPUS_H
#define INGOT_INFER_CPUS_H

#include <stddef.h>

unsigned cpus_count(void);
/* The same of other folders than /proc and /sys/fs/cgroup, for tests; affinity: how many those are. */
unsigned cpus_limit(const char *proc_cgroup, const char *groups, unsigned affinity);
/* What the machine calls its processor, as "AMD EPYC 9554"; NULL when it says nothing. */
const char *cpus_name(char *to, size_t size);

#endif
