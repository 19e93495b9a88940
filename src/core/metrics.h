/* The figures of the platform, as OpenMetrics text: GET /metrics. Each family is a row of the array in
 * metrics.c: what is new adds its own. */
#ifndef INGOT_CORE_METRICS_H
#define INGOT_CORE_METRICS_H

#include "base/buf.h"
#include "core/core.h"

#define METRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

struct metric_row {
    const char *name, *type, *unit, *help; /* as metric_family has them */
    double (*value)(struct core *core);    /* of a family with one value; below 0: not known, left out */
    bool (*write)(struct core *core, const char *name, struct arena *a, struct buf *out, struct err *err);
};

bool metrics_write(struct core *core, struct arena *a, struct buf *out, struct err *err);

#endif
