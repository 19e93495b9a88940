/* Objects as JSON, as docs/api.md says: id, place, fields, maker and times. */
#ifndef INGOT_CORE_SHOW_H
#define INGOT_CORE_SHOW_H

#include "base/json.h"
#include "core/engine.h"
#include "core/names.h"

/* Writes the objects one after the other (inside the caller's array, or one alone). All are of one kind. */
bool show_objects(struct core *core, const struct caller *c, const struct object *o, size_t n,
                  struct arena *a, struct json_out *out, struct err *err);
/* An object as others refer to it, {"id", "name", "of"}; null when there is none, or it is gone. */
bool show_reference(struct op *op, const struct kind *k, int64_t id, struct json_out *out, struct err *err);
/* The same of names that were loaded; id 0: null. */
void show_ref(const struct names *names, const struct kind *k, int64_t id, struct json_out *out);
/* A stored value without the names of references, for the audit. */
void show_value(const struct field *f, const struct db_value *v, struct json_out *out);

/* Cores under the key "cpus", and under "cpu" as answers had it before. */
void show_cpus(struct json_out *out, double cores);

#endif
