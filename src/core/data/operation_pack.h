/* Operations of samples that were left alone, many to one compressed row. A row of a database costs more than
 * the few numbers that a stroke says, so sections of several samples share a pack: a sample's newest pack is
 * a column of its row, and each section names the pack before it.
 *
 * Compressed are, as numbers of variable length and texts behind their length: the ids of clients, then the
 * sections: sample, layer, pack before, the state before the first operation (or none), the operations. */
#ifndef INGOT_CORE_DATA_OPERATION_PACK_H
#define INGOT_CORE_DATA_OPERATION_PACK_H

#include "base/buf.h"
#include "core/data/sample.h"

#define OPERATION_PACK_MAX (64u << 20) /* bytes of a pack, not compressed */

/* One operation that happened. */
struct operation_entry {
    int64_t revision, at, by;
    enum sample_state state; /* of the sample afterwards */
    struct str client;       /* with number its id; empty: the platform's own */
    int64_t number;
    struct str target;
    struct str body; /* JSON, its member "id" empty */
};

struct operation_section {
    int64_t sample, layer, before; /* before: the pack with its earlier operations; 0: none */
    struct sample_past base;       /* revision 0: none */
    struct operation_entry *entries;
    size_t n;
};

/* Appends the compressed pack. */
bool operation_pack_write(struct buf *out, const struct operation_section *s, size_t n, struct err *err);
/* The section of a sample, in the arena; *found false when it has none there. ERR_INTERNAL when the pack is
 * damaged. */
bool operation_pack_read(struct arena *a, struct str data, int64_t sample, int64_t layer,
                         struct operation_section *ret, bool *found, struct err *err);

/* Packs the operations of all samples on which nobody worked since `alone_before`, of versions that have many
 * such or some from before `late_before` (microseconds). */
bool operation_pack_all(struct core *core, int64_t alone_before, int64_t late_before, struct err *err);

#endif
