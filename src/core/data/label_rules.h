/* What a dataset's label set says to whoever writes annotations: which labels there are, what each asks for,
 * and what labels that were renamed or merged are called now.
 *
 * A label is named as annotations name it: by its name, or as "parent/child". */
#ifndef INGOT_CORE_DATA_LABEL_RULES_H
#define INGOT_CORE_DATA_LABEL_RULES_H

#include "base/json.h"
#include "codec/relabel.h"
#include "core/data/sample.h"

extern const struct kind kind_label_set;

#define LABEL_MAX_RENAMES 1000 /* former names that a set remembers; the oldest go first */

struct label_rules {
    int64_t set;            /* id; 0: the dataset has none, and all else is empty */
    yyjson_val *labels;     /* the list, two levels */
    struct relabel *former; /* names that no label has any more, and what became of them */
    size_t former_count;
};

/* Of the label set of a dataset, or of that set itself; inside a write or outside (c NULL). */
bool label_rules_of(struct db *db, struct db_conn *c, struct arena *a, int64_t dataset,
                    struct label_rules *ret, struct err *err);
bool label_rules_read(struct arena *a, struct str labels, struct str renames, struct label_rules *ret,
                      struct err *err);

/* The annotation, canonical, with the names of today. */
bool label_rules_name(struct arena *a, const struct label_rules *rules, enum annotation_type type,
                      struct str *annotation, struct err *err);

/* The definition of a label, or NULL. */
yyjson_val *label_rules_find(yyjson_val *labels, struct str name);

#endif
