/* Renaming and merging labels in the list of a label set: pure, over its JSON. What becomes of annotations is
 * relabel.h's. */
#ifndef INGOT_CORE_DATA_LABEL_RENAME_H
#define INGOT_CORE_DATA_LABEL_RENAME_H

#include "base/json.h"
#include "codec/relabel.h"

#define LABEL_MERGE_MAX 100 /* labels that become one at once */

struct label_renamed {
    struct str labels;     /* the new list, JSON */
    struct relabel *names; /* as annotations bear them: what each is called from now on */
    size_t count;
};

/* The label `from` is called `to`, which is the name of none yet. */
bool label_rename(struct arena *a, yyjson_val *labels, struct str from, struct str to,
                  struct label_renamed *ret, struct err *err);
/* The labels of the list `from` become the label `to`, and are there no more. */
bool label_merge(struct arena *a, yyjson_val *labels, yyjson_val *from, struct str to,
                 struct label_renamed *ret, struct err *err);

/* The names by which annotations bear a label; at most two. Of one that the list has not: the name itself. */
size_t label_names(struct arena *a, yyjson_val *labels, struct str name, struct str ret[2]);

/* What a set remembers, [["former","now"],...], with the new ones behind. */
struct str label_remember(struct arena *a, yyjson_val *renames, const struct label_renamed *now);

#endif
