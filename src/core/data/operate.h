/* Operations on samples inside a write: the one function that applies, checks for replays and conflicts,
 * keeps history, counters and labels, raises the revision by one and notes what the sample's room is told
 * after the commit. A label that its set has renamed meanwhile is taken under its new name: work done offline
 * arrives late. What replaces whole annotations (sample_change, sample_put and the like) goes by
 * sample_put.c, with the same history, counters and notes.
 *
 * The row of a sample always has its annotation as it is now, so that lists, exports, publishing, copies and
 * trainings see every acknowledged operation without knowing of any. That costs one write of the row's text
 * per operation; what would cost more, parsing it and spelling all its numbers again, is saved by document.h.
 */
#ifndef INGOT_CORE_DATA_OPERATE_H
#define INGOT_CORE_DATA_OPERATE_H

#include "codec/operation.h"
#include "core/data/label_rules.h"
#include "core/data/operation_log.h"

enum operate_state {
    OPERATE_APPLIED,
    OPERATE_ALREADY,
    OPERATE_CONFLICT,
    OPERATE_REFUSED,
    OPERATE_STATE_COUNT
};
extern const char *const operate_states[]; /* "applied", ... */

struct operate_item {
    int64_t sample, layer;           /* layer 0: the sample's own annotation */
    struct str json;                 /* as the client gave it */
    const struct operation *op;      /* read from it */
    const struct label_rules *rules; /* of the dataset's label set; NULL: they are not asked for */
    bool keep_state;                 /* the sample's state is a labelling task's, which changes it itself */
    bool platform; /* no client's: neither replay nor conflict, the sample's state stays; not when nothing
                      would change */
};

struct operate_result {
    enum operate_state state;
    int64_t revision; /* after it; of a replay the one it made; of a conflict the current one; 0: none */
    bool clipped;
    struct str shape;   /* as it is now, JSON; STR_NULL: there is none */
    struct str label;   /* of an operation `label` whose label has another name by now: that; else STR_NULL */
    struct err problem; /* of what was refused, and of conflicts */
};

/* False only when the database failed. */
bool operate(struct op *op, const struct sample_set *set, const struct operate_item *item,
             struct operate_result *ret, struct err *err);

/* The place of a sample's operations, read with its row; ERR_NOT_FOUND when there is none. */
bool operate_place(struct db *db, struct arena *a, int64_t version, int64_t sample, int64_t layer,
                   struct operation_place *ret, struct err *err);

/* One of "items" that rooms and histories show; by's name may be NULL. */
void operate_write_item(struct json_out *o, const struct operation_entry *e, const char *by,
                        struct str operation);

#endif
