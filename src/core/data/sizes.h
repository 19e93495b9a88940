/* How large the samples of a version are: in pixels, seconds and bytes. */
#ifndef INGOT_CORE_DATA_SIZES_H
#define INGOT_CORE_DATA_SIZES_H

#include "core/engine.h"

/* The action: {"pixels": [{"width", "height", "samples"}], "other_pixels", "seconds": [{"from", "to",
 * "samples"}], "bytes": [...]}. `pixels` has the most common ones, `other_pixels` counts the samples of all
 * others; the ranges are powers of two, without the empty ones before the first and after the last. Cleaned
 * samples do not count. */
bool sizes_run(struct op *op, struct object *version, const struct db_value *input, struct json_out *out,
               int *status, struct err *err);

#endif
