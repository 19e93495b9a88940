/* Housekeeping: one thread that gives back what nobody needs any more — samples of deleted versions, content
 * that no version holds, blobs that nobody uses, uploads that were never finished. Everything is done in
 * small writes. */
#ifndef INGOT_CORE_KEEPER_H
#define INGOT_CORE_KEEPER_H

#include "core/core.h"

struct keeper;
struct keeper *keeper_start(struct core *core);
void keeper_stop(struct keeper *k); /* NULL allowed */
/* There may be something to give back now: does not wait for it. */
void keeper_wake(struct keeper *k);

#endif
