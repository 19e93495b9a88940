/* Evaluations (M4): how good a model version, the model of a service version, or an annotation layer is on a
 * dataset version whose labels are the truth. A model is asked by a job of its own, in whose container
 * `ingot-infer predict` writes what it finds to a file; a task then holds that (or the layer) against the
 * truth (src/metric) and keeps two blobs: the report, and the details (metric/matches.h with a line of JSON
 * per sample), from which thresholds, samples and comparisons are answered.
 *
 *   pending -> running -> completed | failed;   stopping -> stopped
 *
 * Both are counted to the project like its other blobs and go with the evaluation; what the container wrote
 * goes when the report is there. */
#ifndef INGOT_CORE_EVALUATE_EVALUATE_H
#define INGOT_CORE_EVALUATE_EVALUATE_H

#include "core/job/owner.h"
#include "core/task/task.h"
#include "metric/matches.h"

extern const struct kind kind_evaluation;
extern const struct job_owner evaluation_owner;
extern const struct task_type task_evaluate;
extern const struct action evaluation_actions[];

#define EVALUATION_FOUND    "found.jsonl" /* files of its folder */
#define EVALUATION_LIST     "files.jsonl"
#define EVALUATION_PROGRESS "progress"

/* "<data>/evaluations/<id>-<created_at>[/part]"; the time is in it as ids may come again after a restore. */
const char *evaluation_path(const struct core *core, struct arena *a, const struct object *o,
                            const char *part);
bool evaluation_is_over(const struct object *o);
/* Inside a write: names it after what is evaluated: "fruit v3 on test v1". */
bool evaluation_name(struct op *op, struct object *o, struct err *err);

/* --- starting (start.c) --- */
/* Inside a write: its job, or its task where there is none to run. */
bool evaluation_begin(struct op *op, struct object *o, struct err *err);
/* Inside a write: the task that makes the report. */
bool evaluation_compare(struct op *op, struct object *o, struct err *err);
/* The model version that is asked; 0: a layer is compared. */
bool evaluation_model(struct op *op, const struct object *o, int64_t *ret, struct err *err);
/* Inside a write, of another part of the platform: a new one, begun. */
struct evaluation_new {
    int64_t project, created_by, model_version, dataset_version;
    const char *part; /* "all", "test" */
};
bool evaluation_create(struct op *op, const struct evaluation_new *n, int64_t *ret, struct err *err);
/* Whether the model and the data fit: evaluation_create does not ask. Outside writes. */
bool evaluation_check(struct op *op, const struct evaluation_new *n, struct err *err);
struct object evaluation_object(struct arena *a, const struct evaluation_new *n);
bool evaluation_drop_job(struct op *op, int64_t job, struct err *err);

/* --- which samples (part.c) --- */
struct evaluation_part;
/* Those that the evaluation is made of: labelled, in its part. Outside writes. */
bool evaluation_part_open(struct core *core, const struct object *o, struct evaluation_part **ret,
                          struct err *err);
void evaluation_part_close(struct evaluation_part *p);
struct sample;
typedef bool (*evaluation_sample_fn)(void *ctx, const struct sample *s, struct err *err);
bool evaluation_part_each(struct evaluation_part *p, evaluation_sample_fn fn, void *ctx, struct err *err);
/* How many samples were passed over since: not labelled; labelled by a model only. */
void evaluation_part_passed(const struct evaluation_part *p, int64_t *ret_unlabelled, int64_t *ret_machine);

/* --- what a model is (part.c) --- */
struct model_manifest;
/* Its ingot-model.json, in the arena. ERR_INVALID names what is wrong with the version. */
bool evaluation_manifest(struct core *core, int64_t model_version, struct arena *a,
                         struct model_manifest *ret, struct err *err);
/* The files of the version's split.json that are `part` ("test"), as a set: map of names. ERR_CONFLICT when
 * it has none. */
bool evaluation_split(struct core *core, int64_t model_version, const char *part, struct map **ret,
                      struct err *err);

/* --- reading a finished one (details.c) --- */
struct evaluation_details {
    struct matches *matches;
    char *index;
    int fd;        /* of the blob */
    int64_t texts; /* bytes before the index */
};
/* ERR_CONFLICT when it has no report yet. */
bool evaluation_report(struct core *core, const struct object *o, struct arena *a, struct str *ret,
                       struct err *err);
bool evaluation_details_open(struct core *core, const struct object *o, struct evaluation_details *ret,
                             struct err *err);
void evaluation_details_close(struct evaluation_details *d);
/* The line of one sample. */
bool evaluation_details_text(const struct evaluation_details *d, size_t sample, struct arena *a,
                             struct str *ret, struct err *err);
/* The score that the report was made with. */
double evaluation_score(yyjson_val *report);
/* The field latency; NULL: nobody measured it, as of a layer. */
yyjson_val *evaluation_latency(const struct object *o, struct arena *a);
/* As CSV, and as one HTML file (report_csv.c, report_html.c); lang: "en" or "zh". */
void evaluation_csv(yyjson_val *report, const struct object *o, const char *lang, struct buf *out);
void evaluation_html(yyjson_val *report, const struct object *o, const char *lang, struct buf *out);

#endif
