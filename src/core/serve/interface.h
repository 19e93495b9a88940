/* What a service of a model takes and answers, as the files of its model version say: the task, the
 * thresholds and the sample of its manifest, and the tensors of its graphs. Commands in images say nothing of
 * themselves. Everything lives in the arena given. */
#ifndef INGOT_CORE_SERVE_INTERFACE_H
#define INGOT_CORE_SERVE_INTERFACE_H

#include "core/engine.h"
#include "model/manifest.h"

struct serve_tensor {
    struct str name;
    const char *type;    /* as the v2 protocol calls it: "FP32" */
    size_t element_size; /* bytes; 0: texts, which have no fixed one */
    const struct onnx_dim *dims;
    size_t n_dims;
};

/* One graph, as the v2 protocol knows it. */
struct serve_graph {
    const char *name; /* "fruit", of a model with several parts "fruit.detector" */
    struct serve_tensor *inputs, *outputs;
    size_t n_inputs, n_outputs;
};

struct serve_interface {
    int64_t model_set, model_version;
    bool described;                 /* it has a manifest, and so the next ones */
    bool predicts;                  /* it has predict */
    struct model_manifest manifest; /* without what it names beside its graphs */
    struct serve_graph *graphs;
    size_t n_graphs;
};

/* Of the version of a service that is served by ingot-infer and is called `name` by callers. False with
 * ERR_NOT_FOUND when it was deleted. */
bool serve_interface_read(struct core *core, int64_t service_version, const char *name, struct arena *a,
                          struct serve_interface *ret, struct err *err);

/* What it takes: of its first part. */
enum model_input_kind serve_interface_takes(const struct serve_interface *in);

/* A dimension to try it with: of those that are free the first is 1, others are 64. */
int64_t serve_tensor_dim(const struct serve_tensor *t, size_t i);
/* The bytes of such a tensor; 0 when they are not known or more than 1 GiB. */
size_t serve_tensor_size(const struct serve_tensor *t);

void serve_interface_write(const struct serve_interface *in, struct json_out *out);

#endif
