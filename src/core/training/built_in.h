/* Algorithms that come with the platform: folders of files beside the program, which become public sets of
 * the project "built-in". Nothing is fetched. */
#ifndef INGOT_CORE_TRAINING_BUILT_IN_H
#define INGOT_CORE_TRAINING_BUILT_IN_H

#include "core/engine.h"

#define BUILT_IN_PROJECT   "built-in"
#define BUILT_IN_ONE_CLICK "one-click"

/* The version of the set that has the files that are beside the program now: made, with project and set where
 * these are missing, when the newest has others. ERR_CONFLICT when there are no files. */
bool built_in_algorithm(struct core *core, struct arena *a, struct object *ret, struct err *err);
/* The newest published version of a public model set of the project; 0: it is not there. */
bool built_in_model(struct core *core, struct arena *a, const char *set, int64_t *ret, struct err *err);

#endif
