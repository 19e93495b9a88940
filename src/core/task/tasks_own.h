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
    struct object object;         /* its row as it was taken */
    const struct task_type *type; /* NULL: this program does not know it */
    atomic_bool cancelled;        /* by a person */
    atomic_bool stopping;         /* it is to end at once: because the server stops, or as it is late */
    atomic_bool late;             /* it took longer than its type may */
    int64_t begun;                /* clock_now */
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
    struct pool *threads;
    pthread_mutex_t lock;
    struct task_run *running; /* also those that wait for their thread; under the lock */
};

/* A task that may start. */
struct task_choice {
    int64_t id, project;
    const struct task_type *type; /* NULL: this program does not know it */
};

/* Tells a running task to end; harmless for others. */
void tasks_cancel(struct tasks *ts, int64_t id);

/* --- rows (task_row.c) --- */
/* Of each type and project the oldest that waits and whose object no other task works on: two imports into
 * one version come one after the other. */
bool task_waiting(struct core *core, struct arena *a, struct task_choice **ret, size_t *ret_n,
                  struct err *err);
/* Takes it into the state running; *found false when it does not wait any more. */
bool task_take(struct core *core, struct arena *a, int64_t id, struct object *ret, bool *found,
               struct err *err);
/* After a start: what was running waits again. */
bool task_requeue(struct core *core, struct err *err);
bool task_keep_progress(struct task_run *r, struct err *err);
/* state: "done", "failed", "cancelled", or "waiting" when the server stops. Stores the report. */
bool task_end(struct task_run *r, const char *state, const struct err *why, struct err *err);

#endif
