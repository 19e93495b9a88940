/* What happened to samples, operation by operation, without end. An operation is a row; those of samples left
 * alone are packed (operation_pack.h). What replaced a whole annotation without an operation (imports, PUT)
 * has none: the state before it is a row of sample_history, and so is the state before the first operation
 * that follows. So every earlier revision can be made again: the nearest state before it, and the operations
 * since. Layers have no history of states: what stood there before the first operation is an operation
 * without a client. */
#ifndef INGOT_CORE_DATA_OPERATION_LOG_H
#define INGOT_CORE_DATA_OPERATION_LOG_H

#include "core/data/operation_pack.h"

/* Where operations go, as its row says: a sample, or a layer's part of it. */
struct operation_place {
    int64_t sample, layer, version;
    int64_t revision; /* now */
    int64_t pack;     /* the newest that has operations of it; 0: none */
};

bool operation_log_add(struct db_conn *c, const struct operation_place *p, const struct operation_entry *e,
                       struct err *err);
/* Whether one with that id is known, and which revision it made. With packs: those are looked through too. */
bool operation_log_find(struct db_conn *c, struct arena *a, const struct operation_place *p,
                        struct str client, int64_t number, bool packs, int64_t *ret_revision, bool *found,
                        struct err *err);
/* Whether any packed operation is of that client. */
bool operation_log_packs_name(struct db_conn *c, struct arena *a, const struct operation_place *p,
                              struct str client, bool *ret, struct err *err);
/* Whether another client than `client` changed what `target` names after the revision `base`. */
bool operation_log_meets(struct db_conn *c, struct arena *a, const struct operation_place *p, int64_t base,
                         struct str client, struct str target, bool *ret, struct err *err);

/* Those with a revision between (low, high), at most limit: the newest, or with `oldest` the oldest. In the
 * order of revisions. Revisions that no operation made are left out. c may be NULL: then on snapshots of
 * their own. */
bool operation_log_range(struct db *db, struct db_conn *c, struct arena *a, const struct operation_place *p,
                         int64_t low, int64_t high, size_t limit, bool oldest, struct operation_entry **ret,
                         size_t *ret_n, struct err *err);
/* The same without gaps: a revision that no operation made is one of no client, whose "op" is "create" (the
 * first), "replace" (both with the annotation) or "state" (only that changed). `now` is the sample's row. */
bool operation_log_whole(struct db *db, struct arena *a, const struct operation_place *p,
                         const struct sample *now, int64_t low, int64_t high, size_t limit, bool oldest,
                         struct operation_entry **ret, size_t *ret_n, struct err *err);
/* The operation as clients see it, with its id. */
bool operation_log_text(struct arena *a, const struct operation_entry *e, struct str *ret, struct err *err);
/* The sample as it was at a revision from 1 to the one it has. ERR_NOT_FOUND when that is not known. */
bool operation_log_state(struct db *db, struct arena *a, const struct operation_place *p,
                         enum annotation_type type, const struct sample *now, int64_t revision,
                         struct sample_past *ret, struct err *err);

#endif
