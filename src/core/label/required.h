/* Attributes that the labels of a label set require, and annotations that lack them. */
#ifndef INGOT_CORE_LABEL_REQUIRED_H
#define INGOT_CORE_LABEL_REQUIRED_H

#include "base/arena.h"
#include "base/err.h"

/* labels: the label set's JSON; annotation: canonical. Shapes carry the attributes of their label; what has
 * only labels of the whole sample carries them itself. An
 * attribute with a default needs none. ERR_INVALID names the label and the attribute. */
bool required_there(struct arena *a, struct str labels, struct str annotation, struct err *err);

#endif
