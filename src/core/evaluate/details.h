/* How the blob of details ends. */
#ifndef INGOT_CORE_EVALUATE_DETAILS_H
#define INGOT_CORE_EVALUATE_DETAILS_H

#include <stdint.h>

struct details_tail {
    uint64_t at, bytes; /* of the index */
};

#endif
