/* Annotation formats in and out. codec_table is the list of all; one more format is one file with read and
 * write functions and one row.
 *
 * Reading: the caller has unpacked or listed an upload and gives its files. A codec reads the annotation
 * files among them and emits one codec_sample per picture (text, sound), with an annotation in canonical
 * form. Everything in the upload is accounted for: each of its media files is emitted exactly once (without
 * annotation when no file speaks of it), and every record that could not be taken whole is reported with
 * file, position and reason.
 *
 *     struct codec_input in = {.files = list, .file_count = n, .open = ..., .sample = ..., .problem = ...};
 *     const struct codec *c = codec_detect(&in, type, &err);       or codec_named("coco")
 *     struct codec_counts counts;
 *     codec_read(c, &in, type, &counts, &err);
 *
 * Writing: the caller's samples are pulled (possibly several times over), the files of the format are pushed
 * into a sink one after the other, so that they stream into an archive.
 *
 * Not thread-safe per call; calls are independent of each other. */
#ifndef INGOT_CODEC_CODEC_H
#define INGOT_CODEC_CODEC_H

#include "codec/annotation.h"

enum codec_split { CODEC_SPLIT_NONE, CODEC_TRAIN, CODEC_VAL, CODEC_TEST, CODEC_SPLIT_COUNT };
extern const char *const codec_split_names[]; /* "", "train", "val", "test" */

/* One picture, text or sound. Strings live until the callback returns (reading) or until the next call of
 * `next` (writing). */
struct codec_sample {
    struct str path; /* of the media file: in the listing, or as the annotation file names it (missing),
                        or made up (content) */
    bool missing;    /* reading: named by an annotation file but not in the listing; path is then any text, to
                        be looked up, never to be opened */
    struct str content;     /* reading: the sample's bytes when it has no file of its own (a text in a CSV) */
    uint32_t width, height; /* of the picture in pixels as far as known, else 0; writing COCO, VOC, YOLO and
                               LabelMe needs it */
    struct str annotation;  /* canonical JSON; STR_NULL: none */
    uint64_t annotations;   /* reading: labels, shapes, spans, segments, transcripts and captions in it */
    enum codec_split split;
    struct str source;   /* reading: the annotation file it comes from, STR_NULL for none */
    struct str position; /* reading: where in it: "images[3]", "line 7" */
};

/* A label that the annotation files define, used or not, in their order. */
struct codec_label {
    struct str name, parent;     /* parent: supercategory or STR_NULL */
    const struct str *keypoints; /* names of the skeleton's points */
    size_t keypoint_count;
    const uint16_t (*edges)[2]; /* pairs of indices into keypoints */
    size_t edge_count;
    struct str attributes; /* what it asks of each thing that bears it: a JSON list, STR_NULL for none */
    bool retired;          /* not offered any more; what bears it stays */
};

enum codec_problem_kind {
    CODEC_SKIPPED,  /* the record was left out */
    CODEC_REPAIRED, /* taken, but changed: clipped, a default put in */
    CODEC_IGNORED,  /* a file or part that no codec reads: licences, README */
};
extern const char *const codec_problem_names[]; /* "skipped", "repaired", "ignored" */

struct codec_problem {
    enum codec_problem_kind kind;
    struct str path;     /* the file */
    struct str position; /* "line 3", "annotations[12]", "object[1].bndbox.xmin"; may be STR_NULL */
    const char *reason;  /* an English sentence */
};

struct codec_file {
    struct str path; /* relative, '/' between, no "..": the caller's duty */
    uint64_t size;
    /* Not of this upload, but a sample that is there already: annotation files of the upload may speak of it,
     * and nothing else does. It is never opened, and emitted only when one did. */
    bool known;
};

struct codec_input {
    const struct codec_file *files;
    size_t file_count;
    void *ctx;
    /* The bytes of a listed file (mapped, or read); they stay valid until close. A file that cannot be opened
     * ends the read. */
    bool (*open)(void *ctx, struct str path, struct str *ret_bytes, struct err *err);
    void (*close)(void *ctx, struct str path, struct str bytes);
    /* This part of a file's bytes is not needed for a while: a mapping may drop its pages, so that a large
     * file does not count as memory (codec/mapping.h). May be NULL. */
    void (*drop)(void *ctx, struct str part);
    /* Pixels of a listed picture, upright; false and *err (ERR_INVALID: not a picture) are reported as a
     * problem. NULL: sizes are not known. */
    bool (*size)(void *ctx, struct str path, uint32_t *ret_width, uint32_t *ret_height, struct err *err);
    /* One sample; false ends the read with *err (cancelled, disk full). */
    bool (*sample)(void *ctx, const struct codec_sample *s, struct err *err);
    bool (*label)(void *ctx, const struct codec_label *l, struct err *err); /* may be NULL */
    void (*problem)(void *ctx, const struct codec_problem *p);
    /* Bytes of annotation files read so far of all there are, now and then; false ends the read. May be NULL.
     */
    bool (*progress)(void *ctx, uint64_t done, uint64_t total, struct err *err);
};

