/* How the samples of a version, and those of each label, are shared out among the parts of a split. */
#ifndef INGOT_CORE_DATA_SPLITS_H
#define INGOT_CORE_DATA_SPLITS_H

#include "core/engine.h"

/* The action: {"parts": {"train", "val", "test", "none"}, "labels": [{"label", "train", "val", "test",
 * "none"}]}, numbers of samples, labels in the order of their names. Where no sample lies in a part `labels`
 * is empty: it would say again what the statistics say. Cleaned samples do not count. */
bool splits_run(struct op *op, struct object *version, const struct db_value *input, struct json_out *out,
                int *status, struct err *err);

#endif
