/* Annotation layers: annotations over a version's samples beside their own. What a seat of a labelling task,
 * a model or a script says is a layer until somebody accepts it. A layer goes with its version, is not copied
 * to a new one, and may lie over a published one. */
#ifndef INGOT_CORE_DATA_LAYER_H
#define INGOT_CORE_DATA_LAYER_H

#include "core/data/sample.h"

extern const struct kind kind_layer;

struct layer_fields {
    struct str name;
    const char *made_by_kind; /* "user", "label_task", "model_version", ... */
    int64_t made_by;
    bool ready; /* else it is being written */
};

/* Inside a write. */
bool layer_create(struct op *op, const struct object *version, const struct layer_fields *f, int64_t *ret,
                  struct err *err);
/* Puts a whole annotation (canonical) there: what models and imports write. */
bool layer_put(struct op *op, int64_t layer, int64_t sample, struct str annotation, struct err *err);
/* The layer's annotation of a sample becomes the sample's own. A sample it says nothing about stays. */
bool layer_take(struct op *op, const struct sample_set *set, int64_t layer, int64_t sample, bool *ret_changed,
                struct err *err);
/* All layers of a version that is deleted; their samples go in the background. */
bool layer_drop_all(struct op *op, int64_t version, struct err *err);

/* What a layer says of a sample; "{}" at revision 0 when it says nothing. Outside of writes. */
bool layer_get(struct db *db, struct arena *a, int64_t version, int64_t layer, struct sample *s,
               struct err *err);

#endif
