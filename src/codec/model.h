/* An annotation in memory, between its JSON text and the codecs: what annotation.h does to text is done on
 * this, and readers of formats fill one in and write it as canonical text. Everything it points to lives in
 * the arena it was read with (or wherever the codec has it). */
#ifndef INGOT_CODEC_MODEL_H
#define INGOT_CODEC_MODEL_H

#include "base/buf.h"
#include "codec/annotation.h"

#include <yyjson.h>

enum shape_kind { SHAPE_BOX, SHAPE_POLYGON, SHAPE_MASK, SHAPE_KEYPOINTS, SHAPE_KIND_COUNT };
extern const char *const shape_kind_names[];

struct ring {
    double *xy;     /* x, y, x, y ... */
    uint32_t count; /* of points, at least 3; the last is joined to the first */
};

struct shape {
    enum shape_kind kind;
    bool crowd;                        /* COCO's iscrowd */
    bool has_score, has_box, has_area; /* box and area beside the geometry, as a file gave them */
    struct str id, label, skeleton;
    struct str text;            /* of OCR; STR_NULL: none */
    struct str attributes;      /* canonical JSON object; STR_NULL: none */
    double x, y, w, h, angle;   /* box: turned by angle degrees clockwise about its middle */
    double score, area, box[4]; /* box: x, y, w, h */
    struct ring *rings;         /* polygon; outline of keypoints */
    uint32_t ring_count;
    uint32_t size[2];    /* mask: height, width */
    struct str counts;   /* mask: compressed run lengths */
    double (*points)[3]; /* keypoints: x, y, visibility 0..2 */
    uint32_t point_count;
};

/* A part of a text (start, end in characters) or of a sound (in seconds). */
struct part {
    double start, end;
    bool has_score;
    double score;
    struct str id, label, text, attributes;
};

struct annotation {
    struct str *labels;
    double *scores; /* per label, NAN: none; NULL: none at all */
    uint32_t label_count;
    struct shape *shapes;
    uint32_t shape_count;
    struct part *spans, *segments;
    uint32_t span_count, segment_count;
    uint32_t room;         /* places of its list (model_list) that operations have made; 0: as many as used */
    struct str text;       /* transcript; STR_NULL: none */
    struct str attributes; /* of the sample */
};

/* Rules for any type: only what is true of all of them is checked. */
#define MODEL_ANY ANNOTATION_TYPE_COUNT

/* Fills *ret from a parsed value, checking it against the type's rules (ERR_INVALID names the member). */
bool model_read(struct arena *a, enum annotation_type type, yyjson_val *v, struct annotation *ret,
                struct err *err);
bool model_parse(struct arena *a, enum annotation_type type, struct str json, struct annotation *ret,
                 struct err *err);

/* One entry of a list alone, for operations: `where` is how errors call it ("shape"). A part is a span or a
 * segment, whichever the type has. */
bool model_read_shape(struct arena *a, enum annotation_type type, yyjson_val *v, const char *where,
                      struct shape *ret, struct err *err);
bool model_read_part(struct arena *a, enum annotation_type type, yyjson_val *v, const char *where,
                     struct part *ret, struct err *err);

/* Gives each shape, span and segment without an id, or with one that stands before it already, an id that is
 * derived from what it says and its number among those that say the same: whoever does it to the same
 * annotation gets the same ids. Returns how many it gave. */
uint32_t model_give_ids(struct arena *a, struct annotation *n);
void model_drop_ids(struct annotation *n);

/* Canonical text, appended. The labels are sorted first. */
void model_write(struct buf *b, struct annotation *n);
struct str model_text(struct arena *a, struct annotation *n);

/* Parts of it, for readers that build the text piece by piece. */
void model_write_shape(struct buf *b, const struct shape *s);
void model_write_part(struct buf *b, const struct part *p);
void model_write_number(struct buf *b, double v); /* the shortest text that reads back; -0 as 0 */
void model_write_string(struct buf *b, struct str s);
/* Any value with sorted keys; of a key that is there twice the first counts, and it returns false. */
bool model_write_value(struct buf *b, yyjson_val *v);
/* Attributes as canonical text: an object of at most 8 levels and 64 KiB; STR_NULL for none. False with the
 * rule that it breaks. */
bool model_attributes(struct arena *a, yyjson_val *v, struct str *ret, const char **ret_why);
#define MODEL_MAX_ATTRIBUTES 65536 /* bytes of their text */
/* One value of them. */
bool model_attribute(struct arena *a, yyjson_val *v, struct str *ret, const char **ret_why);

/* Cuts a shape at the edge of a picture of w x h pixels, as annotation_clip. */
enum model_fate { MODEL_KEPT, MODEL_CHANGED, MODEL_GONE };
enum model_fate model_clip_shape(struct arena *a, struct shape *s, double w, double h);

/* Whether a type takes shapes of that kind; which kinds a file's geometry should become. */
bool model_takes_shape(enum annotation_type type, enum shape_kind kind);
bool model_takes_labels(enum annotation_type type);
bool model_takes_one_label(enum annotation_type type);
bool model_takes_text(enum annotation_type type);
/* The list that annotations of a type consist of. */
enum model_list { MODEL_NO_LIST, MODEL_SHAPES, MODEL_SPANS, MODEL_SEGMENTS };
enum model_list model_list_of(enum annotation_type type);
/* Whether a text may be a label, or be no label at all: UTF-8 without NUL, not too long. */
bool model_is_label(struct str s);

#endif
