/* What libarchive cannot read of RAR and does not say: it gives out encrypted bytes of RAR 5 as they are and
 * files that are noted to equal others as empty ones, leaves out what goes on from a former volume, and stops
 * within solid archives of RAR 4. Such archives are refused as a whole. */
#ifndef INGOT_CORE_DATA_RAR_CHECK_H
#define INGOT_CORE_DATA_RAR_CHECK_H

#include "base/err.h"

/* False with the reason when the archive cannot be read; true also when it is no RAR archive. */
bool rar_check(int fd, struct err *err);

#endif
