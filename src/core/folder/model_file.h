/* The files of a model version that programs can read as a model. */
#ifndef INGOT_CORE_FOLDER_MODEL_FILE_H
#define INGOT_CORE_FOLDER_MODEL_FILE_H

#include "core/folder/folder.h"

/* The file that is meant: `path` when it is given (ERR_NOT_FOUND when the version lacks it), else the largest
 * one of the first format that there is, ONNX before others. only_onnx: no other format will do.
 * ERR_CONFLICT when there is none. */
bool model_file_choose(const struct manifest *m, struct str path, bool only_onnx,
                       const struct manifest_entry **ret, struct err *err);

/* Memory that ingot-infer needs to serve a model version of so many bytes, when nobody says it. */
int64_t model_memory(int64_t bytes);

#endif
