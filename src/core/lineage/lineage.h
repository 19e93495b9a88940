/* Where an object came from and what came of it: one walk over the table of relations (relation.h), for every
 * kind in it.
 *
 * Up go the sources of sources, down what was made of what was made; never down again from a source, so what
 * merely shares one is not in the graph. An object that the caller may not read is there as one without name
 * and id, one for each way that leads to such objects, and nothing behind it; one that was deleted is there
 * by its id alone. */
#ifndef INGOT_CORE_LINEAGE_LINEAGE_H
#define INGOT_CORE_LINEAGE_LINEAGE_H

#include "core/engine.h"

#define LINEAGE_NODES       500
#define LINEAGE_DEPTH       20
#define LINEAGE_DEPTH_USUAL 6

struct lineage_query {
    struct str kind; /* of the table, or "sample" */
    int64_t id;
    int64_t depth; /* steps away from it at most */
    bool up, down;
};
/* Writes {"nodes": [...], "edges": [...], "more": bool}; docs/lineage.md. ERR_NOT_FOUND when the caller may
 * not read the object itself. */
bool lineage_write(struct core *core, const struct caller *c, const struct lineage_query *q, struct arena *a,
                   struct buf *out, struct err *err);

#endif
