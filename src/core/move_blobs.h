/* The controller that moves blobs of the data folder to the bucket (store/store.h), at the start and every
 * ten minutes, as restored backups bring files there too. It says in the log what it does; when the bucket
 * does not answer it tries again a little later, and stops after everything else that needs the bucket. */
#ifndef INGOT_CORE_MOVE_BLOBS_H
#define INGOT_CORE_MOVE_BLOBS_H

#include "base/buf.h"
#include "core/core.h"

/* The place of blobs, the cache, and what is still to move, as a JSON object. */
void storage_write(struct core *core, struct buf *out);

#endif
