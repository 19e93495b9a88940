/* What an algorithm version says of itself: its file ingot-algorithm.json (model/algorithm.h). */
#ifndef INGOT_CORE_FOLDER_ALGORITHM_FILE_H
#define INGOT_CORE_FOLDER_ALGORITHM_FILE_H

#include "core/folder/folder.h"
#include "model/algorithm.h"

/* *ret_there is false, and ret empty, when the version has no such file. */
bool algorithm_load(struct core *core, const struct object *version, struct arena *a, struct algorithm *ret,
                    bool *ret_there, struct err *err);
/* The same by the version's id; 0: no algorithm, no manifest. */
bool algorithm_load_id(struct core *core, int64_t version, struct arena *a, struct algorithm *ret,
                       bool *ret_there, struct err *err);
/* The function that is asked for: ERR_INVALID naming `function` when the algorithm has none of that name, or
 * the platform runs none such. */
bool algorithm_function(const struct algorithm *m, struct str name, const struct algorithm_function **ret,
                        struct err *err);

/* The action `functions` of algorithm versions. */
bool algorithm_run_functions(struct op *op, struct object *o, const struct db_value *input,
                             struct json_out *out, int *status, struct err *err);

#endif
