/* One loaded graph: its inputs and outputs, and running it. Loaded from memory only, after our own walk over
 * the file has found nothing in it that reaches outside (model/onnx.h). Runs from any number of threads at
 * once. */
#ifndef INGOT_INFER_SESSION_H
#define INGOT_INFER_SESSION_H

#include "base/arena.h"
#include "base/err.h"
#include "infer/tensor.h"

#define SESSION_MAX_VALUES 256               /* inputs, and outputs */
#define SESSION_MAX_OUTPUT ((size_t)1 << 30) /* bytes of one output */

struct session_value {
    const char *name;
    enum tensor_type type;
    size_t n_dims;
    int64_t dims[TENSOR_DIMS]; /* -1: not fixed */
};

struct session {
    struct session_value *inputs, *outputs;
    size_t n_inputs, n_outputs;
    bool rows; /* every input and output has a free first dimension: requests may share a run */
    struct arena arena;
    void *ort;
};

/* ERR_INVALID: the file is refused, with the reason. The bytes may go afterwards. */
struct session *session_new(struct str file, struct err *err);
void session_free(struct session *s);

const struct session_value *session_input(const struct session *s, struct str name);
const struct session_value *session_output(const struct session *s, struct str name);
/* Names, types and dimensions against the graph: ERR_INVALID names the input. All inputs must be there. */
bool session_fits(const struct session *s, const struct tensor *inputs, size_t n, struct arena *a,
                  struct err *err);
/* Runs it. The data of outputs is copied to the arena, in the order of names; each is at most
 * SESSION_MAX_OUTPUT. The inputs were accepted by session_fits. */
bool session_run(struct session *s, const struct tensor *inputs, size_t n_inputs, const char *const *names,
                 struct tensor *ret, size_t n_names, struct arena *a, struct err *err);
/* Runs it once on zeroes, so that the first request does not pay for what is made at the first run. Free
 * dimensions are taken as 1; a graph that refuses is left as it is. */
void session_warm(struct session *s);

#endif
