/* JSON from outside to stored values, by a table of fields: types, limits (texts in characters), rules,
 * defaults, unknown fields. Every refusal is ERR_INVALID naming the field, the value (shortened) and the
 * rule. References are only checked for form here; that they exist is the engine's (inside the write). */
#ifndef INGOT_CORE_VALIDATE_H
#define INGOT_CORE_VALIDATE_H

#include "base/json.h"
#include "core/kind.h"

enum validate_mode {
    VALIDATE_CREATE, /* fields with FIELD_CREATE; required ones must be there, others get their fallback */
    VALIDATE_UPDATE, /* fields with FIELD_UPDATE; null takes a value away (its fallback, if it has one); JSON
                        objects are patches: validate_value checks the merged whole */
    VALIDATE_INPUT,  /* all fields of an action */
};

/* values and given have one element per field; values that were not given are left alone in an update and get
 * the fallback otherwise. also: names that are no fields but accepted (ended by NULL; may be NULL). */
bool validate_body(struct arena *a, const struct field *fields, yyjson_val *body, enum validate_mode mode,
                   const char *const *also, struct db_value *values, bool *given, struct err *err);
/* One value that is not null. */
bool validate_value(struct arena *a, const struct field *f, yyjson_val *v, struct db_value *ret,
                    struct err *err);
/* The limits that hold for a field: its own, its rule's or its type's. */
int64_t validate_min(const struct field *f);
int64_t validate_max(const struct field *f);
/* An id as 7 or {"id": 7}. */
bool validate_ref(const char *field, yyjson_val *v, int64_t *ret, struct err *err);

#endif
