/* Values that objects have under names of their own (the metrics of a run, its parameters), one row each in a
 * side table: lists are sorted by `metric:loss` and filtered by it as by a field. A kind names its sides
 * (core/kind.h); whoever has the values keeps the table. */
#ifndef INGOT_CORE_SIDE_H
#define INGOT_CORE_SIDE_H

#include "core/kind.h"
#include "core/sql.h"

#define SIDE_NAME_MAX 200 /* bytes */

/* Columns of the table; none may be called as one of the kind's own. */
struct kind_side {
    const char *prefix; /* "metric" */
    const char *table;
    const char *object, *name;    /* the object's id, the value's name: together the key */
    const char *project, *parent; /* where the object is, for indexes */
    const char *number, *text;    /* the value; text: NULL when there are only numbers */
};

/* "metric:loss": the side and the name; NULL when the kind has none of that prefix, or the name is no name.
 */
const struct kind_side *side_of(const struct kind *k, struct str text, struct str *ret_name);

/* One side's value of one name. */
struct side {
    const struct kind_side *of;
    const struct kind *kind;
    struct str name;
    int64_t project, parent; /* 0: everywhere */
};
/* What is compared and sorted by: the column of numbers, or that of texts when there are only those. */
const char *side_column(const struct kind_side *s);
/* " FROM kind JOIN side ..." for the objects that have the value. */
void side_from(const struct side *s, struct sql *out);
/* The value as a column of the kind's own table; null: none. */
void side_select(const struct side *s, struct sql *out);
/* The condition that an object has none. */
void side_without(const struct side *s, struct sql *out);
/* "(NOT) EXISTS (... column": the comparison and a ) follow. */
void side_exists(const struct side *s, bool not_, const char *column, struct sql *out);

#endif
