/* A manifest (ingot-model.json) that is not saved yet, held against the files of a version. */
#ifndef INGOT_CORE_FOLDER_MODEL_CHECK_H
#define INGOT_CORE_FOLDER_MODEL_CHECK_H

#include "core/folder/folder.h"

/* Whether a model version could be asked by this manifest: its fields, the files that it names, and the
 * inputs and outputs of their graphs. Writes {"ok", "field", "reason", "reason_zh"}: what is wrong is no
 * failure of the question, for people ask while they type. False when the version's files cannot be read. */
bool model_check_write(struct core *core, const struct object *version, struct str text, struct arena *a,
                       struct json_out *out, struct err *err);

#endif
