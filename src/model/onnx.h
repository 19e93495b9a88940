/* What an ONNX file has inside, by our own walk over its protobuf wire format: bounded in depth, counts and
 * sizes, without copying weights. Every file that reaches ONNX Runtime was accepted here: data and paths
 * outside of the file (external_data) are refused wherever a tensor may stand, as are truncated files,
 * lengths that lie, and graphs nested too deep. */
#ifndef INGOT_MODEL_ONNX_H
#define INGOT_MODEL_ONNX_H

#include "base/json.h"

#define ONNX_MAX_BYTES  ((size_t)2 << 30) /* protobuf's own limit */
#define ONNX_MAX_DEPTH  16                /* of graphs, functions and attributes inside each other */
#define ONNX_MAX_NODES  1000000           /* of the whole file; also of tensors and of values */
#define ONNX_MAX_VALUES 4096              /* inputs, and outputs */
#define ONNX_MAX_DIMS   16
#define ONNX_MAX_NAME   1024 /* bytes of a name that is kept */

/* A type of elements as ONNX numbers them; the table has name and size. */
enum {
    ONNX_UNDEFINED,
    ONNX_FLOAT,
    ONNX_UINT8,
    ONNX_INT8,
    ONNX_UINT16,
    ONNX_INT16,
    ONNX_INT32,
    ONNX_INT64,
    ONNX_STRING,
    ONNX_BOOL,
    ONNX_FLOAT16,
    ONNX_DOUBLE,
    ONNX_UINT32,
    ONNX_UINT64,
    ONNX_COMPLEX64,
    ONNX_COMPLEX128,
    ONNX_BFLOAT16,
    ONNX_FLOAT8E4M3FN,
    ONNX_FLOAT8E4M3FNUZ,
    ONNX_FLOAT8E5M2,
    ONNX_FLOAT8E5M2FNUZ,
    ONNX_UINT4,
    ONNX_INT4,
    ONNX_FLOAT4E2M1,
    ONNX_TYPE_COUNT
};
const char *onnx_type_name(int type); /* "float32"; "unknown" beyond the table */

struct onnx_dim {
    int64_t value;     /* -1: not fixed */
    struct str symbol; /* its name, when it has one ("batch") */
};

struct onnx_value {
    struct str name;
    int type; /* of elements */
    bool has_shape;
    size_t n_dims;
    struct onnx_dim dims[ONNX_MAX_DIMS];
};

struct onnx_operator {
    struct str domain, name; /* domain "" is ONNX's own */
    uint64_t count;
};

/* A node with weights: what a layer costs. */
struct onnx_layer {
    struct str name; /* the node's, or its first output's */
    struct str op;
    uint64_t parameters; /* elements of its initializers; those that several nodes share count once */
    uint64_t bytes;
    int64_t multiply_adds; /* -1: unknown, as a shape is not fixed */
};

struct onnx_opset {
    struct str domain;
    int64_t version;
};

struct onnx_summary {
    int64_t ir_version;
    struct str producer, producer_version, graph;
    struct onnx_opset *opsets;
    size_t n_opsets;
    struct onnx_value *inputs; /* without those that have an initializer */
    size_t n_inputs;
    struct onnx_value *outputs;
    size_t n_outputs;
    struct onnx_operator *operators; /* most frequent first; nodes of subgraphs and functions too */
    size_t n_operators;
    struct onnx_layer *layers; /* in the order of the graph; nodes with parameters or multiply-adds */
    size_t n_layers;
    uint64_t nodes, parameters, bytes, weight_bytes;
    int64_t multiply_adds;  /* of what is known; with free dimensions as `assumed` says */
    uint64_t unknown_nodes; /* that would count but whose shapes are not fixed */
    bool assumed_batch;     /* the free first dimension of inputs was taken as 1 */
};

/* The summary of a file. Texts are copied to the arena, so that the file may go. ERR_INVALID with field
 * "file" and what is wrong. */
bool onnx_summarize(struct arena *a, struct str file, struct onnx_summary *ret, struct err *err);

/* The same checks without the summary: what is done before a file is given to ONNX Runtime. */
bool onnx_check(struct str file, struct err *err);

void onnx_summary_write(const struct onnx_summary *s, struct json_out *out);

/* What differs between two: {"same":bool,"inputs":{added,removed,changed},"operators":[...],...}. */
void onnx_summary_compare(const struct onnx_summary *before, const struct onnx_summary *after,
                          struct arena *a, struct json_out *out);

#endif
