/* The manifest of a model version, its file ingot-model.json: which task it does, how a picture, text or
 * sound becomes tensors and how tensors become annotations. docs/models.md describes every field for users.
 * Parsing follows one table of fields (manifest_fields.c), from which the JSON Schema and the text that is
 * written come too. Pure: no file is opened here; what the manifest names beside the ONNX files (vocabularies
 * and the like: assets) is read through the caller's function. Everything lives in the arena given. */
#ifndef INGOT_MODEL_MANIFEST_H
#define INGOT_MODEL_MANIFEST_H

#include "base/json.h"
#include "codec/annotation.h"
#include "model/onnx.h"

#define MODEL_MANIFEST_FILE      "ingot-model.json"
#define MODEL_MANIFEST_MAX_BYTES (4u << 20)

/* Limits of a manifest. */
#define MODEL_MAX_PARTS   8
#define MODEL_MAX_INPUTS  16
#define MODEL_MAX_OUTPUTS 32
#define MODEL_MAX_LABELS  100000
#define MODEL_MAX_SIDE    8192  /* pixels of a prepared picture's side */
#define MODEL_MAX_LENGTH  65536 /* tokens of a text */

/* A task is an annotation type, or the one more. */
#define MODEL_TASK_EMBEDDING ANNOTATION_TYPE_COUNT
#define MODEL_TASK_COUNT     (ANNOTATION_TYPE_COUNT + 1)
const char *model_task_name(int task);
bool model_task_of(struct str name, int *ret);
/* Whether the task has predict; others are for the v2 protocol only. */
bool model_task_predicts(int task);

enum model_input_kind { MODEL_PICTURE, MODEL_TEXT, MODEL_SOUND };
extern const char *const model_kind_names[];
enum model_fit { MODEL_STRETCH, MODEL_LETTERBOX, MODEL_CROP };
enum model_align { MODEL_CENTER, MODEL_TOP_LEFT };
enum model_resample { MODEL_NEAREST, MODEL_BILINEAR, MODEL_BICUBIC, MODEL_AREA };
enum model_color { MODEL_RGB, MODEL_BGR, MODEL_GRAY };
enum model_layout { MODEL_NCHW, MODEL_NHWC };
enum model_type { MODEL_FP32, MODEL_FP16, MODEL_UINT8, MODEL_INT32, MODEL_INT64 };
enum model_tokenizer { MODEL_WORDPIECE, MODEL_NGRAMS, MODEL_CHARACTERS };

enum model_reading {
    MODEL_SOFTMAX,    /* logits of classes that exclude each other */
    MODEL_SIGMOID,    /* logits of classes that do not */
    MODEL_SCORES,     /* scores 0..1 as they are: of classes, or of each box */
    MODEL_CLASSES,    /* class number of each box */
    MODEL_COUNT,      /* how many of the boxes count */
    MODEL_BOXES,      /* corners or middle and size */
    MODEL_ROWS,       /* rows of box, objectness, class scores in one tensor */
    MODEL_ANCHORS,    /* offsets from anchors */
    MODEL_HEATMAP,    /* scores of classes on a grid, peaks are objects */
    MODEL_LTRB,       /* distances to the four sides on the same grid */
    MODEL_WH,         /* sizes on the same grid */
    MODEL_OFFSET,     /* where in the cell the middle is */
    MODEL_ARGMAX,     /* a map of scores per class: the best one takes the pixel */
    MODEL_MASK,       /* a map of scores of one class, or one per instance */
    MODEL_POINTS,     /* keypoints as numbers */
    MODEL_POINT_MAPS, /* one heat map per keypoint */
    MODEL_TEXT_MAP,   /* where text is: the differentiable binarisation detector */
    MODEL_CTC,        /* scores of characters over time */
    MODEL_VECTOR,     /* an embedding */
    MODEL_READING_COUNT,
};

enum model_box_format { MODEL_XYXY, MODEL_XYWH, MODEL_CXCYWH, MODEL_YXYX };
enum model_unit { MODEL_PIXELS, MODEL_NORMALIZED, MODEL_CELLS };
enum model_activation { MODEL_NONE, MODEL_ACT_SIGMOID, MODEL_ACT_SOFTMAX };
enum model_frame { MODEL_FRAME_INPUT, MODEL_FRAME_BOX };
enum model_pooling { MODEL_POOL_NONE, MODEL_POOL_MEAN, MODEL_POOL_FIRST };

enum model_threshold {
    MODEL_THRESHOLD_SCORE, /* below it nothing is told */
    MODEL_THRESHOLD_IOU,   /* of boxes that overlap more, only the best stays */
    MODEL_THRESHOLD_MASK,  /* a pixel belongs to the mask above it */
    MODEL_THRESHOLD_TEXT,  /* a pixel of a text map is text above it */
    MODEL_THRESHOLD_POINT, /* a keypoint below it is not labelled */
    MODEL_THRESHOLD_COUNT,
};
extern const char *const model_threshold_names[];

/* A file beside the ONNX files, read once: model_manifest_assets. */
struct model_asset {
    struct str path;
    struct str bytes;  /* STR_NULL until read */
    struct str *lines; /* of a vocabulary; without line ends */
    uint32_t *by_text; /* numbers of lines in the order of their texts; of equal ones the first is kept */
    size_t n_lines, n_by_text;
};

struct model_part {
    struct str name; /* "model", "detector" ... [a-z0-9_-], unique */
    struct str file; /* path in the version */
};

