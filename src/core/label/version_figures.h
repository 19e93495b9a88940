/* Figures of a version: who labelled and who reviewed it, by class and by day, over all its tasks. */
#ifndef INGOT_CORE_LABEL_VERSION_FIGURES_H
#define INGOT_CORE_LABEL_VERSION_FIGURES_H

#include "core/engine.h"

bool version_figures_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                         int *status, struct err *err);

#endif
