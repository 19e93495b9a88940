/* What can be done with the labels of a set and with what bears them: rename, merge, and say how much that
 * would change. */
#ifndef INGOT_CORE_DATA_LABEL_SET_ACTIONS_H
#define INGOT_CORE_DATA_LABEL_SET_ACTIONS_H

#include "core/engine.h"

extern const struct action label_set_actions[];

/* Hook of the kind: while a task renames, its former names may not come back. */
bool label_set_before_update(struct op *op, const struct object *old, struct object *new_, struct err *err);

#endif
