/* Figures of a version: who labelled and who reviewed it, by class and by day, over all its tasks. */
#ifndef INGOT_CORE_DATA_LABELLING_H
#define INGOT_CORE_DATA_LABELLING_H

#include "core/engine.h"

bool labelling_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                   int *status, struct err *err);

#endif
