/* What the files of task/ share. */
#ifndef INGOT_CORE_TASK_TASKS_OWN_H
#define INGOT_CORE_TASK_TASKS_OWN_H

#include "core/task/task.h"
#include "store/store.h"

#include <pthread.h>
#include <stdatomic.h>

/* One run of a task, on the list of the running ones. */
struct task_run {
    struct task task;
    struct arena arena;
    const struct task_type *type;
    atomic_bool cancelled, stopping; /* by a person; because the server stops */
    int64_t done, total, problems;
    uint64_t kept_at; /* clock_mono of the last kept progress */
    struct blob_writer *report;
    struct err report_err; /* the first failure to write it */
    struct str result;
    bool has_output;
    struct digest output;
    struct str output_name;
    struct task_run *next;
};

struct tasks {
    struct core *core;
    pthread_mutex_t lock;
    pthread_cond_t work;
    bool stop, again; /* again: look at the table */
    struct task_run *running;
    unsigned threads;
    pthread_t *thread;
};

const struct task_type *task_type_named(struct str name); /* NULL: none */

/* Tells a running task to end; harmless for others. */
void tasks_cancel(struct tasks *ts, int64_t id);

/* --- rows (task_row.c) --- */
/* Takes the oldest waiting task into the state running; *found false when there is none. */
bool task_take(struct core *core, struct arena *a, struct object *ret, bool *found, struct err *err);
/* After a start: what was running waits again. */
bool task_requeue(struct core *core, struct err *err);
bool task_keep_progress(struct task_run *r, struct err *err);
/* state: "done", "failed", "cancelled", or "waiting" when the server stops. Stores the report. */
bool task_end(struct task_run *r, const char *state, const struct err *why, struct err *err);

#endif
