/* The report of an evaluation as JSON: docs/evaluation.md has its members. */
#ifndef INGOT_CORE_EVALUATE_REPORT_H
#define INGOT_CORE_EVALUATE_REPORT_H

#include "core/kind.h"
#include "metric/slices.h"

struct report_input {
    struct evaluate *evaluate;
    struct slices *slices;
    uint32_t draws;
    int64_t unlabelled, machine; /* samples that were passed over */
    int64_t failed;              /* files that the model could not be asked about */
    struct str problems;         /* the first of them, JSON objects parted by commas */
    const struct str *known;     /* labels of the model; NULL: it is none */
    size_t known_count;
};
/* In the arena; ret_figures: the main ones as a JSON object. */
struct str report_write(const struct report_input *in, struct arena *a, struct str *ret_figures);

/* Members of an object, of things that have at least a score: each label (labels_too), all together, cells.
 */
void report_at(const struct matches *m, double score, bool labels_too, struct json_out *o);
/* What people read of a figure; of what samples are parted by, and of sizes of shapes (NULL: a name of
 * theirs). */
struct words report_figure(struct str name, struct arena *a);
const struct words *report_word(struct str name);
/* Sentences about a report, a list of {"en","zh"} (words.c). */
void report_words(yyjson_val *report, struct arena *a, struct json_out *o);

#endif
