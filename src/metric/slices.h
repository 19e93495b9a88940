/* Parts of the samples that are looked at by themselves: by split, folder, the values of attributes. Of each
 * way of parting the commonest values are kept. */
#ifndef INGOT_METRIC_SLICES_H
#define INGOT_METRIC_SLICES_H

#include "codec/annotation.h"
#include "metric/evaluate.h"

#define SLICES_WAYS   24   /* split, folder, names of attributes */
#define SLICES_VALUES 12   /* of a way, that are told */
#define SLICES_SEEN   2000 /* different values of a way that are counted */

struct slices;
struct slices *slices_new(void);
void slices_free(struct slices *s);

/* The next sample has this value. A way or value too many is passed over. */
void slices_put(struct slices *s, const char *by, struct str name, struct str text);
/* The values of the sample's attributes, and of those of its shapes: ways "attribute". */
void slices_attributes(struct slices *s, struct str annotation);
/* The sample ends; kept: it is the next of the evaluation, else what was put of it goes. */
void slices_end(struct slices *s, bool kept);

/* A list of {"by","name","value","samples","figures":{}}; a way whose samples all have one value says nothing
 * and is left out. */
void slices_write(struct slices *s, struct evaluate *e, struct json_out *o);

#endif
