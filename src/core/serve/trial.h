/* Trying a model version without a service: an ingot-infer of its own, started when somebody first tries the
 * version and ended when nobody has for a while (core/environment/on_demand.h). It loads the model at the
 * first request, which may bring a manifest in place of the version's, so that what is wrong is told to
 * whoever asks and a manifest can be tried before it is saved. It runs in the version's project, or for a
 * public version in a project of whoever tries it.
 *
 * Whoever may read the version and has service.invoke in the project may send requests; to start it takes
 * job.create there, too; to see how it is, job.read. */
#ifndef INGOT_CORE_SERVE_TRIAL_H
#define INGOT_CORE_SERVE_TRIAL_H

#include "core/environment/on_demand.h"

#define TRIAL_PORT    8000
#define TRIAL_PREDICT "/v2/models/model/predict"

extern const struct job_owner trial_owner;
extern const struct on_demand trial_on_demand;
extern const struct field trial_start_fields[], trial_state_fields[];

/* The actions `try` and `trial` of model versions: both answer {"state": "none" | "waiting" | "starting" |
 * "ready" | "failed", "reason", "reason_zh", "job", "project"}; the first starts it when it does not run. */
bool trial_start(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                 int *status, struct err *err);
bool trial_state(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                 int *status, struct err *err);

/* For a request to it: the container of the version's trial in this project (0: the version's own). Counts as
 * use. ERR_CONFLICT when none runs, or when it is of former content. */
bool trial_way(struct core *core, const struct caller *c, const struct object *version, int64_t project,
               struct arena *a, struct exec_id *ret, struct err *err);

#endif
