/* Nodes are the machines that run containers. They are found by themselves: the controller of jobs writes
 * down what the executor tells of each. People drain them, and put them into pools that are reserved to
 * projects. */
#ifndef INGOT_CORE_COMPUTE_NODE_H
#define INGOT_CORE_COMPUTE_NODE_H

#include "core/engine.h"
#include "exec/exec.h"

extern const struct kind kind_node, kind_node_pool;

/* Makes the rows match the executor's nodes; those that it no longer knows are lost. Writes only what has
 * changed. */
bool node_sync(struct core *core, const struct exec_node *nodes, size_t n, struct arena *a, struct err *err);

#endif
