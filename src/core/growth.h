/* What came by day: samples, labels, models, services (the table growth). A count is added in the write that
 * brings what it counts, so it is exact, and it stays when that is deleted later: it tells what came, not
 * what is there. */
#ifndef INGOT_CORE_GROWTH_H
#define INGOT_CORE_GROWTH_H

#include "db/db.h"

enum growth { GROWTH_SAMPLES, GROWTH_LABELS, GROWTH_MODELS, GROWTH_SERVICES, GROWTH_COUNT };
extern const char *const growth_names[GROWTH_COUNT];

#define GROWTH_DAY_US INT64_C(86400000000)

/* Inside a write: n more today, in the project. */
bool growth_add(struct db_conn *c, enum growth what, int64_t project, int64_t n, struct err *err);

#endif
