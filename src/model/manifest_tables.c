/* The tables of fields: one row per field of ingot-model.json. */
#include "model/manifest_fields.h"

#define NAMES(...)                                                                                           \
    (const char *const[])                                                                                    \
    {                                                                                                        \
        __VA_ARGS__, NULL                                                                                    \
    }
#define PART(m)   offsetof(struct model_part, m)
#define IN(m)     offsetof(struct model_input, m)
#define OUT(m)    offsetof(struct model_output, m)
#define TOP(m)    offsetof(struct model_manifest, m)
#define PICTURE   (1u << MODEL_PICTURE)
#define TEXT      (1u << MODEL_TEXT)
#define SOUND     (1u << MODEL_SOUND)
#define READ(r)   (1u << MODEL_##r)
#define ANY_CLASS (READ(SOFTMAX) | READ(SIGMOID) | READ(SCORES))
#define MAPS      (READ(ARGMAX) | READ(MASK))
#define GRID      (READ(HEATMAP) | READ(LTRB) | READ(WH) | READ(OFFSET) | READ(POINT_MAPS))

const char *const model_kind_names[] = {"picture", "text", "sound", NULL};
const char *const model_reading_names[] = {
    [MODEL_SOFTMAX] = "softmax",
    [MODEL_SIGMOID] = "sigmoid",
    [MODEL_SCORES] = "scores",
    [MODEL_CLASSES] = "classes",
    [MODEL_COUNT] = "count",
    [MODEL_BOXES] = "boxes",
    [MODEL_ROWS] = "rows",
    [MODEL_ANCHORS] = "anchors",
    [MODEL_HEATMAP] = "heatmap",
    [MODEL_LTRB] = "ltrb",
    [MODEL_WH] = "wh",
    [MODEL_OFFSET] = "offset",
    [MODEL_ARGMAX] = "argmax",
    [MODEL_MASK] = "mask",
    [MODEL_POINTS] = "points",
    [MODEL_POINT_MAPS] = "point-maps",
    [MODEL_TEXT_MAP] = "text-map",
    [MODEL_CTC] = "ctc",
    [MODEL_VECTOR] = "vector",
    [MODEL_READING_COUNT] = NULL,
};
const char *const model_threshold_names[] = {"score", "iou", "mask", "text", "point", NULL};

static const struct model_field part_rows[] = {
    {"name", MODEL_FIELD_TEXT, PART(name), 1, 0, true, 1, 40, 0, NULL, "the part's name"},
    {"file", MODEL_FIELD_PATH, PART(file), 1, 0, true, 0, 0, 0, NULL, "its ONNX file"},
};
const struct model_fields model_part_fields = {part_rows, countof(part_rows)};

