/* May this caller do this to that object? The one place that knows how scopes, projects, public objects and
 * owners turn into a permission and a project. */
#ifndef INGOT_CORE_ACCESS_H
#define INGOT_CORE_ACCESS_H

#include "core/engine.h"
#include "core/sql.h"

bool access_signed_in(const struct caller *c, struct err *err); /* ERR_UNAUTHORIZED without a user */
/* verb: "read", "create", "update", "delete"; or permission: an action's full name (then verb is ignored).
 * ERR_NOT_FOUND where the object's existence is a secret. */
bool access_object(const struct caller *c, const struct object *o, const char *verb, const char *permission,
                   struct err *err);
/* The limits of a list: checks the right to read, then appends the conditions (each after sql_and). */
bool access_list(struct core *core, const struct caller *c, const struct kind *k, const struct list_query *q,
                 struct arena *a, struct sql *out, struct err *err);
/* To read it, as its own or as part of a public object. */
bool access_read(struct core *core, const struct caller *c, struct db_conn *conn, const struct object *o,
                 struct arena *a, struct err *err);
/* The row that access allows to read, in a write (conn) or outside; ERR_NOT_FOUND when there is none. */
bool access_load(struct core *core, const struct caller *c, struct db_conn *conn, const struct kind *k,
                 int64_t parent, int64_t id, struct arena *a, struct object *ret, struct err *err);
bool access_missing(const struct kind *k, int64_t id, struct err *err); /* sets ERR_NOT_FOUND; false */

#endif
