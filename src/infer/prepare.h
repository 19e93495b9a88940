/* From a picture, text or sound to the tensors of one part, as its input in the manifest says, and back:
 * where a point of the prepared picture lies in the one that came. */
#ifndef INGOT_INFER_PREPARE_H
#define INGOT_INFER_PREPARE_H

#include "infer/decode.h"
#include "infer/tensor.h"
#include "model/manifest.h"

#define PREPARE_MAX_PIXELS (16u << 20) /* of a prepared picture */

/* x of the picture = from[0] + (x of the input - offset[0]) * step[0]; y the same with [1]. */
struct prepare_map {
    double from[2], step[2], offset[2];
    uint32_t input[2];   /* width and height of the input */
    uint32_t picture[2]; /* of the upright picture */
};

struct prepared {
    struct tensor tensors[3];
    size_t n;
    struct prepare_map map; /* pictures */
    size_t used;            /* tokens that are no padding */
};

/* Where the picture of that full size goes, without pixels: for the least size of scaled decoding. */
bool prepare_place(const struct model_input *in, uint32_t width, uint32_t height, struct prepare_map *ret,
                   struct err *err);
bool prepare_picture(struct arena *a, const struct model_input *in, const struct picture *p,
                     struct prepared *ret, struct err *err);
bool prepare_text(struct arena *a, const struct model_input *in, struct str text, struct prepared *ret,
                  struct err *err);
bool prepare_sound(struct arena *a, const struct model_input *in, struct str bytes, struct prepared *ret,
                   struct err *err);

static inline double prepare_back(const struct prepare_map *m, int axis, double at)
{
    return m->from[axis] + (at - m->offset[axis]) * m->step[axis];
}
static inline double prepare_forth(const struct prepare_map *m, int axis, double at)
{
    return m->offset[axis] + (at - m->from[axis]) / m->step[axis];
}

#endif