struct model_input {
    struct str name; /* of the graph's input */
    size_t part;
    enum model_input_kind kind;
    enum model_type type;
    /* pictures */
    uint32_t size[2];  /* width and height; 0: follows the picture's aspect */
    uint32_t longest;  /* both sides 0: the longer side is shrunk to it */
    uint32_t multiple; /* sides that follow are rounded up to a multiple */
    uint32_t range[2]; /* least and most of a side that follows */
    double crop;       /* share of the shorter side that a crop keeps */
    enum model_fit fit;
    enum model_align align;
    enum model_resample resample;
    bool antialias;
    bool scaled_decoding;
    enum model_color color;
    enum model_layout layout;
    double scale;
    double mean[3], deviation[3];
    double pad[3]; /* 0..255, before scale and mean */
    /* texts */
    enum model_tokenizer tokenizer;
    struct model_asset *vocab;
    bool lowercase;
    uint32_t length;        /* tokens, n-grams or characters at most */
    bool pad_to_length;     /* always that many */
    struct str mask, types; /* further inputs of the graph: 1 for tokens; 0 */
    struct str counts;      /* n-grams: the input with the numbers of occurrences */
    int64_t pad_id, unknown_id;
    /* sounds */
    uint32_t rate;    /* Hz */
    uint32_t samples; /* cut or padded to as many; 0: as long as it is */
    enum model_align cut;
    uint32_t rank; /* 1: [T], 2: [1,T], 3: [1,1,T] */
};

struct model_output {
    struct str name; /* of the graph's output */
    size_t part;
    enum model_reading reading;
    enum model_box_format format;
    enum model_unit unit;
    enum model_activation activation;
    enum model_layout layout;
    enum model_resample resample; /* of maps to the picture's pixels */
    enum model_frame frame;
    enum model_pooling pooling;
    bool transposed;    /* classes or numbers before boxes: [1,C,Q] instead of [1,Q,C] */
    bool objectness;    /* rows have it after the box */
    bool peaks;         /* heat map: only the greatest of 3x3 cells counts; false when the graph did it */
    bool normalize;     /* vector: to the length 1 */
    bool space;         /* CTC: a space follows the characters of the file */
    bool yx;            /* points: y before x */
    bool refine;        /* point maps: a quarter of a cell towards the greater neighbour */
    int32_t background; /* class that is nothing; -1: none. labels do not have it */
    int32_t blank;      /* CTC */
    double stride;      /* pixels of the input to a cell; 0: by the sizes */
    double center;      /* where in a cell its point is: 0 or .5 */
    double variances[4];
    double unclip; /* text map: how much boxes grow */
    struct model_asset *anchors, *characters;
};

struct model_manifest {
    int task;
    struct str title; /* may be empty */
    struct str *labels;
    size_t n_labels;
    struct str *points; /* names of keypoints */
    size_t n_points;
    uint32_t (*edges)[2];
    size_t n_edges;
    struct model_part *parts;
    size_t n_parts;
    struct model_input *inputs;
    size_t n_inputs;
    struct model_output *outputs;
    size_t n_outputs;
    double thresholds[MODEL_THRESHOLD_COUNT];
    uint32_t most;     /* shapes of one answer at most */
    bool per_class;    /* boxes of different classes do not push each other out */
    struct str sample; /* path in the version; empty: none */
    struct model_asset *assets;
    size_t n_assets;
};

/* Reads and checks a manifest. ERR_INVALID with the field ("inputs[0].size") and its rule, ERR_MALFORMED when
 * it is no JSON. Every text is copied to the arena. */
bool model_manifest_parse(struct arena *a, struct str text, struct model_manifest *ret, struct err *err);

/* Canonical JSON of it: fields in the order of the table, those with their default values left out. */
void model_manifest_write(const struct model_manifest *m, struct json_out *out);

/* The JSON Schema (2020-12) of the file, as one JSON value. */
void model_manifest_schema(struct json_out *out);

/* Checks the manifest against the graph of each part: that inputs and outputs are there with a type and shape
 * that fit. summaries[i] may be NULL: not checked. */
bool model_manifest_fits(const struct model_manifest *m, const struct onnx_summary *const *summaries,
                         struct err *err);

/* Reads a file of the model version whole (at most `max` bytes) into the arena. */
typedef bool model_read_fn(void *ctx, struct str path, size_t max, struct arena *a, struct str *ret,
                           struct err *err);

/* Reads and checks what the manifest names beside its parts; once, before task_predict. */
bool model_manifest_assets(struct model_manifest *m, struct arena *a, model_read_fn *read, void *ctx,
                           struct err *err);
/* The number of the line with that text; -1: none. */
int64_t model_asset_find(const struct model_asset *asset, struct str text);

/* The part, input or output of that name; -1 when there is none. `part` < 0: any. */
int model_part_of(const struct model_manifest *m, const char *name);
const struct model_output *model_output_of(const struct model_manifest *m, int part,
                                           enum model_reading reading);

/* What can be seen in the ONNX files of a version, as the text of a manifest that may still lack something,
 * and the list of what must be asked. */
struct model_guess {
    struct str json;   /* a manifest; complete when n_asked is 0 */
    struct str *asked; /* paths of fields that a person must give or confirm: "task", "labels" ... */
    size_t n_asked;
};
struct model_seen {
    struct str file;
    const struct onnx_summary *summary;
};
/* seen: at least one; the first is the model's, where they are not parts of one. files: paths of all files of
 * the version. */
void model_manifest_guess(struct arena *a, const struct model_seen *seen, size_t n, const struct str *files,
                          size_t n_files, struct model_guess *ret);

#endif
