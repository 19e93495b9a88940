/* Members of a JSON field that have two names (field.spelled): what is stored, as older programs know it, and
 * what is shown. Both are taken. */
#ifndef INGOT_CORE_SPELLED_H
#define INGOT_CORE_SPELLED_H

#include "base/json.h"
#include "core/kind.h"

/* v as it is stored; v itself where nothing is spelled otherwise. NULL and ERR_INVALID when one member is
 * given by both names.
 */
yyjson_val *spelled_stored(struct arena *a, const struct field *f, yyjson_val *v, struct err *err);
/* What is stored, as it is shown. */
void spelled_show(const struct field *f, struct str stored, struct json_out *out);

#endif
