/* The compute specs that a new platform begins with. */
#ifndef INGOT_CORE_COMPUTE_SPEC_H
#define INGOT_CORE_COMPUTE_SPEC_H

#include "core/core.h"

/* Makes a small one, half and whole of this machine, so that there is something to run with. Only for a
 * platform without users, so to be called before the first administrator is made: once deleted they do not
 * come back. */
bool spec_make_first(struct core *core, struct arena *a, struct err *err);

/* Inside a write: the smallest spec of so many bytes of memory without accelerators, for what the platform
 * starts by itself. 0: there is none. */
bool spec_smallest(struct op *op, int64_t memory, int64_t *ret, struct err *err);

#endif
