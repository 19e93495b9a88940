/* Long work of the platform itself: imports, exports, preprocessing, copies. A task is an object of the kind
 * `task`, so it is listed, watched and audited like any other; the controller `tasks` starts what waits,
 * oldest first, as many at once as the rows of the types say; a project never has all places, so its slow
 * work does not hold up the others'. Progress and a running estimate are shown while it runs; it can be
 * cancelled; it ends in a report of everything that was skipped.
 *
 * A server that is killed finds tasks in the state `running` at its next start and runs them again from the
 * beginning, so `run` begins by looking at what is there already: going on or starting over are both fine, a
 * half result is not. */
#ifndef INGOT_CORE_TASK_TASK_H
#define INGOT_CORE_TASK_TASK_H

#include "core/engine.h"

extern const struct kind kind_task;

struct task;

/* One kind of work. The registry is the array in core/task_types.c. */
struct task_type {
    const char *name;
    struct words title;
    bool (*run)(struct task *t, struct err *err);
    /* Takes back what a failed or cancelled run left, in the same thread; may be NULL. */
    void (*undo)(struct task *t);
    bool undo_always; /* also of one that was cancelled before it ran */
    unsigned at_once; /* so many run at a time; 0: TASK_AT_ONCE */
    unsigned hours;   /* a run that takes longer fails; 0: TASK_HOURS. The configuration may say otherwise. */
};
#define TASK_AT_ONCE 3
#define TASK_HOURS   24
#define TASKS_MAX    16 /* of all types together, each on a thread of its own */
extern const struct task_type *const task_types[];
extern const size_t task_type_count;
const struct task_type *task_type_named(struct str name); /* NULL: none */

/* What `run` may use. */
struct task {
    struct core *core;
    struct arena *arena;  /* lives as long as the run */
    struct caller caller; /* the user that started it */
    int64_t id, project;
    int64_t subject; /* id of the object it works on */
    yyjson_val *params;
    struct task_run *own;
};

/* Inside a write: makes a task that is run after the commit. params: JSON object text. */
struct task_new {
    const char *type;
    int64_t project;
    const char *subject_kind; /* name of the kind, for links */
    int64_t subject;
    struct words name; /* shown to people: "Import train.zip"; of task_name */
    struct str params;
};
struct words task_name(struct arena *a, const char *id, const char *en, const char *zh, ...) printf_like(3, 5)
    printf_like(4, 5);
bool task_create(struct op *op, const struct task_new *n, int64_t *ret_id, struct err *err);
/* The same as a write of its own. */
bool task_start(struct core *core, const struct caller *c, const struct task_new *n, struct arena *a,
                int64_t *ret_id, struct err *err);

/* From run. Progress is kept at most once a second; false (with ERR_CONFLICT) when the task was cancelled:
 * return it. */
bool task_progress(struct task *t, int64_t done, int64_t total, struct err *err);
/* A line of the report. position: "line 7", "record 12", or NULL. */
void task_problem(struct task *t, struct str file, const char *position, const char *fmt, ...)
    printf_like(4, 5);
/* The same with a sentence of base/messages.h, in both languages. */
void task_note(struct task *t, struct str file, const char *position, const char *id, const char *en,
               const char *zh, ...) printf_like(5, 7) printf_like(6, 7);
/* The same with an error's sentence. */
void task_note_err(struct task *t, struct str file, const char *position, const struct err *why);
/* JSON object text with counts, shown with the finished task. */
void task_result(struct task *t, struct str json);

/* The task's product, a blob to be downloaded as name; it is kept while the task is. */
struct digest;
void task_output(struct task *t, const struct digest *d, struct str name);

/* May one more start where so many run already, so many of them for its project? Half of the places at most
 * are one project's, and the last free one is for a project that has none. */
bool task_fits(unsigned limit, unsigned running, unsigned of_project);

#endif
