/* COCO: one JSON file with images, categories and annotations. */
#ifndef INGOT_CODEC_COCO_H
#define INGOT_CODEC_COCO_H

#include "codec/reader.h"
#include "codec/writer.h"

int coco_detect(struct codec_reader *r, size_t *ret_file);
bool coco_read(struct codec_reader *r, struct err *err);
bool coco_write(struct codec_writer *w, struct err *err);
/* One file of the samples of that part (WRITER_ALL: of all). */
bool coco_write_file(struct codec_writer *w, const char *path, enum codec_split part, struct err *err);

/* One annotation as a shape of what the type wants; false with the reason. */
struct coco_fields {
    yyjson_val *bbox, *segmentation, *keypoints, *area, *score, *iscrowd, *text, *attributes;
};
bool coco_shape(struct arena *a, enum annotation_type type, const struct coco_fields *f, struct shape *ret,
                const char **ret_why);

#endif
