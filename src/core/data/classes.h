/* The classes of a version: what its imports named, in their order, used or not, with parents and with the
 * skeletons of keypoints. Annotations only have the names; exports write the rest again, so that numbers of
 * classes, supercategories and skeletons come out as they came in. */
#ifndef INGOT_CORE_DATA_CLASSES_H
#define INGOT_CORE_DATA_CLASSES_H

#include "codec/codec.h"
#include "codec/relabel.h"
#include "core/engine.h"

#define CLASSES_MAX 10000 /* of one import; further ones are known by their samples only */

/* What one import names; zeros to begin with. Everything is in the arena of the calls. */
struct classes {
    struct class_item *item;
    size_t n, cap;
};
void classes_note(struct classes *c, struct arena *a, const struct codec_label *l);
void classes_forget(struct classes *c, struct str name); /* as if it had not been named */

/* Inside a write: those that are new come after those that are there; one that is there already is replaced
 * when more than its name is known now. */
bool classes_put(struct op *op, int64_t version, const struct classes *c, struct err *err);
bool classes_copy(struct op *op, int64_t from, int64_t to, struct err *err);
/* Names and parents become what the list says; two that become one are one. */
bool classes_rename(struct op *op, int64_t version, const struct relabel *list, size_t n, struct err *err);

/* In the order of exports: the dataset's label set (those with children only as their parents), then what
 * imports named. */
bool classes_of(struct db *db, struct arena *a, int64_t version, struct codec_label **ret, size_t *ret_n,
                struct err *err);

#endif
