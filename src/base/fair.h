/* Turns between projects, and in each between its users: a user that asks for much waits for their own. A
 * queue of items that each belong to a project and a user; not thread-safe. */
#ifndef INGOT_BASE_FAIR_H
#define INGOT_BASE_FAIR_H

#include "base/base.h"

/* Embedded in what waits. */
struct fair_item {
    int64_t project, user;
    struct fair_item *next;
};

struct fair;
/* At most so many wait of one user, and of all. */
struct fair *fair_new(size_t max_user, size_t max_all);
void fair_free(struct fair *f); /* the items are the caller's; NULL is fine */
/* false: too many wait. */
bool fair_add(struct fair *f, struct fair_item *i);
/* The next one's turn; NULL when none waits. */
struct fair_item *fair_take(struct fair *f);
/* One that waits no longer. */
void fair_remove(struct fair *f, struct fair_item *i);

#endif
