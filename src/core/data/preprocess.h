/* Preprocessing (D12) and measuring: a new version is made from the given one, its samples follow, and then
 * the steps are applied to each of them in the given order. The former version keeps the originals. */
#ifndef INGOT_CORE_DATA_PREPROCESS_H
#define INGOT_CORE_DATA_PREPROCESS_H

#include "core/data/version.h"

extern const struct task_type task_preprocess, task_measure;
extern const struct field preprocess_fields[];
bool preprocess_run(struct op *op, struct object *version, const struct db_value *input, struct json_out *out,
                    int *status, struct err *err);
/* Sharpness and perceptual hash of all samples that have none. */
bool measure_run(struct op *op, struct object *version, const struct db_value *input, struct json_out *out,
                 int *status, struct err *err);
/* Groups of near-duplicates among the measured samples (D11): {"groups":[[{"id","name"},...]]}. */
extern const struct field duplicates_fields[];
bool duplicates_run(struct op *op, struct object *version, const struct db_value *input, struct json_out *out,
                    int *status, struct err *err);
/* How many measured samples have which sharpness: {"bins":[{"from","to","samples"}],"measured"}. */
bool sharpness_run(struct op *op, struct object *version, const struct db_value *input, struct json_out *out,
                   int *status, struct err *err);

#endif
