/* Rules of shapes that onnx_shape.c has rows for, of operators that move dimensions about
 * (onnx_shape_move.c), and small integers followed through the graph (onnx_values.c). Internal to src/model.
 */
#ifndef INGOT_MODEL_ONNX_SHAPES_H
#define INGOT_MODEL_ONNX_SHAPES_H

#include "model/onnx_graph.h"

struct onnx_window {
    int spatial;
    int64_t kernel[ONNX_MAX_DIMS], stride[ONNX_MAX_DIMS], dilation[ONNX_MAX_DIMS], pads[2 * ONNX_MAX_DIMS];
    bool same, valid;
};
/* How a convolution (w: its weights) or a pooling (w: NULL) goes over its input. */
struct onnx_window onnx_window_of(const struct onnx_node *n, const struct onnx_tensor *w, int spatial);
void onnx_broadcast(const struct onnx_tensor *x, const struct onnx_tensor *y, struct onnx_tensor *ret);
const struct onnx_tensor *onnx_second_matrix(const struct onnx_node *n);

void onnx_shape_reshape(const struct onnx_node *n);
void onnx_shape_squeeze(const struct onnx_node *n);
void onnx_shape_unsqueeze(const struct onnx_node *n);
void onnx_shape_slice(const struct onnx_node *n);
void onnx_shape_gather(const struct onnx_node *n);
void onnx_shape_shape(const struct onnx_node *n);
void onnx_shape_expand(const struct onnx_node *n);
void onnx_shape_pad(const struct onnx_node *n);
void onnx_shape_resize(const struct onnx_node *n);
void onnx_shape_split(const struct onnx_node *n);
void onnx_shape_of_shape(const struct onnx_node *n);
void onnx_shape_depth_to_space(const struct onnx_node *n);
void onnx_shape_reduce(const struct onnx_node *n);

/* Follows the values of small integer tensors, so that Shape, Gather, Concat, Reshape chains are known. */
void onnx_shape_values(const struct onnx_node *n);

#endif
