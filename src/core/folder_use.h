/* What projects keep outside of the content store counts as their storage too: the /workspace of
 * environments, and the checkpoints and logs of trainings. A controller measures the folders: of what runs
 * again and again, seldom when that takes long, sooner while the disk fills; of what ended once more. An
 * environment whose folder grows (by more than 1 MB) while its project is over its storage is ended. */
#ifndef INGOT_CORE_FOLDER_USE_H
#define INGOT_CORE_FOLDER_USE_H

#include "core/core.h"

/* The bytes that are counted for a folder (an absolute path); 0 before it was measured. */
bool folder_use_of(struct core *core, const char *folder, int64_t *ret, struct err *err);

#endif
