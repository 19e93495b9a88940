/* What the write functions of codecs stand on: samples with their annotation parsed, buffered output, the
 * list of labels with numbers, and which part of a split each sample belongs to. */
#ifndef INGOT_CODEC_WRITER_H
#define INGOT_CODEC_WRITER_H

#include "codec/codec.h"
#include "codec/model.h"

#define WRITER_ALL CODEC_SPLIT_COUNT /* every part of a split */

struct codec_writer {
    const struct codec_source *src;
    const struct codec_output *out;
    enum annotation_type type;
    enum annotation_data data;
    void (*problem)(void *ctx, const struct codec_problem *p);
    void *problem_ctx;
    struct arena arena;         /* as long as the write */
    struct codec_label *labels; /* all, in order */
    size_t label_count;
    struct map *label_index;
    struct buf buf; /* of the file being written */
    uint8_t *parts; /* enum codec_split per sample, when a training split was made; else NULL */
    size_t sample_count;
    struct map *names; /* of files written, or their stems */
    bool bare;         /* COCO: names are those of writer_bare */
};

/* Goes through all samples once for the labels. */
bool writer_init(struct codec_writer *w, const struct codec_source *src, enum annotation_type type,
                 const struct codec_output *out, struct err *err);
void writer_release(struct codec_writer *w);

/* ---- samples: one walk is writer_rewind, then writer_next until it says end ---- */
struct writer_sample {
    struct arena arena;
    struct codec_sample s;
    struct annotation n;
    size_t number; /* from 0 */
    bool started;
};
bool writer_rewind(struct codec_writer *w, struct writer_sample *it, struct err *err);
bool writer_next(struct codec_writer *w, struct writer_sample *it, bool *ret_end, struct err *err);
void writer_sample_release(struct writer_sample *it);
/* Its part: of the training split when one was made, else as the sample says. */
enum codec_split writer_part(const struct codec_writer *w, const struct writer_sample *it);

/* ---- files ---- */
bool writer_begin(struct codec_writer *w, const char *path, struct err *err);
/* Fill w->buf, then call this now and then: it is passed on when it is large enough. */
bool writer_flush(struct codec_writer *w, struct err *err);
bool writer_end(struct codec_writer *w, struct err *err);
/* A whole file of what is in w->buf. */
bool writer_file(struct codec_writer *w, const char *path, struct err *err);
bool writer_media(struct codec_writer *w, const struct writer_sample *it, const char *path, struct err *err);
/* What an annotation file calls the sample whose file would have this name: without the files it is the name
 * of the sample, as it is where the annotations go. */
struct str writer_reference(const struct codec_writer *w, const struct writer_sample *it, struct str name);
/* The media of all samples, at their own paths. */
bool writer_all_media(struct codec_writer *w, struct err *err);
/* The path without a leading "images/" and with a stem that no other path of this walk has (in the arena of
 * it); call writer_names_reset before each walk. */
char *writer_unique(struct codec_writer *w, struct writer_sample *it, struct str path);
void writer_names_reset(struct codec_writer *w);
/* The same for files that nothing stands beside: only the whole path is its own. */
char *writer_bare(struct codec_writer *w, struct writer_sample *it);

/* Makes shape number i a polygon when it is a mask, for formats without masks; reports it. False when it
 * cannot be one: left out and reported. */
bool writer_outline(struct codec_writer *w, struct writer_sample *it, uint32_t i);

/* What becomes of the holes of shape number i: where the format has masks (and the type takes them) it
 * becomes one, else they are left out. Either is reported. */
void writer_holes(struct codec_writer *w, struct writer_sample *it, uint32_t i, bool masks);

/* ---- labels ---- */
size_t writer_label(const struct codec_writer *w, struct str name); /* its number from 0, SIZE_MAX: unknown */

void writer_problem(struct codec_writer *w, enum codec_problem_kind kind, struct str path,
                    struct str position, const char *fmt, ...) printf_like(5, 6);

#endif
