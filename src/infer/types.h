/* The types of tensors: their names in the protocol, their sizes, and what a tensor of given dimensions
 * takes. */
#ifndef INGOT_INFER_TYPES_H
#define INGOT_INFER_TYPES_H

#include "base/arena.h"
#include "base/err.h"
#include "infer/tensor.h"

#define TYPES_COUNT   (TENSOR_BYTES + 1)
#define TYPES_MAX_DIM ((int64_t)1 << 40) /* what no memory holds even of one-byte elements */

struct type_info {
    const char *name;   /* "FP32" */
    const char *config; /* "TYPE_FP32" */
    size_t size;        /* of an element; 0: each has its own (BYTES) */
    int onnx;           /* ONNX's number of it */
};
extern const struct type_info types[TYPES_COUNT];

bool types_of(struct str name, enum tensor_type *ret);
bool types_of_onnx(int onnx, enum tensor_type *ret);
/* How many elements the dimensions make; false: negative, or more than max. No dimensions make one. */
bool types_elements(const int64_t *dims, size_t n_dims, uint64_t max, uint64_t *ret);
/* "[1,3,224,224]" in the arena. */
const char *types_shape(struct arena *a, const int64_t *dims, size_t n_dims);

/* Goes over the elements of BYTES: one of them at *at, which moves past it; false at the end or when a length
 * goes past it. */
bool types_next_bytes(struct str data, size_t *at, struct str *ret);
/* Whether data is just so many elements. */
bool types_count_bytes(struct str data, uint64_t elements);

double types_from_half(uint16_t bits);
uint16_t types_to_half(double v);
double types_from_bfloat(uint16_t bits);
uint16_t types_to_bfloat(double v);

#endif
