/* How far one text is from another: the least number of signs (or words) that are put in, left out or
 * changed. */
#ifndef INGOT_METRIC_TEXTS_H
#define INGOT_METRIC_TEXTS_H

#include "base/arena.h"

struct texts_distance {
    uint64_t errors; /* put in, left out or changed */
    uint64_t length; /* of the truth */
};

/* By code points, and by words between white space. Time is the product of the lengths over 64, memory their
 * sum. */
struct texts_distance texts_characters(struct arena *a, struct str truth, struct str found);
struct texts_distance texts_words(struct arena *a, struct str truth, struct str found);

#endif
