/* The figures by their names, and what people read: one table for reports, comparisons, the API and the
 * pages. */
#ifndef INGOT_METRIC_TITLES_H
#define INGOT_METRIC_TITLES_H

#include "base/str.h"

#define FIGURE_MAIN 1U /* one looks at it first */
#define FIGURE_LESS 2U /* less is better, and it is no share of a whole */

struct figure_title {
    const char *name; /* in the API and in files; never translated */
    const char *en, *zh;
    unsigned flags;
};

/* Ends with a row without a name. */
extern const struct figure_title figure_titles[];

/* NULL: no figure of ours, so its name is all there is. */
const struct figure_title *figure_title(struct str name);

#endif
