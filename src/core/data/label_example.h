/* Examples of labels: small pictures that show how a label is meant, or how not, with a few words. A picture
 * is a copy in the size of a thumbnail, made by a media worker from an upload or from a sample that the maker
 * may see: so whoever labels sees it without seeing the dataset, and it stays when the sample goes. Its blob
 * is used by the set's project. Examples go with their label and their set. */
#ifndef INGOT_CORE_DATA_LABEL_EXAMPLE_H
#define INGOT_CORE_DATA_LABEL_EXAMPLE_H

#include "codec/relabel.h"
#include "core/engine.h"
#include "store/store.h"

extern const struct kind kind_label_example;

#define LABEL_EXAMPLES_MOST 8          /* of one label */
#define LABEL_EXAMPLE_SIDE  512        /* pixels */
#define LABEL_EXAMPLE_BYTES (32 << 20) /* of an upload */

/* Inside a write of the set: its examples follow other names of labels; those of labels that the list
 * (JSON) has no more go, all of them without a list (STR_NULL). */
bool label_examples_rename(struct op *op, int64_t set, const struct relabel *names, size_t n,
                           struct err *err);
bool label_examples_keep(struct op *op, int64_t set, struct str labels, struct err *err);

/* The blob of its picture. */
bool label_example_picture(const struct object *example, struct digest *ret, struct err *err);
/* [{"id","label","caption","wrong"}] of the label set of a dataset; set 0: of none. */
bool label_examples_write(struct db *db, struct arena *a, int64_t set, struct json_out *out, struct err *err);

#endif
