/* Whether what a person writes is what the labels ask for: values of attributes by the type and the choices
 * of the label's own list (label_attribute.h). Labels that the set does not have, and datasets without a set,
 * ask for nothing. What the sample said before, in its history or in a layer, may always be said again: undo,
 * restore and shapes that an import brought with attributes of its own go on working. */
#ifndef INGOT_CORE_DATA_LABEL_CHECK_H
#define INGOT_CORE_DATA_LABEL_CHECK_H

#include "base/map.h"
#include "core/data/operate.h"

/* Inside a write. True with *ret_why set when it is refused: ERR_INVALID naming the member
 * ("shape.attributes.colour"); false only when the database failed. */
bool label_check_operation(struct op *op, const struct label_rules *rules, const struct operation_place *at,
                           const struct operation *operation, const struct annotation *now,
                           struct err *ret_why, struct err *err);
/* The same of a whole annotation, canonical; false with ERR_INVALID, too. */
bool label_check_annotation(struct op *op, const struct label_rules *rules, const struct operation_place *at,
                            enum annotation_type type, struct str annotation, struct err *err);

/* Of imports, which take what they find: the first value that no label asks for, as "label.attribute";
 * STR_NULL when all are asked for, or told already. */
struct str label_check_found(struct arena *a, const struct label_rules *rules, const struct annotation *n,
                             const struct map *told);

#endif
