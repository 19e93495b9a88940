/* Other names for labels, in a whole annotation: a label set renamed or merged some of its labels. */
#ifndef INGOT_CODEC_RELABEL_H
#define INGOT_CODEC_RELABEL_H

#include "codec/model.h"

#define RELABEL_MAX 4000 /* names of one change */

struct relabel {
    struct str from, to;
};

/* What the label is called now: `to` of the entry that is from it, else itself. */
struct str relabel_name(const struct relabel *list, size_t n, struct str label);

/* Does it to all of n. Two labels that become one are one, with the higher score. Lists of n that change are
 * new ones in the arena: the old ones stay as they were. False when nothing changed. */
bool relabel_all(struct arena *a, struct annotation *n, const struct relabel *list, size_t count);

/* The same for canonical text: *ret is it, or the old one when nothing changed. */
bool relabel_text(struct arena *a, enum annotation_type type, struct str json, const struct relabel *list,
                  size_t count, struct str *ret, struct err *err);

#endif
