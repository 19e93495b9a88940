/* What a rank of a job was given, as the job's field `placement` keeps it (core/job/plan_input.h writes it).
 */
#ifndef INGOT_CORE_JOB_PLACED_H
#define INGOT_CORE_JOB_PLACED_H

#include "base/arena.h"
#include "base/json.h"

struct placed {
    bool known;       /* it says what it takes: ranks that older versions of the program placed do not */
    const char *node; /* NULL: it is not placed */
    double cpus;
    int64_t memory;
    double cards; /* whole ones and shares together */
    struct str kind;
    yyjson_val *devices; /* [{"kind","path","share"}], or NULL */
};

/* All zero for a rank that there is not (NULL). */
struct placed placed_of(yyjson_val *rank);
/* The same from the field's text, in the arena. */
struct placed placed_rank(struct arena *a, struct str placement, int64_t rank);

#endif
