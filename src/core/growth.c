#include "core/growth.h"

#include "base/clock.h"

const char *const growth_names[GROWTH_COUNT] = {"samples", "labels", "models", "services"};

bool growth_add(struct db_conn *c, enum growth what, int64_t project, int64_t n, struct err *err)
{
    return conn_exec(c,
                     "INSERT INTO growth (project, what, day, n) VALUES (?, ?, ?, ?)"
                     " ON CONFLICT (project, what, day) DO UPDATE SET n = growth.n + excluded.n",
                     db_args(db_int(project), db_textz(growth_names[what]),
                             db_int(clock_now() / GROWTH_DAY_US), db_int(n)),
                     NULL, err);
}
