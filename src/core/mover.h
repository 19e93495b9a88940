/* Moves blobs of the data folder to the bucket in the background (store/store.h), at the start and every ten
 * minutes, as restored backups bring files there too. It says in the log what it does; when the bucket does
 * not answer it tries again a little later. */
#ifndef INGOT_CORE_MOVER_H
#define INGOT_CORE_MOVER_H

#include "base/buf.h"
#include "core/core.h"

struct mover;
struct mover *mover_start(struct core *core); /* NULL when blobs are not in a bucket */
/* After everything else that needs the bucket has ended. NULL allowed. */
void mover_stop(struct mover *m);
/* The place of blobs, the cache, and what is still to move, as a JSON object. */
void mover_write(struct core *core, struct buf *out);

#endif
