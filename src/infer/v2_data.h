/* Elements of tensors as JSON: a flat list or nested ones, numbers, true and false, or texts (BYTES). */
#ifndef INGOT_INFER_V2_DATA_H
#define INGOT_INFER_V2_DATA_H

#include "base/json.h"
#include "infer/tensor.h"

/* Exactly so many elements, each in the range of t's type, into t->data. */
bool v2_data_read(struct arena *a, yyjson_val *list, uint64_t elements, struct tensor *t, struct err *err);
/* As one flat list. ERR_INVALID when an element has no JSON: NaN, an infinity, bytes that are no UTF-8. */
bool v2_data_write(struct json_out *out, const struct tensor *t, struct err *err);

#endif
