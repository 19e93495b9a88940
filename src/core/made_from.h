/* What objects were made from, where no column refers to it: lists ("datasets" of a run), images by their
 * digest, what a kept folder's environment had mounted. The field `lineage` says it, as JSON; here it is as
 * rows of the table `made_from`, which are found from both sides (core/lineage/relation.h). */
#ifndef INGOT_CORE_MADE_FROM_H
#define INGOT_CORE_MADE_FROM_H

#include "core/engine.h"

/* Inside a write: what the object's `lineage` names; nothing of kinds without one. Doing it again is
 * harmless. */
bool made_from_write(struct db_conn *c, const struct object *o, struct arena *a, struct err *err);
/* With the object. What was made from it goes on to say so. */
bool made_from_drop(struct db_conn *c, const struct object *o, struct err *err);

#endif
