/* What is known about one sample, as one JSON object: the platform's own shape for all types of annotation.
 * docs/annotations.md describes every member; this is its reader.
 *
 *     {"labels":["cat"],
 *      "shapes":[{"type":"box","label":"cat","x":1,"y":2,"w":3,"h":4,"angle":0,"score":0.9},
 *                {"type":"polygon","label":"cat","rings":[[0,0,9,0,9,9]]},
 *                {"type":"mask","label":"cat","size":[480,640],"counts":"..."},
 *                {"type":"keypoints","label":"person","points":[[x,y,v],...]}],
 *      "text":"...", "spans":[{"start":0,"end":5,"label":"name"}],
 *      "segments":[{"start":0.5,"end":2,"text":"..."}]}
 *
 * The empty annotation is `{}`. Coordinates are pixels of the upright picture, from its top left corner; y
 * goes down. Canonical text has sorted keys, no white space, the shortest numbers and no members that say
 * nothing (empty lists, angle 0, score null), so equal annotations are equal bytes. All functions that take
 * `json` check it again: it may come from anywhere. */
#ifndef INGOT_CODEC_ANNOTATION_H
#define INGOT_CODEC_ANNOTATION_H

#include "base/arena.h"
#include "base/err.h"

enum annotation_type {
    ANNOTATION_IMAGE_CLASS,   /* one label */
    ANNOTATION_IMAGE_CLASSES, /* any number of labels */
    ANNOTATION_DETECTION,     /* boxes */
    ANNOTATION_ROTATED,       /* boxes with an angle */
    ANNOTATION_SEGMENTATION,  /* polygons and masks */
    ANNOTATION_KEYPOINTS,     /* points of a named skeleton */
    ANNOTATION_OCR,           /* boxes and polygons with text */
    ANNOTATION_TEXT_CLASS,    /* labels of a text */
    ANNOTATION_TEXT_SPANS,    /* labelled parts of a text */
    ANNOTATION_AUDIO_CLASS,   /* labels of a sound */
    ANNOTATION_TRANSCRIPTION, /* what is said, in segments */
    ANNOTATION_TYPE_COUNT,
};

/* What a sample is; the data type of a dataset. */
enum annotation_data { ANNOTATION_IMAGE, ANNOTATION_TEXT, ANNOTATION_AUDIO, ANNOTATION_DATA_COUNT };

struct annotation_type_info {
    const char *name; /* "image-class", "detection", ...: the value of the API's field */
    const char *title_en, *title_zh;
    enum annotation_data data;
};

/* The table, ANNOTATION_TYPE_COUNT rows in the order of the enum. */
extern const struct annotation_type_info annotation_types[];
extern const char *const annotation_data_names[]; /* "image", "text", "audio" */
bool annotation_type_of(struct str name, enum annotation_type *ret);
/* The same of a name that a client gave as `field`: the error lists the known ones. */
bool annotation_type_asked(const char *field, struct str name, enum annotation_type *ret, struct err *err);

/* Limits of one annotation. */
#define ANNOTATION_MAX_BYTES  (16u << 20)
#define ANNOTATION_MAX_SHAPES 20000 /* also of spans and of segments */
#define ANNOTATION_MAX_LABELS 1000  /* of `labels` */
#define ANNOTATION_MAX_POINTS 1000000
#define ANNOTATION_MAX_SIDE   1000000 /* pixels of a picture's side; coordinates are within +-10 times that */
#define ANNOTATION_MAX_PIXELS (400u << 20) /* of a mask */
#define ANNOTATION_MAX_LABEL  200          /* characters of a label */
#define ANNOTATION_MAX_TEXT   100000       /* characters of a text */

/* Checks json against the rules of the type and gives its canonical text (in the arena). On failure
 * ERR_INVALID with err->field the path of what is wrong ("shapes[3].w") and its rule, or ERR_MALFORMED when
 * it is no JSON. */
bool annotation_check(struct arena *a, enum annotation_type type, struct str json, struct str *ret_canonical,
                      struct err *err);

/* Whether both say the same, whatever their keys' order, number spelling and ids. */
bool annotation_equal(struct str a, struct str b);

/* Every shape, span and segment may have an id, by which operations (operation.h) name it. With: those that
 * have none, or another's, get one that is derived from what they say, so that it is the same for whoever
 * asks. Without: what counts when annotations are compared or digested. Of canonical text they give canonical
 * text. */
bool annotation_with_ids(struct arena *a, struct str json, struct str *ret_json, struct err *err);
bool annotation_without_ids(struct arena *a, struct str json, struct str *ret_json, struct err *err);

/* Whether it says nothing ("{}", or only empty members): the sample counts as unannotated. */
bool annotation_empty(struct str json);

/* Calls fn for each different label of `labels`, shapes, spans and segments, in order of first use, with the
 * number of times. */
bool annotation_each_label(struct str json, void (*fn)(void *ctx, struct str label, uint32_t count),
                           void *ctx, struct err *err);

/* The same annotation with labels renamed: fn gives the new name, or STR_NULL to drop what bears it. */
bool annotation_relabel(struct arena *a, struct str json, struct str (*fn)(void *ctx, struct str label),
                        void *ctx, struct str *ret_json, struct err *err);

/* What happened to the shapes. */
struct annotation_changes {
    uint32_t changed; /* clipped at the edge */
    uint32_t dropped; /* nothing of them is left inside */
};

/* Cuts every shape at the picture's edge (w x h pixels); shapes that lie outside are dropped. Unrotated boxes
 * and polygons are cut, masks must have the picture's size (ERR_INVALID), keypoints outside become "not
 * labelled" (0,0,0), rotated boxes are kept while any part is inside. A box without width or height is
 * dropped. *ret_changes may be NULL. */
bool annotation_clip(struct arena *a, struct str json, uint32_t w, uint32_t h, struct str *ret_json,
                     struct annotation_changes *ret_changes, struct err *err);

/* Lets the geometry follow the pixels: x' = m[0] x + m[1] y + m[2], y' = m[3] x + m[4] y + m[5], onto a
 * picture of w x h pixels; what falls outside is clipped or dropped as by annotation_clip. Boxes of
 * ANNOTATION_ROTATED keep their angle, others become the upright box round their corners. Crop at (x, y):
 * {1,0,-x, 0,1,-y}; mirror: {-1,0,width, 0,1,0}; a quarter turn clockwise: {0,-1,height, 1,0,0}. A matrix
 * that mirrors swaps nothing in skeletons, whose points are known by name only: sides.h does. */
bool annotation_transform(struct arena *a, enum annotation_type type, struct str json, const double m[6],
                          uint32_t w, uint32_t h, struct str *ret_json,
                          struct annotation_changes *ret_changes, struct err *err);

#endif
