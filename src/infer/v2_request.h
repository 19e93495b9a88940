/* The body of an inference request of the Open Inference Protocol v2: JSON, with tensors in it or, by the
 * binary tensor extension, behind it. Nothing is allocated before the body is known to have it: dimensions
 * are held against the bytes that came. */
#ifndef INGOT_INFER_V2_REQUEST_H
#define INGOT_INFER_V2_REQUEST_H

#include "base/json.h"
#include "infer/tensor.h"

#define V2_MAX_INPUTS  256
#define V2_MAX_CLASSES 1000000

struct v2_output {
    const char *name;
    bool binary;
    uint32_t classes; /* the best so many as texts instead of the tensor; 0: the tensor */
};

struct v2_request {
    struct str id; /* STR_NULL: none */
    struct tensor *inputs;
    size_t n_inputs;
    struct v2_output *outputs; /* none: all are wanted */
    size_t n_outputs;
    bool binary;         /* what is not said of an output */
    uint64_t timeout_us; /* 0: none asked for */
};

/* json_length: of the JSON before the binary part (Inference-Header-Content-Length); -1: all of the body is
 * JSON. Tensors in the binary part are not copied. ERR_MALFORMED or ERR_INVALID with the field. */
bool v2_request_parse(struct arena *a, struct str body, int64_t json_length, struct v2_request *ret,
                      struct err *err);

/* --- parts of it, for the tests --- */
/* Dimensions, 0 to TENSOR_DIMS of them. */
bool v2_shape(yyjson_val *v, const char *name, struct tensor *ret, struct err *err);

#endif