/* Records are what a format counts: annotations of COCO, objects of VOC, lines of YOLO, CSV and JSONL. */
struct codec_counts {
    uint64_t records; /* in the files; = taken + skipped */
    uint64_t taken;   /* including repaired ones */
    uint64_t skipped;
    uint64_t repaired;
    uint64_t samples; /* emitted */
    uint64_t missing; /* emitted with `missing` */
    uint64_t ignored; /* files and parts reported as ignored */
};

struct codec_source {
    void *ctx;
    /* The next sample; *ret_end instead when there are no more. */
    bool (*next)(void *ctx, struct codec_sample *ret, bool *ret_end, struct err *err);
    bool (*rewind)(void *ctx, struct err *err); /* to the first, with the same samples in the same order */
    /* The bytes of the sample that `next` gave last; only the classification training data, CSV and JSONL of
     * texts ask. NULL: not available. */
    bool (*bytes)(void *ctx, const struct codec_sample *s, struct str *ret, struct err *err);
    const struct codec_label *labels; /* in the wanted order; labels that only samples use follow by name */
    size_t label_count;
};

struct codec_output {
    void *ctx;
    /* One file at a time: begin, write any number of times, end. */
    bool (*file_begin)(void *ctx, const char *path, struct err *err);
    bool (*write)(void *ctx, const void *p, size_t n, struct err *err);
    bool (*file_end)(void *ctx, struct err *err);
    /* Puts the sample's own bytes at path, where the format wants them; never between begin and end. NULL:
     * export without the samples. */
    bool (*media)(void *ctx, const struct codec_sample *s, const char *path, struct err *err);
};

struct codec_reader; /* what a read function works with: codec/reader.h */
struct codec_writer; /* codec/writer.h */

struct codec {
    const char *name; /* "coco", ...: the value of the API's field */
    const char *title_en, *title_zh;
    const char *files;      /* what it looks like, for help texts: "annotations/NAME.json" */
    unsigned reads, writes; /* bit per annotation_type that it can carry */
    /* How sure it is that the listing is of this format: 0 (no) to 100, and a file that says so. NULL: it is
     * what is left when no other is. */
    int (*detect)(struct codec_reader *r, size_t *ret_file);
    bool (*read)(struct codec_reader *r, struct err *err);
    bool (*write)(struct codec_writer *w, struct err *err);
};

extern const struct codec codec_table[]; /* codec_count rows, in order of preference */
extern const size_t codec_count;
const struct codec *codec_named(struct str name); /* NULL when there is none */
/* The same of a name that a client gave: NULL with ERR_INVALID (field "format") that lists the known ones. */
const struct codec *codec_asked(struct str name, struct err *err);

/* The format of the upload, by all its files. Media files alone give "image-folder" or, without folders that
 * could be classes, "files" (no annotations). NULL and ERR_INVALID (field "format") when several fit: the
 * sentence names them and what speaks for each. Opens files to look at their beginning. */
const struct codec *codec_detect(const struct codec_input *in, enum annotation_type type, struct err *err);

/* Reads the whole upload. Bad records are problems, not failures; it fails when a callback fails, or with
 * ERR_INVALID (field "format") when the codec cannot carry the type. */
bool codec_read(const struct codec *c, const struct codec_input *in, enum annotation_type type,
                struct codec_counts *ret, struct err *err);

/* Writes all samples. Records the format cannot carry (a polygon into YOLO detection) are converted where
 * that is usual (its box) and otherwise left out; each is reported through problem (may be NULL). */
bool codec_write(const struct codec *c, const struct codec_source *src, enum annotation_type type,
                 const struct codec_output *out, void (*problem)(void *ctx, const struct codec_problem *p),
                 void *problem_ctx, struct err *err);

/* Training data: a fixed set of files per type (docs/annotations.md), split into train and test. */
struct codec_training {
    uint64_t seed;
    double test_share; /* 0..0.9; 0.2 is usual. Fewer than 10 samples to deal out: no test part of them */
    bool keep_split;   /* samples that have a part stay in it; val is the test part where there is no test,
                          else it belongs to train. The others are dealt out */
};
struct codec_training_counts {
    uint64_t train, test, negatives; /* negatives: of both, those with nothing on them */
};
/* Samples without an annotation (STR_NULL) take no part; an empty one says that there is nothing on the
 * sample, which training needs to know too. Only where each sample has just one class it is left out and
 * reported. */
bool codec_training_write(const struct codec_source *src, enum annotation_type type,
                          const struct codec_training *opt, const struct codec_output *out,
                          void (*problem)(void *ctx, const struct codec_problem *p), void *problem_ctx,
                          struct codec_training_counts *ret, struct err *err);

/* A small dataset of the type in the format, with its samples (pictures, texts, sounds), for users to look
 * at; the same bytes each time. Only file_begin, write and file_end of out are used. ERR_INVALID (field
 * "format") when the format cannot carry the type. */
bool codec_example(const struct codec *c, enum annotation_type type, const struct codec_output *out,
                   struct err *err);

/* The endings of sample files of each data type, with the dot; NULL after the last. */
#define CODEC_ENDINGS 12
extern const char *const codec_media_endings[ANNOTATION_DATA_COUNT][CODEC_ENDINGS];
/* Whether the path's ending is that of a sample of this data type (.jpg, .txt, .wav ...). */
bool codec_is_media(struct str path, enum annotation_data data);

#endif
