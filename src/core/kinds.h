/* The registry's own view: the declarations that core/kinds.c lists, and facts derived from a declaration. */
#ifndef INGOT_CORE_KINDS_H
#define INGOT_CORE_KINDS_H

#include "core/kind.h"

extern const struct kind kind_label_set, kind_label_example, kind_spec, kind_audit;

/* "<kind>.<verb>", with permission_as. */
const char *kind_permission(struct arena *a, const struct kind *k, const char *verb);
/* The kind that projects themselves are: rights to one are asked within it. */
bool kind_is_project(const struct kind *k);
/* Its table has a column `project` beside its parent's. */
bool kind_has_project(const struct kind *k);
/* The path of all of a project's objects of a kind whatever their parents: "dataset-versions", its plural
 * after the words of its name that come before the last. NULL for kinds that are no children or belong to no
 * project. */
#define KIND_COLLECTION_MAX 96
const char *kind_collection(const struct kind *k, char ret[KIND_COLLECTION_MAX]);
const struct kind *kind_by_collection(struct str path);
/* The stored text that names an object; NULL when the first field is no text (members). */
const struct field *kind_name_field(const struct kind *k);

#endif
