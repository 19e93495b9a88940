/* The main graph of a checked ONNX file in memory, between the walk (onnx_walk.c) and the summary: nodes,
 * tensors by name with what is known of their shapes. Internal to src/model. */
#ifndef INGOT_MODEL_ONNX_GRAPH_H
#define INGOT_MODEL_ONNX_GRAPH_H

#include "base/map.h"
#include "model/onnx.h"

#define ONNX_KNOWN_VALUES 16 /* elements of small integer tensors that are followed: shapes, axes */
#define ONNX_KNOWN_REALS  8

struct onnx_tensor {
    struct str name;
    int type;
    int rank;                    /* -1: unknown */
    int64_t dims[ONNX_MAX_DIMS]; /* -1: unknown */
    bool weight;                 /* an initializer, or a Constant */
    bool counted;                /* its parameters were counted with a node */
    uint64_t elements, bytes;    /* of weights */
    int n_values;                /* -1: unknown */
    int64_t values[ONNX_KNOWN_VALUES];
    int n_reals; /* small float tensors: scales of Resize; -1: unknown */
    float reals[ONNX_KNOWN_REALS];
};

struct onnx_node {
    struct str op, domain, name;
    struct str bytes;                       /* the message, for its attributes */
    struct onnx_tensor **inputs, **outputs; /* NULL: an optional one that is left out */
    size_t n_inputs, n_outputs;
};

size_t onnx_type_bits(int type); /* of one element; 0: not fixed */

/* Reads a TensorProto: dimensions, type, and small integers; false with the reason when its data are not as
 * many bytes as it says. ret->name is borrowed. */
bool onnx_tensor_read(struct str bytes, struct onnx_tensor *ret, const char **ret_why);

/* Attributes of a node. */
bool onnx_attribute(const struct onnx_node *n, const char *name, struct str *ret);
int64_t onnx_attribute_int(const struct onnx_node *n, const char *name, int64_t otherwise);
/* Numbers of a list, at most `max`; -1 when the node has none of that name. */
int onnx_attribute_ints(const struct onnx_node *n, const char *name, int64_t *ret, int max);
struct str onnx_attribute_text(const struct onnx_node *n, const char *name);

/* Works out the shapes of the outputs of a node from its inputs, as far as it goes. */
void onnx_shape_node(const struct onnx_node *n);
/* Multiply-adds of a node: 0 for operators without, -1 when a shape is not known. */
int64_t onnx_cost_node(const struct onnx_node *n);

#endif
