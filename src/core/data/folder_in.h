/* Import from a folder of the server (D6): a mounted CephFS or NAS. Only folders below the roots that the
 * configuration allows ("import_roots": ["/mnt/data"]) can be read, and no link leads out of them. */
#ifndef INGOT_CORE_DATA_FOLDER_IN_H
#define INGOT_CORE_DATA_FOLDER_IN_H

#include "core/data/unpack.h"

/* ERR_FORBIDDEN when the path is below none of the roots. */
bool folder_in_check(struct core *core, struct str path, struct err *err);
bool folder_in(struct task *t, struct str path, struct unpacked *out, struct err *err);
/* One file below the roots, added under the name. done: the task's progress meanwhile. */
bool folder_in_file(struct task *t, struct str path, struct str name, struct unpacked *out, int64_t done,
                    struct err *err);

#endif