static const struct model_field input_rows[] = {
    {"name", MODEL_FIELD_TEXT, IN(name), 1, 0, true, 1, 200, 0, NULL, "name of the graph's input"},
    {"part", MODEL_FIELD_PART, IN(part), 1, 0, false, 0, 0, 0, NULL, "which part; the first"},
    {"type", MODEL_FIELD_CHOICE, IN(type), 1, 0, false, 0, 0, MODEL_FP32,
     NAMES("fp32", "fp16", "uint8", "int32", "int64"), "type of the elements; int64 for texts"},
    {"size", MODEL_FIELD_UINT, IN(size), 2, PICTURE, true, 0, MODEL_MAX_SIDE, 0, NULL,
     "width and height in pixels; 0 follows the picture"},
    {"longest", MODEL_FIELD_UINT, IN(longest), 1, PICTURE, false, 0, MODEL_MAX_SIDE, 0, NULL,
     "with size [0,0]: the longer side is shrunk to it"},
    {"multiple", MODEL_FIELD_UINT, IN(multiple), 1, PICTURE, false, 1, 1024, 1, NULL,
     "sides that follow are rounded up to a multiple of it"},
    {"range", MODEL_FIELD_UINT, IN(range), 2, PICTURE, false, 1, MODEL_MAX_SIDE, 0, NULL,
     "least and most pixels of a side that follows"},
    {"fit", MODEL_FIELD_CHOICE, IN(fit), 1, PICTURE, false, 0, 0, MODEL_STRETCH,
     NAMES("stretch", "letterbox", "crop"), "how a picture of another aspect gets that size"},
    {"align", MODEL_FIELD_CHOICE, IN(align), 1, PICTURE, false, 0, 0, MODEL_CENTER,
     NAMES("center", "top-left"), "where a letterbox puts it, where a crop is taken"},
    {"crop", MODEL_FIELD_REAL, IN(crop), 1, PICTURE, false, 0.01, 1, 1, NULL,
     "share of the shorter side that a crop keeps"},
    {"resample", MODEL_FIELD_CHOICE, IN(resample), 1, PICTURE, false, 0, 0, MODEL_BILINEAR,
     NAMES("nearest", "bilinear", "bicubic", "area"), "how pixels are resampled"},
    {"antialias", MODEL_FIELD_BOOL, IN(antialias), 1, PICTURE, false, 0, 0, 1, NULL,
     "the filter widens when the picture shrinks, as Pillow's; false: as OpenCV's and most graphs'"},
    {"scaled_decoding", MODEL_FIELD_BOOL, IN(scaled_decoding), 1, PICTURE, false, 0, 0, 0, NULL,
     "JPEG may be decoded at 1/2, 1/4 or 1/8 where that is still larger: quicker, not exact"},
    {"color", MODEL_FIELD_CHOICE, IN(color), 1, PICTURE, false, 0, 0, MODEL_RGB, NAMES("rgb", "bgr", "gray"),
     "order of the channels"},
    {"layout", MODEL_FIELD_CHOICE, IN(layout), 1, PICTURE, false, 0, 0, MODEL_NCHW, NAMES("nchw", "nhwc"),
     "order of the dimensions"},
    {"scale", MODEL_FIELD_REAL, IN(scale), 1, PICTURE | SOUND, false, -1e6, 1e6, 1, NULL,
     "value = (pixel * scale - mean) / deviation"},
    {"mean", MODEL_FIELD_REAL, IN(mean), 3, PICTURE, false, -1e6, 1e6, 0, NULL, "per channel, in its order"},
    {"deviation", MODEL_FIELD_REAL, IN(deviation), 3, PICTURE, false, 1e-9, 1e6, 1, NULL, "per channel"},
    {"pad", MODEL_FIELD_REAL, IN(pad), 3, PICTURE, false, 0, 255, 0, NULL,
     "pixel value round a letterbox, per channel"},
    {"tokenizer", MODEL_FIELD_CHOICE, IN(tokenizer), 1, TEXT, true, 0, 0, 0,
     NAMES("wordpiece", "ngrams", "characters"), "how a text becomes numbers"},
    {"vocab", MODEL_FIELD_ASSET, IN(vocab), 1, TEXT, false, 0, 0, 0, NULL,
     "wordpiece, characters: file with one token per line, the first is number 0"},
    {"lowercase", MODEL_FIELD_BOOL, IN(lowercase), 1, TEXT, false, 0, 0, 1, NULL,
     "wordpiece: lower case, without accents"},
    {"length", MODEL_FIELD_UINT, IN(length), 1, TEXT, false, 2, MODEL_MAX_LENGTH, 0, NULL,
     "tokens, characters or different n-grams at most; 512, n-grams 16384"},
    {"pad_to_length", MODEL_FIELD_BOOL, IN(pad_to_length), 1, TEXT, false, 0, 0, 0, NULL,
     "always exactly length"},
    {"mask", MODEL_FIELD_TEXT, IN(mask), 1, TEXT, false, 0, 200, 0, NULL,
     "name of the input with 1 for tokens and 0 for padding"},
    {"types", MODEL_FIELD_TEXT, IN(types), 1, TEXT, false, 0, 200, 0, NULL, "name of the input of zeroes"},
    {"counts", MODEL_FIELD_TEXT, IN(counts), 1, TEXT, false, 0, 200, 0, NULL,
     "ngrams: name of the float input with how often each occurs"},
    {"pad_id", MODEL_FIELD_INT64, IN(pad_id), 1, TEXT, false, -1, 1e9, -1, NULL,
     "number of padding; by the vocabulary's [PAD], or 0; ngrams 262144"},
    {"unknown_id", MODEL_FIELD_INT64, IN(unknown_id), 1, TEXT, false, -1, 1e9, -1, NULL,
     "number of what is not in the vocabulary; by its [UNK], or 0"},
    {"rate", MODEL_FIELD_UINT, IN(rate), 1, SOUND, true, 1000, 192000, 0, NULL,
     "samples per second, mono; others are resampled"},
    {"samples", MODEL_FIELD_UINT, IN(samples), 1, SOUND, false, 0, 1 << 26, 0, NULL,
     "cut or padded with silence to as many; 0: as long as it is"},
    {"cut", MODEL_FIELD_CHOICE, IN(cut), 1, SOUND, false, 0, 0, MODEL_CENTER, NAMES("center", "start"),
     "which part of a longer sound is taken; padding is at the other end or both"},
    {"rank", MODEL_FIELD_UINT, IN(rank), 1, SOUND, false, 1, 3, 2, NULL, "[T], [1,T] or [1,1,T]"},
};
const struct model_fields model_input_fields = {input_rows, countof(input_rows)};

