/* Putting what an import read into its version. */
#include "base/messages.h"
#include "core/data/import_own.h"

/* Puts what is left of the batch, until others wait: samples first, then what waits for samples. */
static bool put_write(struct op *op, void *ctx, struct err *err)
{
    struct import *m = ctx;
    size_t i = m->put, k = m->kept;
    struct sample_putting *p = sample_put_begin(op, &m->set, err);
    bool ok = p != NULL, on = true;
    for (; ok && on && i < m->batched; i++, on = conn_goes_on(op->conn))
        ok = import_undo_note(op, &m->undo, &m->set, &m->batch[i], err) &&
             sample_put(p, &m->batch[i], &m->fates[i], err);
    if (!p || !sample_put_end(p, ok, err))
        return false;
    for (; on && k < m->waits; k++, on = conn_goes_on(op->conn))
        if (!import_undo_note_wait(op, &m->undo, &m->set, m->waiting[k].name, err) ||
            !sample_wait(op, &m->set, &m->waiting[k], 1, err))
            return false;
    m->put_next = i;
    m->kept_next = k;
    return true;
}

/* Counts what became of the batch, and reports what concerns the work of people. */
static void tell_fates(struct import *m)
{
    for (size_t i = 0; i < m->batched; i++) {
        enum sample_fate fate = m->fates[i];
        m->fated[fate]++;
        m->annotated += fate == SAMPLE_KEPT ? 0 : m->annotations[i];
        if (fate == SAMPLE_KEPT)
            task_note(m->task, m->batch[i].name, NULL, MESSAGE_LABELS_KEPT);
        else if (fate == SAMPLE_REPLACED)
            task_note(m->task, m->batch[i].name, NULL, MESSAGE_LABELS_REPLACED);
    }
}

static bool flush(struct import *m, struct err *err)
{
    while (m->put < m->batched || m->kept < m->waits) {
        auto_arena struct arena a;
        arena_init(&a);
        if (!engine_write(m->task->core, &m->task->caller, &a, put_write, m, err))
            return false;
        m->put = m->put_next;
        m->kept = m->kept_next;
    }
    tell_fates(m);
    m->done += (int64_t)m->batched;
    m->waited += (int64_t)m->waits;
    m->batched = m->waits = m->put = m->kept = 0;
    arena_release(&m->batch_arena);
    arena_init(&m->batch_arena);
    return true;
}

bool import_put_all(struct import *m, struct err *err)
{
    bool done = false;
    arena_release(&m->batch_arena);
    arena_init(&m->batch_arena);
    if (!spool_rewind(m->spool, err) || !import_undo_begin(m->task, &m->set, &m->undo, err) ||
        !blob_batch_known(m->files.batch, err))
        return false;
    while (!done) {
        struct spool_item item;
        if (!spool_next(m->spool, &m->batch_arena, &item, &done, err))
            return false;
        item.sample.replace = m->replace;
        if (!done && item.waits)
            m->waiting[m->waits++] = item.waiting;
        else if (!done) {
            m->annotations[m->batched] = item.annotations;
            m->batch[m->batched++] = item.sample;
        }
        bool full = m->batched == IMPORT_BATCH || m->waits == IMPORT_BATCH;
        if ((full || done) && (!flush(m, err) || !import_progress(m, m->done, m->read, 3, err)))
            return false;
    }
    return blob_batch_flush(m->files.batch, err);
}