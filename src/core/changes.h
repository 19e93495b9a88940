/* A feed of committed changes for live pages (SSE) and controllers. Delivery is on the writer's thread: be
 * quick. */
#ifndef INGOT_CORE_CHANGES_H
#define INGOT_CORE_CHANGES_H

#include "base/base.h"

/* The verb of changes that leave the object's revision alone (engine_set_status). */
#define CHANGES_STATUS "status"

struct changes;
struct change {
    const char *kind; /* name */
    const char *verb; /* "create", "update", "delete", CHANGES_STATUS, or an action's name */
    int64_t id, project, parent;
};
struct changes *changes_new(void);
void changes_free(struct changes *c);
void changes_tell(struct changes *c, const struct change *ch);
/* Returns a handle for changes_drop. fn is called for every change until then. */
void *changes_listen(struct changes *c, void (*fn)(void *ctx, const struct change *ch), void *ctx);
void changes_drop(struct changes *c, void *handle); /* fn is not running and not called any more afterwards */

#endif
