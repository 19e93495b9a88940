/* What a label asks about each thing that bears it: attributes of choice, text, number or yes and no.
 *
 *     [{"name":"colour","title":{"en":"Colour","zh":"颜色"},"type":"choice","choices":["red","blue"],
 *       "required":true,"default":"red"}]
 *
 * The values stand in the `attributes` of shapes, or of the sample where it is labelled as a whole. */
#ifndef INGOT_CORE_DATA_LABEL_ATTRIBUTE_H
#define INGOT_CORE_DATA_LABEL_ATTRIBUTE_H

#include "base/json.h"

#define LABEL_MAX_ATTRIBUTES 20

/* Checks the list; false with the place below it ("[0].choices") and the rule, both in the arena or constant.
 */
bool label_attributes_check(struct arena *a, yyjson_val *list, const char **ret_where, const char **ret_why);

/* Whether a value is what the attribute asks for; null and the empty text say nothing. ERR_INVALID calls it
 * `place`. */
bool label_attribute_value(yyjson_val *attribute, const char *place, yyjson_val *value, struct err *err);

#endif
