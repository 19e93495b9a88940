/* Training (T1-T4, T6): a definition says what is run; each start makes an instance, which runs as a job
 * (core/job/owner.h) and whose state follows the job's. Inside, /workspace is the container's own, but for
 *
 *   /workspace/algorithm              the code, read-only; commands run in it when there is one
 *   /workspace/dataset/<name>         each dataset version, read-only
 *   /workspace/model/<name>           the base model, read-only
 *   /workspace/persistent-model       becomes a version of `save_to`; kept below <data>/training
 *   /workspace/logs                   for TensorBoard; kept likewise
 *   /workspace/checkpoint             what the instance left that this one was resumed from, read-only
 *
 * The values of its parameters are in the variable INGOT_PARAMETERS, never in the command.
 * An instance keeps what it was started with, so that a definition may change while it runs. What follows the
 * end of a job (reading the rest of the metrics, saving the model) and what precedes that of a resumed one
 * (copying its checkpoint) are tasks (core/task/task.h): a server that is killed goes on with them. */
#ifndef INGOT_CORE_TRAINING_TRAINING_H
#define INGOT_CORE_TRAINING_TRAINING_H

#include "core/job/owner.h"
#include "core/task/task.h"
#include "core/training/cause.h"

#include <pthread.h>

extern const struct kind kind_training, kind_training_instance;
extern const struct choice training_launchers[], training_functions[];
/* Of the actions that start a run. */
extern const struct field training_start_fields[];
extern const struct job_owner training_owner;
extern const struct task_type task_training_end, task_training_resume;

/* "<data>/training/<id>-<created_at>/<part>"; part "" for the folder of all. The time is in it because a
 * platform that was restored from a backup gives ids again, and must not find another's files. */
const char *training_path(const struct core *core, struct arena *a, const struct object *instance,
                          const char *part);

/* --- what the algorithm gives (fill.c) --- */
struct training_filled {
    const char *image;
    struct str command, parameters; /* parameters: a JSON object, for INGOT_PARAMETERS */
};
/* Outside of writes. given: parameters (JSON) in place of the training's own, or empty. With `start` all that
 * a run needs must be there; without, what there is must be right. */
bool training_fill(struct core *core, const struct object *training, struct str given, bool start,
                   struct arena *a, struct training_filled *ret, struct err *err);
/* One JSON object of two (either may be empty): the usual values with those given in their place; null is as
 * if it were not given. */
bool training_join(struct arena *a, struct str usual, struct str given, struct str *ret, struct err *err);
/* The image of a runtime by its name; ERR_CONFLICT with what to do when it cannot be used. */
bool training_runtime(struct core *core, struct str name, struct arena *a, const char **ret, struct err *err);

/* --- starting (start.c) --- */
/* Makes an instance of the training; former is the instance to go on from, or 0; parameters (JSON) are in
 * place of the training's own, or empty. */
bool training_start(struct op *op, int64_t training, int64_t former, struct str parameters,
                    struct object *ret, struct err *err);
/* Inside a write: the job of an instance that has none yet. */
bool training_submit(struct op *op, struct object *instance, struct err *err);

/* --- lineage (lineage.c) --- */
/* What the instance is made of, as JSON; inside a write. image: the digest of its image, "" of `host`. */
bool training_lineage(struct op *op, const struct object *training, const struct object *instance,
                      const char *image, struct str *ret, struct err *err);
/* {"data":[...],"code":{},"image",...,"model_version":{}}: the same with what came of it. */
bool training_lineage_write(struct op *op, const struct object *instance, struct json_out *out,
                            struct err *err);

/* --- metrics (metrics.c) --- */
/* One reader or writer of an instance's metrics at a time: to be unlocked. */
pthread_mutex_t *training_metrics_lock(int64_t instance);
/* Reads what the log has that was not read yet (at most some 64 MB: *ret_more says that there is more; NULL
 * allowed). */
bool training_metrics_read(struct core *core, const struct object *instance, struct arena *a, bool *ret_more,
                           struct err *err);
struct metrics_query {
    int64_t points;  /* of each name at most; 0: all, as far as an answer can have them: a million */
    struct str name; /* of that alone, if it has bytes */
    double from, to; /* steps, both included; may be infinite */
};
/* {"series":[{"name","points":[[step,at,value],...]}]} by name, thinned so that peaks stay. */
bool training_metrics_write(struct core *core, int64_t instance, const struct metrics_query *of,
                            struct arena *a, struct json_out *out, struct err *err);
/* metrics_move.c: brings in what a program from before has kept of the instance. */
bool metrics_move(struct core *core, int64_t instance, struct err *err);
bool training_metrics_delete(struct db_conn *c, int64_t instance, struct err *err);

/* --- failures (cause_read.c) --- */
/* What the end of a failed job's log tells, whoever it ran for. */
void training_cause_find(struct core *core, const struct object *job, struct arena *a, struct cause *ret);
/* Of an instance that failed: {"id","sentence","sentence_zh","detail","lines"} becomes its field `cause`. */
bool training_cause_keep(struct core *core, const struct object *instance, struct arena *a, struct err *err);
struct str training_cause_json(struct arena *a, const struct cause *c);
/* outputs.c: a completed run that did not leave what its algorithm declared has a cause that says so. Its
 * metrics are read, and its files are still there. */
bool training_outputs_check(struct core *core, const struct object *instance, struct arena *a,
                            struct err *err);

/* --- what the saved model can (evaluate.c) --- */
/* Begins the evaluation of a version that has ingot-model.json and a split.json with test files, unless there
 * is one. What keeps it from that is told in the task's report. */
bool training_evaluate(struct task *t, const struct object *instance, int64_t version, struct err *err);

/* --- files (files.c) --- */
/* Copies a tree to a folder that does not exist yet: under another name first, then renamed. */
bool training_copy(const char *from, const char *to, struct task *t, struct err *err);
/* --- limits (guard.c) --- */
/* Bytes of all files that the instance has written. */
bool training_size(const struct core *core, struct arena *a, const struct object *instance, int64_t *ret,
                   struct err *err);
/* ERR_QUOTA when so many bytes more are too many for the project's storage, or the disk is full. */
bool training_admit(struct core *core, int64_t project, int64_t bytes, struct err *err);
/* The same for the bytes of an instance itself, of which some are counted already. */
bool training_admit_own(struct core *core, const struct object *instance, int64_t bytes, struct err *err);

#endif
