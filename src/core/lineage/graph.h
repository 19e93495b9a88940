/* The nodes and edges of one answer, and how they are written. */
#ifndef INGOT_CORE_LINEAGE_GRAPH_H
#define INGOT_CORE_LINEAGE_GRAPH_H

#include "core/lineage/lineage.h"

enum graph_how { GRAPH_SEEN, GRAPH_HIDDEN, GRAPH_GONE };

struct graph_node {
    const struct kind *kind; /* NULL: a sample */
    int64_t id;
    int64_t depth; /* steps: below 0 up, above 0 down */
    enum graph_how how;
    struct object o; /* GRAPH_SEEN; but of a sample or a person, who are told by */
    bool only_named;
    struct str name;
    int64_t of, project; /* a sample's version, and that one's project */
};

struct graph_edge {
    size_t from, to; /* places of nodes */
    const char *as;
};

struct graph {
    struct core *core;
    const struct caller *caller;
    struct db_conn *conn; /* one snapshot */
    struct arena *arena;
    struct graph_node node[LINEAGE_NODES];
    size_t node_count;
    struct graph_edge *edge; /* in the arena, room for `edge_room` */
    size_t edge_count, edge_room;
    bool more;
};

/* Reads the object with the caller's rights; *ret is its place, or SIZE_MAX when there is no room (then
 * `more` is set). near: who leads to it; hidden ones of the same near and `as` are one. */
bool graph_add(struct graph *g, const struct kind *k, int64_t id, int64_t depth, size_t near, const char *as,
               size_t *ret, struct err *err);
/* An edge that is there already is not added again. */
void graph_join(struct graph *g, size_t from, size_t to, const char *as);
bool graph_knows(const struct graph *g, const struct kind *k, int64_t id);
bool graph_write(struct graph *g, struct buf *out, struct err *err);

#endif
