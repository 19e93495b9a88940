/* The place in a sorted list after which the next page begins: sort order, value of the sort column and id of
 * the last object, as base64url of a small JSON array. It holds nothing the client did not see. */
#ifndef INGOT_CORE_CURSOR_H
#define INGOT_CORE_CURSOR_H

#include "core/kind.h"

struct cursor {
    struct str sort;       /* "-name" */
    struct db_value value; /* null for objects without a value */
    int64_t id;
};

char *cursor_text(struct arena *a, const struct cursor *c);
/* f: the sorted field, whose type the value must have; NULL when sorted by id. ERR_INVALID on "cursor" for
 * anything that cursor_text did not write for this order. */
bool cursor_parse(struct arena *a, struct str text, struct str sort, const struct field *f,
                  struct cursor *ret, struct err *err);

#endif
