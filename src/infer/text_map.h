/* Where text is, out of the map of a detector with differentiable binarisation: connected places above the
 * threshold, the smallest rectangle round each, grown again as training shrank them. */
#ifndef INGOT_INFER_TEXT_MAP_H
#define INGOT_INFER_TEXT_MAP_H

#include "infer/task_own.h"

struct text_box {
    double
        xy[8]; /* corners in cells of the map: top left, top right, bottom right, bottom left of the text */
    double score; /* mean of the map over its place */
};

/* Best reading order: by rows from the top, within a row from the left. At most `most` boxes. */
size_t text_map_boxes(struct arena *a, const struct task_map *map, const struct model_output *o, double text,
                      double score, size_t most, struct text_box **ret);

#endif
