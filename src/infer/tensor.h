/* A tensor as it goes into and comes out of a model: plain bytes with a type and dimensions. */
#ifndef INGOT_INFER_TENSOR_H
#define INGOT_INFER_TENSOR_H

#include "base/str.h"

enum tensor_type {
    TENSOR_BOOL,
    TENSOR_UINT8,
    TENSOR_UINT16,
    TENSOR_UINT32,
    TENSOR_UINT64,
    TENSOR_INT8,
    TENSOR_INT16,
    TENSOR_INT32,
    TENSOR_INT64,
    TENSOR_FP16,
    TENSOR_BF16,
    TENSOR_FP32,
    TENSOR_FP64,
    TENSOR_BYTES,
};

#define TENSOR_DIMS 8

struct tensor {
    const char *name; /* in the caller's arena */
    enum tensor_type type;
    size_t n_dims;
    int64_t dims[TENSOR_DIMS];
    struct str data; /* row major; BYTES: each element as a 4-byte little-endian length and its bytes */
};

#endif
