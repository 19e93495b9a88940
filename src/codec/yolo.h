/* YOLO: what reading and writing share. */
#ifndef INGOT_CODEC_YOLO_H
#define INGOT_CODEC_YOLO_H

#include "base/arena.h"

/* The parts of data.yaml that matter, read by a few rules instead of all of YAML: `names` as a list or a
 * mapping, in one line or in a block, and `kpt_shape`. */
struct yolo_names {
    struct str *names; /* by class number; STR_NULL where there is none */
    size_t count;
    uint32_t points, dims; /* kpt_shape; 0: not given */
};
void yolo_names_yaml(struct arena *a, struct str text, struct yolo_names *ret);
void yolo_names_lines(struct arena *a, struct str text, struct yolo_names *ret); /* classes.txt, obj.names */

#endif
