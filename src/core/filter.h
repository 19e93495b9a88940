/* The filter language of lists: a conjunction of comparisons.
 *
 *     state = "running" and cpus >= 4 and kind in ("gpu", "npu") and name ~ "res" and ended_at != null
 *
 * Operators: = != < <= > >= ~ (prefix, texts only) and in (...). Values are JSON strings, numbers, true,
 * false and null (only with = and !=). Fields are those marked FIELD_FILTER, and id, created_at, updated_at,
 * created_by and what a child belongs to. `!=` also finds objects without a value. Values of the kind's sides
 * (core/side.h) are named metric:loss or metric:"val/loss". */
#ifndef INGOT_CORE_FILTER_H
#define INGOT_CORE_FILTER_H

#include "core/kind.h"
#include "core/sql.h"

#define FILTER_MAX_BYTES  4096
#define FILTER_MAX_TERMS  20
#define FILTER_MAX_VALUES 100 /* of all terms together */

/* Appends the conditions, each after sql_and. Errors are ERR_INVALID on the field "filter" with the position.
 */
bool filter_parse(struct arena *a, const struct kind *k, struct str text, struct sql *out, struct err *err);
/* The condition that a text column begins with prefix, as a range that an index can answer. Either end may be
 * left out where another condition is narrower there. */
enum filter_ends { FILTER_LOW = 1, FILTER_HIGH = 2, FILTER_BOTH = 3 };
void filter_prefix(struct arena *a, const char *column, struct str prefix, enum filter_ends ends,
                   struct sql *out);

#endif
