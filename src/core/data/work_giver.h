/* Who gives people work on the samples of versions. Labelling tasks do; what they gave, and who is in which
 * team, only they know. This folder asks the table, which stands in core/work_givers.c. */
#ifndef INGOT_CORE_DATA_WORK_GIVER_H
#define INGOT_CORE_DATA_WORK_GIVER_H

#include "core/data/sample_access.h"

struct work_giver {
    /* Has the caller this right to the sample by what they were given? Outside of writes. */
    bool (*gave)(struct core *core, const struct caller *c, const struct object *version, int64_t sample,
                 enum sample_right r, struct arena *a, bool *ret, struct err *err);
    /* The users of a review team of the project, none when it is no such team. Inside a write. */
    bool (*reviewers)(struct op *op, int64_t project, int64_t team, struct db_rows *ret, struct err *err);
};
extern const struct work_giver *const work_givers[]; /* ended by NULL */

#endif
