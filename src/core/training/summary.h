/* What runs are compared by, kept while their logs are read: the last and the best value of each metric, the
 * parameters that the code logged (`ingot.params`), and what of the log did not count. Each is a row of a
 * side table (run_metrics, run_parameters, run_notes; core/side.h), so that lists of runs sort and filter by
 * them; the fields `summary` and `logged` of the instance are made from the rows. */
#ifndef INGOT_CORE_TRAINING_SUMMARY_H
#define INGOT_CORE_TRAINING_SUMMARY_H

#include "core/engine.h"
#include "core/side.h"
#include "core/training/metric.h"

#define SUMMARY_METRICS    1000 /* names of a run that have a row */
#define SUMMARY_SHOWN      50   /* of them in the field */
#define SUMMARY_PARAMETERS 200  /* names of a run */
#define SUMMARY_VALUE      500  /* bytes of a parameter's value */

extern const struct kind_side training_sides[];

/* Loss-like names are best when they are small. */
bool summary_lower(struct str name);
/* How soon a name is shown: 0 the loss, 1 the usual main metrics, then others. */
int summary_rank(struct str name);

struct summary {
    double last, last_step, best, best_step;
    int64_t points;
};
/* Of at least one point. */
struct summary summary_of(struct str name, const struct series_point *p, size_t n);

/* Of `{"ingot.params": {...}}`: each name and value, as far as they are allowed; *left counts the others. */
struct parameter {
    struct str name, text; /* text: as it is shown */
    bool is_number;
    double number;
};
struct parameters {
    struct parameter list[SUMMARY_PARAMETERS];
    size_t n;
    int64_t left;
};
/* false when the line is none of parameters. */
bool summary_parameters(struct arena *a, struct str line, struct parameters *all);
/* The members of an object, likewise. */
void summary_members(struct arena *a, yyjson_val *object, struct parameters *all);

/* The options of a command: --lr 0.1, --lr=0.1, and --verbose, which is "true". What a shell would make of
 * variables and substitutions stays as it is written. */
void summary_command(struct arena *a, struct str command, struct parameters *all);

/* --- inside a write --- */
struct summary_run {
    int64_t id, project, training;
};
/* More points of a metric; whole: these are all that there are. */
bool summary_put(struct db_conn *c, const struct summary_run *r, struct str name, const struct summary *s,
                 bool whole, struct err *err);
bool summary_put_parameters(struct db_conn *c, const struct summary_run *r, const struct parameters *all,
                            struct err *err);
bool summary_put_left(struct db_conn *c, const struct summary_run *r, const int64_t left[METRIC_LEFT_COUNT],
                      struct err *err);
/* The fields of the instance, from its rows. */
bool summary_refresh(struct op *op, const struct summary_run *r, struct err *err);
bool summary_delete(struct db_conn *c, int64_t instance, struct err *err);

#endif
