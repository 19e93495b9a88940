/* What containers get of the platform's own programs, to be mounted read-only: bin/ingot (this very program
 * with the libraries and the loader of this machine, so that it runs in images that have others or none),
 * bin/ingot-infer with ONNX Runtime when it is installed beside it, and python/ingot.zip (the Python client).
 * A folder of data/cache, made at the first use by each version of the programs: what runs keeps its own. */
#ifndef INGOT_CORE_JOB_PROGRAMS_H
#define INGOT_CORE_JOB_PROGRAMS_H

#include "core/core.h"
#include "exec/exec.h"

/* Its path; NULL with an error. Former ones go when nothing runs. */
const char *programs_folder(struct core *core, struct exec *x, struct arena *a, struct err *err);

#endif
