/* What the audit keeps of a change: {"field": {"old": .., "new": ..}}, secrets as "***". Status
 * and internal fields are left out. */
#ifndef INGOT_CORE_AUDIT_H
#define INGOT_CORE_AUDIT_H

#include "core/engine.h"

/* old or new may be NULL (create, delete). */
struct str audit_changes(struct arena *a, const struct object *old, const struct object *new_);
/* The input of an action. */
struct str audit_input(struct arena *a, const struct field *fields, const struct db_value *values);
/* An action under way: its line is written with the first of its writes (engine_write). */
struct audit_action {
    const struct action *action;
    struct object *object;
    const struct db_value *input;
    bool written; /* and committed */
};
bool audit_action(struct op *op, const struct audit_action *x, struct err *err);
/* A line about an object, in the write of op. */
bool audit_object(struct op *op, const char *verb, const struct object *o, struct str detail,
                  struct err *err);
/* Two stored values of one field are the same. */
bool audit_same(const struct db_value *a, const struct db_value *b);

#endif
