/* The functions of the formats that codec.c lists; each format is described at the top of its file. */
#ifndef INGOT_CODEC_FORMATS_H
#define INGOT_CODEC_FORMATS_H

#include "codec/coco.h"

#define FORMAT(name)                                                                                         \
    int name##_detect(struct codec_reader *r, size_t *ret_file);                                             \
    bool name##_read(struct codec_reader *r, struct err *err);                                               \
    bool name##_write(struct codec_writer *w, struct err *err);

FORMAT(own)
FORMAT(voc)
FORMAT(labelme)
FORMAT(yolo)
FORMAT(jsonl)
FORMAT(csv)
FORMAT(folder)
FORMAT(files)

#undef FORMAT

/* Whether it is certain that folders are classes, and which; otherwise ERR_INVALID says what could be. */
bool folder_is_sure(struct codec_reader *r, struct err *err);

/* ingot.jsonl with the samples of one part, or of all (WRITER_ALL). */
bool own_write_file(struct codec_writer *w, const char *path, enum codec_split part, struct err *err);

#endif
