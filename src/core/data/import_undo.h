/* What an import changed while it puts its samples, kept until it is over, so that a cancelled or failed one
 * leaves nothing behind. Samples are put in many writes; each notes in the same write what it is about to
 * change. Added samples are known by their position: one task at a time works on a version. A server that was
 * killed finds all of it again. */
#ifndef INGOT_CORE_DATA_IMPORT_UNDO_H
#define INGOT_CORE_DATA_IMPORT_UNDO_H

#include "core/data/sample.h"
#include "core/task/task.h"

struct import_undo {
    int64_t task;
    int64_t from; /* the first position that is the import's */
    bool waiting; /* annotations wait in the version */
};

/* Before the first write of a run, or of one that goes on after a restart. */
bool import_undo_begin(struct task *t, const struct sample_set *set, struct import_undo *ret,
                       struct err *err);
/* Inside the write that puts a sample, or keeps what waits for one of this name, before it does. */
bool import_undo_note(struct op *op, const struct import_undo *u, const struct sample_set *set,
                      const struct sample_new *s, struct err *err);
bool import_undo_note_wait(struct op *op, struct import_undo *u, const struct sample_set *set,
                           struct str name, struct err *err);
/* The import is done: nothing will be taken back any more. */
bool import_undo_forget(struct task *t, struct err *err);
/* Takes back everything that was noted, in short writes; samples that a user changed since are
 * left as they are, and reported. Does nothing when nothing was put. */
bool import_undo_run(struct task *t, const struct sample_set *set, struct err *err);

#endif
