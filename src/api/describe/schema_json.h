/* JSON Schemas (2020-12, as in OpenAPI 3.1) of the kinds' objects and inputs. */
#ifndef INGOT_API_SCHEMA_JSON_H
#define INGOT_API_SCHEMA_JSON_H

#include "base/json.h"
#include "core/kind.h"

/* "LabelSet" for label_set; with a suffix ("Create", "Patch", "List") for the other schemas of the kind. */
char *schema_json_name(struct arena *a, const char *kind, const char *suffix);
/* The kind's schemas as members of components/schemas. */
void schema_json_kind(struct json_out *o, const struct kind *k);
/* Schema of the body of an action. */
void schema_json_input(struct json_out *o, const struct field *fields);
/* Schema of one value as given from outside. */
void schema_json_value(struct json_out *o, const struct field *f);
/* Reference, Problem. */
void schema_json_common(struct json_out *o);
void schema_json_ref(struct json_out *o, const char *name); /* {"$ref": "#/components/schemas/<name>"} */

#endif
