/* The end of a canary that breaks the rules of its service, whichever found that out. */
#ifndef INGOT_CORE_SERVE_CANARY_H
#define INGOT_CORE_SERVE_CANARY_H

#include "core/engine.h"

/* In a write of its own: stops the canary or retires it (rollback), and says why in the service's events. A
 * canary that was changed since it was read is left alone: it is another one, and *ret_ended is false. */
bool canary_end(struct core *core, struct arena *a, const struct object *canary, bool rollback,
                const struct err *why, bool *ret_ended, struct err *err);

#endif
