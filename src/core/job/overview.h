/* What projects and the whole platform may use and use: the overview of a project (K7), the administrator's
 * resources (K8), and the forecast that forms show before a job is made. "Use" is what the specs of the jobs
 * that hold resources (starting, running, stopping) ask for. */
#ifndef INGOT_CORE_JOB_OVERVIEW_H
#define INGOT_CORE_JOB_OVERVIEW_H

#include "core/engine.h"

/* Actions of a project. */
typedef bool overview_action(struct op *op, struct object *o, const struct db_value *input,
                             struct json_out *out, int *status, struct err *err);
overview_action overview_run, forecast_run;
extern const struct field overview_fields[], forecast_fields[];

/* What all nodes have, what is used of it, and how many of them are in which state. */
bool resources_load_write(struct core *core, struct arena *a, struct json_out *out, struct err *err);
/* GET /resources. */
bool resources_write(struct core *core, struct arena *a, struct buf *out, struct err *err);
/* One node of it, null when it is gone. */
bool resources_node_write(struct core *core, struct arena *a, int64_t node, struct json_out *out,
                          struct err *err);

/* When a job would start if it were made now: the object `Forecast` of the API. */
struct forecast_ask {
    int64_t project, spec;
    int32_t nodes, priority;
    double hours; /* 0: no limit */
};
bool forecast_write(struct op *op, const struct forecast_ask *ask, struct json_out *out, struct err *err);

#endif
