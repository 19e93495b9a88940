/* ONNX Runtime: the shared library is loaded when the program starts, from beside it, and its table of
 * functions is the only way in. One environment with one set of threads for all sessions, so that several
 * models do not have several times the machine's threads; they do not spin while they wait. */
#ifndef INGOT_INFER_ORT_H
#define INGOT_INFER_ORT_H

#include "base/err.h"

#include <onnxruntime_c_api.h>

/* Once, before everything else here. path: of the library; NULL: looked for beside the program, in lib beside
 * it, in ../lib, and where the loader looks. threads: that one run may use. */
bool ort_start(const char *path, unsigned threads, struct err *err);
/* When all sessions are gone. */
void ort_stop(void);

const OrtApi *ort_api(void);
OrtEnv *ort_env(void);
const OrtMemoryInfo *ort_memory(void); /* of the processor */
const char *ort_version(void);         /* "1.31.1" */

/* true when s is NULL; else frees it and fills err with what it says. code: of failures that the runtime does
 * not blame on its arguments. */
bool ort_ok(OrtStatus *s, enum err_code code, struct err *err);

#endif
