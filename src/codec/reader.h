/* What the read functions of codecs stand on: the listing with its index, samples under construction, and the
 * account of what was taken, repaired and skipped. codec_read makes one, calls the codec's read, and lastly
 * emits the media files that no annotation spoke of and reports the files that the codec did not read. */
#ifndef INGOT_CODEC_READER_H
#define INGOT_CODEC_READER_H

#include "base/json.h"
#include "codec/codec.h"
#include "codec/model.h"
#include "codec/path.h"

#define READER_NONE SIZE_MAX

enum reader_use { READER_UNUSED, READER_EMITTED, READER_CONSUMED, READER_KNOWN }; /* of a file */

struct reader_entry;

struct codec_reader {
    const struct codec_input *in;
    enum annotation_type type;
    enum annotation_data data;
    struct arena arena; /* as long as the read */
    struct codec_counts counts;
    uint8_t *use;               /* enum reader_use per file */
    struct reader_entry *index; /* media files by the hash of their stem */
    size_t index_count;
    struct map *missing; /* names already emitted without a file of the listing */
    struct map *labels;  /* names already given to in->label */
    uint64_t bytes_done, bytes_total;
};

void reader_init(struct codec_reader *r, const struct codec_input *in, enum annotation_type type);
void reader_release(struct codec_reader *r);

/* ---- files ---- */
static inline struct str reader_path(const struct codec_reader *r, size_t file)
{
    return r->in->files[file].path;
}
/* Whether the file is of the upload and has this ending: what annotation files are looked for among. */
bool reader_has(const struct codec_reader *r, size_t file, const char *ending);
/* Whether it is a media file of the upload. */
bool reader_is_media(const struct codec_reader *r, size_t file);
bool reader_open(struct codec_reader *r, size_t file, struct str *ret, struct err *err);
void reader_close(struct codec_reader *r, size_t file, struct str bytes); /* marks it as consumed */
/* What is written in a file of text, without the mark at its beginning: bytes that are not UTF-8 are read as
 * UTF-16 or GBK (what Windows writes), which is reported. In `bytes` or in the reader's arena. */
struct str reader_text(struct codec_reader *r, size_t file, struct str bytes);
/* The first bytes of a file, into ret; false when it cannot be opened. For detecting. */
bool reader_peek(struct codec_reader *r, size_t file, size_t max, struct buf *ret);
/* Everything in `bytes` before `upto` is done with. */
void reader_done(struct codec_reader *r, struct str bytes, const char *upto);
bool reader_progress(struct codec_reader *r, uint64_t more, struct err *err);
/* Whether a file of that ending is what `is` looks for: all are looked at, of very many some everywhere. */
bool reader_detect(struct codec_reader *r, const char *ending,
                   bool (*is)(struct codec_reader *r, size_t file), size_t *ret_file);

/* The media file that the annotation file `source` means by `name`: relative to its folder or to the top or
 * to a folder "images" beside, else the only file whose path ends with it, else the only one of that base
 * name. Files of the upload come before samples that are there already. READER_NONE: none, or several. */
size_t reader_find(const struct codec_reader *r, struct str source, struct str name);
/* The media file with this stem, whatever its ending: in dir, else the only one anywhere. */
size_t reader_find_stem(const struct codec_reader *r, struct str dir, struct str stem);
/* Whether any has it: what was not found by its stem is one of several then. */
bool reader_has_stem(const struct codec_reader *r, struct str stem);

/* A number of a text file: also ".5" and "+1". */
bool reader_real(struct str s, double *ret);

/* ---- problems ---- */
void reader_problem(struct codec_reader *r, enum codec_problem_kind kind, struct str path,
                    struct str position, const char *fmt, ...) printf_like(5, 6);
/* One record that is left out, counted and reported. */
#define reader_skip(r, path, position, ...)                                                                  \
    ((r)->counts.records++, (r)->counts.skipped++,                                                           \
     reader_problem((r), CODEC_SKIPPED, (path), (position), __VA_ARGS__))

/* ---- labels ---- */
bool reader_label(struct codec_reader *r, const struct codec_label *l, struct err *err);
bool reader_label_name(struct codec_reader *r, struct str name, struct err *err);

/* ---- samples ---- */
struct reader_sample {
    struct codec_reader *r;
    struct arena arena; /* of everything in it */
    size_t file;        /* its media file or READER_NONE: then path is the name */
    struct str path, source, content;
    uint32_t width, height;
    enum codec_split split;
    char position[64]; /* of the sample in source */
    struct annotation n;
    uint32_t shape_cap;
    uint64_t records; /* taken into n */
};

void reader_sample_init(struct reader_sample *s, struct codec_reader *r, struct str source);
void reader_sample_release(struct reader_sample *s);
/* Takes the size from in->size when the file is there and no size is known; reports what is no picture. */
bool reader_sample_size(struct reader_sample *s);
/* Checks the shape, makes it what the type takes (a polygon's box for detection), clips it. False: it was
 * skipped, counted and reported. */
bool reader_check_shape(struct reader_sample *s, struct shape *shape, const char *position);
/* Adds a checked shape, borrowing its memory; the limit of a sample's shapes is checked here. */
bool reader_push_shape(struct reader_sample *s, const struct shape *shape, const char *position);
/* Both. */
bool reader_add_shape(struct reader_sample *s, struct shape *shape, const char *position);
/* Adds a label of the whole sample; skipped and reported when the type takes none, or no second one. */
bool reader_add_label(struct reader_sample *s, struct str label, const char *position);
/* Emits with the annotation n, or with `text` (canonical) when given. A second annotation for a sample is
 * reported and its records count as skipped. */
bool reader_emit(struct reader_sample *s, struct str text, struct err *err);

/* Reads a file of one JSON object a line: line is called for each, with a new sample; what is no object is
 * skipped and reported. */
bool reader_json_lines(struct codec_reader *r, size_t file,
                       bool (*line)(struct reader_sample *s, yyjson_val *v, size_t number, struct err *err),
                       struct err *err);

/* Media files without annotation, and files that the codec did not read. */
bool reader_rest(struct codec_reader *r, struct err *err);

#endif
