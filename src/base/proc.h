/* Child processes. */
#ifndef INGOT_BASE_PROC_H
#define INGOT_BASE_PROC_H

#include "base/arena.h"
#include "base/err.h"

/* Runs argv (argv[0] found on PATH), standard input from /dev/null; output (both streams, at most max bytes
 * kept) into the arena when ret_output is set. ret_status: exit code, or 128+signal. false only when it could
 * not run. */
bool proc_run(struct arena *a, char *const argv[], size_t max, int *ret_status, struct str *ret_output,
              struct err *err);

#endif
