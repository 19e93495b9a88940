/* The trial of a canary outlives the server: what both versions did in it is written to the service's row
 * (field `trial`) while it changes, and read again after a start. A killed server loses the requests of a
 * second or two; the rules go on to count where they were. */
#ifndef INGOT_CORE_SERVE_JUDGE_KEEP_H
#define INGOT_CORE_SERVE_JUDGE_KEEP_H

#include "core/serve/traffic.h"

/* Once a second and at the end, by the controller that rolls up the figures: reads those that wait for what
 * they were before the start, and writes those that have changed. */
bool judge_keep(struct core *core, struct err *err);

/* As text: {"production": 3, "canary": 4, "generation": 1, "sides": [[requests, errors, [bucket, n, ...]],
 * ...]}
 */
void judge_keep_write(const struct serve_trial *t, struct buf *out);
/* False when it is no such text. */
bool judge_keep_read(struct arena *a, struct str text, struct serve_trial *ret);

#endif
