/* COCO's captions: annotations with a `caption` instead of a category. They are usually in a file of their
 * own that names the same images as the file of the shapes, so files of captions are read first and kept here
 * until the image comes. A caption becomes one of `attributes.captions` of its sample. */
#ifndef INGOT_CODEC_COCO_CAPTIONS_H
#define INGOT_CODEC_COCO_CAPTIONS_H

#include "codec/reader.h"

/* Bytes of the captions of one sample, as JSON: attributes have at most 64 KiB. */
#define COCO_CAPTIONS_MAX 65000

struct coco_captions;
struct coco_captions *coco_captions_new(void);
void coco_captions_free(struct coco_captions *c);

/* Whether the file holds captions: its first annotation is one. */
bool coco_captions_in(struct str text);

/* Keeps what a file says of an image: s->source, file, path, sizes, split and position, and its s->records
 * captions as JSON strings with commas between. What would be too much is skipped, counted and reported. */
void coco_captions_keep(struct coco_captions *c, struct reader_sample *s, struct str captions);
/* Takes the captions kept for this image: appends them and adds to s->records. */
void coco_captions_take(struct coco_captions *c, struct reader_sample *s, struct buf *captions);
/* Emits the images that no other file spoke of, in the order they came. */
bool coco_captions_rest(struct coco_captions *c, struct codec_reader *r, struct err *err);

/* The annotation's text of captions and of shapes, each a list without its brackets; either may be empty. */
void coco_annotation_text(struct buf *ret, struct str captions, struct str shapes);

/* Calls fn for each caption of a sample; false when fn did. */
bool coco_captions_each(struct str attributes, bool (*fn)(void *ctx, struct str caption), void *ctx);

#endif
