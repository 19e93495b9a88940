/* Nodes are the machines that run containers. They are found by themselves: the controller of jobs writes
 * down what the executor tells of each. People drain them, and put them into pools that are reserved to
 * projects. */
#ifndef INGOT_CORE_COMPUTE_NODE_H
#define INGOT_CORE_COMPUTE_NODE_H

#include "core/engine.h"
#include "exec/exec.h"

extern const struct kind kind_node, kind_node_pool;
extern const struct action node_actions[]; /* core/node_actions.c */

/* Makes the rows match the executor's nodes; those that it no longer knows are lost. Writes only what has
 * changed. */
bool node_sync(struct core *core, const struct exec_node *nodes, size_t n, struct arena *a, struct err *err);

/* --- what they use (node_curves.c): series ("node", id, "", "cpu" cores, "memory" and "disk" bytes) --- */
struct node_curves;
struct node_curves *node_curves_new(struct core *core);
void node_curves_free(struct node_curves *c); /* NULL allowed */
/* What a node used when it was looked at last, by whomever. */
struct node_load {
    double cpus;
    int64_t memory, disk, disk_free; /* bytes; disk: used of all there is */
};
/* False: it is not known yet, or the node is lost. Any thread. */
bool node_load(struct node_curves *c, int64_t node, struct node_load *ret);
/* Once a second. */
bool node_curves_tick(struct node_curves *c, struct exec *x, struct err *err);
/* The action `curves` of a node and its input. */
extern const struct field node_curves_fields[];
bool node_show_curves(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                      int *status, struct err *err);

#endif
