/* Answers of the Open Inference Protocol v2, and what it tells of a model. */
#ifndef INGOT_INFER_V2_ANSWER_H
#define INGOT_INFER_V2_ANSWER_H

#include "base/json.h"
#include "infer/v2_request.h"

/* {"error": "..."}, and "field" where the error names one: no part of the protocol, for those who show it. */
void v2_error(struct buf *out, const struct err *err);

/* Whose answer it is. */
struct v2_model {
    const char *name, *version;
    struct str *labels; /* for the classification extension; may be none */
    size_t n_labels;
};
/* The outputs in the order of q->outputs, or of the model when none were named. Returns the length of the
 * JSON in ret_json when binary tensors follow it, else -1. */
bool v2_answer_write(struct buf *out, struct arena *a, const struct v2_model *m, const struct v2_request *q,
                     const struct tensor *outputs, size_t n, int64_t *ret_json, struct err *err);

/* The classification extension: the best of each row as texts "score:index" or "score:index:label". */
bool v2_classify(struct arena *a, const struct v2_model *m, const struct tensor *t, uint32_t classes,
                 struct tensor *ret, struct err *err);

#endif