static const struct model_field output_rows[] = {
    {"name", MODEL_FIELD_TEXT, OUT(name), 1, 0, true, 1, 200, 0, NULL, "name of the graph's output"},
    {"part", MODEL_FIELD_PART, OUT(part), 1, 0, false, 0, 0, 0, NULL, "which part; the first"},
    {"format", MODEL_FIELD_CHOICE, OUT(format), 1, READ(BOXES) | READ(ROWS) | READ(ANCHORS), false, 0, 0,
     MODEL_XYXY, NAMES("xyxy", "xywh", "cxcywh", "yxyx"),
     "corners, corner and size, middle and size; of anchors yxyx: offsets are y, x, h, w"},
    {"unit", MODEL_FIELD_CHOICE, OUT(unit), 1,
     READ(BOXES) | READ(ROWS) | READ(LTRB) | READ(WH) | READ(POINTS), false, 0, 0, MODEL_PIXELS,
     NAMES("pixels", "normalized", "cells"), "pixels of the input, shares of its sides, cells of the grid"},
    {"activation", MODEL_FIELD_CHOICE, OUT(activation), 1,
     READ(ROWS) | READ(HEATMAP) | MAPS | READ(POINT_MAPS) | READ(TEXT_MAP) | READ(CTC), false, 0, 0,
     MODEL_NONE, NAMES("none", "sigmoid", "softmax"), "what makes scores of the numbers"},
    {"layout", MODEL_FIELD_CHOICE, OUT(layout), 1, GRID | MAPS | READ(TEXT_MAP), false, 0, 0, MODEL_NCHW,
     NAMES("nchw", "nhwc"), "order of the dimensions"},
    {"resample", MODEL_FIELD_CHOICE, OUT(resample), 1, MAPS, false, 0, 0, MODEL_NEAREST,
     NAMES("nearest", "bilinear"), "how maps are brought to the picture's pixels"},
    {"frame", MODEL_FIELD_CHOICE, OUT(frame), 1, READ(MASK), false, 0, 0, MODEL_FRAME_INPUT,
     NAMES("input", "box"), "masks of instances cover the whole input, or their box"},
    {"pooling", MODEL_FIELD_CHOICE, OUT(pooling), 1, READ(VECTOR), false, 0, 0, MODEL_POOL_NONE,
     NAMES("none", "mean", "first"), "of one vector per token: their mean, or the first"},
    {"transposed", MODEL_FIELD_BOOL, OUT(transposed), 1, ANY_CLASS | READ(BOXES) | READ(ROWS) | READ(ANCHORS),
     false, 0, 0, 0, NULL, "the boxes are the last dimension: [1,C,Q]"},
    {"objectness", MODEL_FIELD_BOOL, OUT(objectness), 1, READ(ROWS), false, 0, 0, 0, NULL,
     "a number after the box says whether there is anything"},
    {"peaks", MODEL_FIELD_BOOL, OUT(peaks), 1, READ(HEATMAP), false, 0, 0, 1, NULL,
     "only the greatest of 3x3 cells counts; false when the graph has done it"},
    {"normalize", MODEL_FIELD_BOOL, OUT(normalize), 1, READ(VECTOR), false, 0, 0, 0, NULL, "to the length 1"},
    {"space", MODEL_FIELD_BOOL, OUT(space), 1, READ(CTC), false, 0, 0, 0, NULL,
     "a space follows the characters of the file"},
    {"yx", MODEL_FIELD_BOOL, OUT(yx), 1, READ(POINTS), false, 0, 0, 0, NULL,
     "a point is y, x, score instead of x, y, score"},
    {"refine", MODEL_FIELD_BOOL, OUT(refine), 1, READ(POINT_MAPS), false, 0, 0, 0, NULL,
     "a quarter of a cell towards the greater neighbour"},
    {"background", MODEL_FIELD_INT, OUT(background), 1, ANY_CLASS | READ(ARGMAX) | READ(CLASSES), false, -1,
     MODEL_MAX_LABELS, -1, NULL, "number of the class that is nothing; it has no label"},
    {"blank", MODEL_FIELD_INT, OUT(blank), 1, READ(CTC), false, 0, 1e6, 0, NULL, "number of CTC's blank"},
    {"stride", MODEL_FIELD_REAL, OUT(stride), 1, GRID, false, 0, 1024, 0, NULL,
     "pixels of the input to a cell; 0: by the sizes"},
    {"center", MODEL_FIELD_REAL, OUT(center), 1, GRID, false, 0, 1, 0.5, NULL,
     "where in a cell its point is"},
    {"variances", MODEL_FIELD_REAL, OUT(variances), 4, READ(ANCHORS), false, 1e-6, 1e3, 1, NULL,
     "factors of the offsets: x, y, w, h"},
    {"unclip", MODEL_FIELD_REAL, OUT(unclip), 1, READ(TEXT_MAP), false, 0, 10, 1.5, NULL,
     "boxes grow by area * unclip / circumference"},
    {"anchors", MODEL_FIELD_ASSET, OUT(anchors), 1, READ(ANCHORS), true, 0, 0, 0, NULL,
     "file of little-endian float32: cx, cy, w, h of each anchor, as shares of the input"},
    {"characters", MODEL_FIELD_ASSET, OUT(characters), 1, READ(CTC), true, 0, 0, 0, NULL,
     "file with one character per line; the first follows the blank when that is 0"},
};
const struct model_fields model_output_fields = {output_rows, countof(output_rows)};

static const struct model_field top_rows[] = {
    {"title", MODEL_FIELD_TEXT, TOP(title), 1, 0, false, 0, 200, 0, NULL, "what it is, in a few words"},
    {"most", MODEL_FIELD_UINT, TOP(most), 1, 0, false, 1, ANNOTATION_MAX_SHAPES, 300, NULL,
     "shapes of one answer at most"},
    {"per_class", MODEL_FIELD_BOOL, TOP(per_class), 1, 0, false, 0, 0, 1, NULL,
     "boxes of different labels do not push each other out"},
    {"sample", MODEL_FIELD_PATH, TOP(sample), 1, 0, false, 0, 0, 0, NULL, "a file to try it with"},
};
const struct model_fields model_top_fields = {top_rows, countof(top_rows)};
