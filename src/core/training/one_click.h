/* One-click training: a dataset version and some minutes to a model. `plan` says beforehand what would be
 * done and what is doubtful; `train` makes the training, the model set that it saves to, and a run. */
#ifndef INGOT_CORE_TRAINING_ONE_CLICK_H
#define INGOT_CORE_TRAINING_ONE_CLICK_H

#include "core/folder/algorithm_file.h"
#include "core/training/training.h"

extern const struct field one_click_plan_fields[], one_click_train_fields[];
/* The actions. */
bool one_click_plan(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                    int *status, struct err *err);
bool one_click_train(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                     int *status, struct err *err);

/* --- what is planned (plan.c) --- */

enum plan_level { PLAN_ERROR, PLAN_WARNING, PLAN_NOTE };

/* A sentence for people. */
struct plan_remark {
    enum plan_level level;
    struct err said;
    struct str label; /* that it is about, or STR_NULL */
};
#define PLAN_MAX_REMARKS 60
#define PLAN_MAX_ERRORS  10 /* of these places only errors take */

struct plan_class {
    struct str label, into; /* into: itself unless it is merged */
    int64_t samples, shapes;
    bool left_out;
    int64_t total; /* of those that are merged into it, itself too; 0 when it is none at the end */
};

struct one_click {
    /* in */
    struct str parameters; /* JSON, as given */
    int64_t spec;          /* 0: choose */
    /* out */
    struct object dataset, version, algorithm;
    const struct algorithm_function *function;
    struct str values; /* of all parameters */
    double minutes;
    enum annotation_type type;
    int64_t all, usable, unannotated, rejected, negatives; /* negatives -1: not counted */
    int64_t train, val, test;
    struct plan_class *classes;
    size_t n_classes;
    int64_t base_model;
    bool wants_base;
    const char *image; /* NULL: the runtime is missing, runtime_why says what to do */
    struct err runtime_why;
    struct plan_remark *remarks;
    size_t n_remarks;
};
/* False only when nothing can be planned at all (values that are wrong, a database that is lost): what keeps
 * a training from being started is a remark of the level PLAN_ERROR. */
bool one_click_make(struct op *op, const struct object *version, struct one_click *p, struct err *err);
/* The first that keeps it from being started; NULL: it can be. */
const struct plan_remark *one_click_obstacle(const struct one_click *p);

#endif
