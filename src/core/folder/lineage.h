/* What a version was made from, as JSON: the parts that all makers of versions have in common. Inside a
 * write.
 */
#ifndef INGOT_CORE_FOLDER_LINEAGE_H
#define INGOT_CORE_FOLDER_LINEAGE_H

#include "core/engine.h"

/* "key": {"id", "name"} */
void lineage_ref(struct json_out *out, const char *key, const struct object *o);
/* The same of an object by its id; null when there is none. */
bool lineage_named(struct op *op, const char *key, const struct kind *k, int64_t id, struct json_out *out,
                   struct err *err);
/* {"kind", "set": {}, "version": {}, "digest"} of a version; null when there is none. */
bool lineage_version(struct op *op, const struct kind *k, int64_t id, struct json_out *out, struct err *err);
/* "key": a list of these, of the versions that o's field names. */
bool lineage_versions(struct op *op, const char *key, const struct kind *k, const struct object *o,
                      const char *field, struct json_out *out, struct err *err);

#endif
