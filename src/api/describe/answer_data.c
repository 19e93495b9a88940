/* Answers about datasets and folders of files, their samples, records and reports. */
#include "api/describe/answer_shape.h"

/* --- annotations (docs/annotations.md) --- */

static const struct shape annotation_shape[] = {
    M("type", TEXT, .choices = "box polygon mask keypoints"),
    M("label", TEXT, .flags = OPTIONAL),
    M("id", TEXT, .flags = OPTIONAL),
    M("score", REAL, .flags = OPTIONAL),
    M("text", TEXT, .flags = OPTIONAL),
    M("crowd", BOOL, .flags = OPTIONAL),
    M("occluded", BOOL, .flags = OPTIONAL),
    M("truncated", BOOL, .flags = OPTIONAL),
    M("attributes", FREE, .flags = OPTIONAL),
    M("x", REAL, .flags = OPTIONAL),
    M("y", REAL, .flags = OPTIONAL),
    M("w", REAL, .flags = OPTIONAL),
    M("h", REAL, .flags = OPTIONAL),
    M("angle", REAL, .flags = OPTIONAL),
    M("rings", RINGS, .flags = OPTIONAL),
    M("holes", RINGS, .flags = OPTIONAL),
    M("size", PAIR, .flags = OPTIONAL),
    M("counts", TEXT, .flags = OPTIONAL),
    M("points", TRIPLES, .flags = OPTIONAL),
    M("skeleton", TEXT, .flags = OPTIONAL),
    M("box", NUMBERS, .flags = OPTIONAL),
    M("area", REAL, .flags = OPTIONAL),
    {0},
};

static const struct shape annotation_part[] = {
    M("start", REAL),
    M("end", REAL),
    M("label", TEXT, .flags = OPTIONAL),
    M("text", TEXT, .flags = OPTIONAL),
    M("id", TEXT, .flags = OPTIONAL),
    M("score", REAL, .flags = OPTIONAL),
    M("attributes", FREE, .flags = OPTIONAL),
    {0},
};

static const struct shape annotation[] = {
    M("labels", STRINGS, .flags = OPTIONAL),
    M("scores", AMOUNTS, .flags = OPTIONAL),
    M("shapes", LIST, .flags = OPTIONAL, .named = "AnnotationShape"),
    M("spans", LIST, .flags = OPTIONAL, .of = annotation_part),
    M("segments", LIST, .flags = OPTIONAL, .of = annotation_part),
    M("text", TEXT, .flags = OPTIONAL),
    M("attributes", FREE, .flags = OPTIONAL),
    {0},
};

/* --- samples --- */

#define SAMPLE_STATES "unannotated annotated machine review accepted rejected cleaned"

static const struct shape sample[] = {
    M("id", INT),
    M("position", INT),
    M("name", TEXT),
    M("digest", TEXT),
    M("size", INT),
    M("width", INT),
    M("height", INT),
    M("duration", REAL),
    M("state", TEXT, .choices = SAMPLE_STATES),
    M("by_person", BOOL),
    M("revision", INT),
    M("updated_at", TIME),
    M("updated_by", INT),
    M("sharpness", REAL, .flags = OR_NULL),
    M("split", TEXT, .flags = OR_NULL, .choices = "train val test"),
    M("annotation", OBJECT, .named = "Annotation"),
    {0},
};

/* Where a word of a search was found, in characters. */
static const struct shape search_match[] = {M("field", TEXT), M("from", INT), M("to", INT), {0}};

static const struct shape sample_list[] = {M("items", LIST, .named = "Sample"),
                                           M("next", INT, .flags = OR_NULL),
                                           M("matches", LISTS, .flags = OPTIONAL, .named = "SearchMatch"),
                                           {0}};

static const struct shape sample_past[] = {
    M("revision", INT),
    M("at", TIME),
    M("by", INT),
    M("state", TEXT, .choices = SAMPLE_STATES),
    M("annotation", OBJECT, .named = "Annotation"),
    {0},
};

static const struct shape sample_history[] = {
    M("items", LIST, .of = sample_past), M("next", INT, .flags = OR_NULL), {0}};

static const struct shape operation_by[] = {M("id", INT), M("name", TEXT, .flags = OR_NULL), {0}};

static const struct shape operation_item[] = {
    M("id", TEXT, .flags = OR_NULL),
    M("client", TEXT),
    M("revision", INT),
    M("at", TIME),
    M("by", OBJECT, .of = operation_by),
    M("state", TEXT, .choices = SAMPLE_STATES),
    M("operation", FREE),
    {0},
};

static const struct shape operation_list[] = {
    M("items", LIST, .of = operation_item), M("next", INT, .flags = OR_NULL), {0}};

static const struct shape operation_problem[] = {
    M("code", TEXT),
    M("field", TEXT, .flags = OR_NULL),
    M("message", TEXT),
    M("message_zh", TEXT, .flags = OR_NULL),
    {0},
};

static const struct shape operation_result[] = {
    M("id", TEXT, .flags = OR_NULL),
    M("sample", INT),
    M("state", TEXT, .choices = "applied already conflict refused"),
    M("revision", INT),
    M("clipped", BOOL),
    M("shape", FREE, .flags = OR_NULL),
    M("label", TEXT, .flags = OR_NULL),
    M("problem", OBJECT, .flags = OR_NULL, .of = operation_problem),
    {0},
};

static const struct shape operation_results[] = {M("results", LIST, .of = operation_result), {0}};

static const struct shape peaks[] = {M("duration", REAL), M("peaks", RINGS), {0}};

/* --- versions of datasets --- */

static const struct shape label_count[] = {M("label", TEXT), M("samples", INT), M("shapes", INT), {0}};

static const struct shape sample_states[] = {
    M("unannotated", INT), M("annotated", INT), M("machine", INT), M("review", INT),
    M("accepted", INT),    M("rejected", INT),  M("cleaned", INT), {0},
};

static const struct shape dataset_statistics[] = {
    M("samples", INT),
    M("bytes", INT),
    M("states", OBJECT, .of = sample_states),
    M("labels", LIST, .of = label_count),
    {0},
};

/* `before` and `after` are the sample's ids in the two versions, `split_before` and `split_after` its parts
 * of the split. It counts as one change: the first of the choices that is true of it. */
static const struct shape dataset_change[] = {
    M("name", TEXT),
    M("change", TEXT, .choices = "added removed changed annotated split"),
    M("before", INT, .flags = OR_NULL),
    M("after", INT, .flags = OR_NULL),
    M("split_before", TEXT, .flags = OR_NULL, .choices = "train val test"),
    M("split_after", TEXT, .flags = OR_NULL, .choices = "train val test"),
    {0},
};

/* The numbers are on the first page only. */
static const struct shape dataset_changes[] = {
    M("items", LIST, .of = dataset_change), M("added", INT, .flags = OPTIONAL),
    M("removed", INT, .flags = OPTIONAL),   M("changed", INT, .flags = OPTIONAL),
    M("annotated", INT, .flags = OPTIONAL), M("split", INT, .flags = OPTIONAL),
    M("next", TEXT, .flags = OR_NULL),      {0},
};

/* Samples of from <= x < to. */
static const struct shape sample_range[] = {M("from", REAL), M("to", REAL), M("samples", INT), {0}};

static const struct shape pixel_count[] = {M("width", INT), M("height", INT), M("samples", INT), {0}};

static const struct shape dataset_sizes[] = {
    M("pixels", LIST, .of = pixel_count),
    M("other_pixels", INT),
    M("seconds", LIST, .of = sample_range),
    M("bytes", LIST, .of = sample_range),
    {0},
};

/* Samples in each part of the split; `none` are in no part. */
static const struct shape split_parts[] = {
    M("train", INT), M("val", INT), M("test", INT), M("none", INT), {0}};

static const struct shape split_label[] = {M("label", TEXT), M("train", INT), M("val", INT),
                                           M("test", INT),   M("none", INT),  {0}};

/* No labels where no sample is in a part. */
static const struct shape dataset_splits[] = {
    M("parts", OBJECT, .of = split_parts), M("labels", LIST, .of = split_label), {0}};

static const struct shape dataset_sharpness[] = {
    M("measured", INT), M("bins", LIST, .of = sample_range), {0}};

static const struct shape alike[] = {M("id", INT), M("name", TEXT), {0}};

static const struct shape dataset_duplicates[] = {M("measured", INT), M("groups", LISTS, .of = alike), {0}};

static const struct shape label_uses[] = {M("versions", INT), M("samples", INT), M("shapes", INT), {0}};

static const struct shape label_usage[] = {
    M("drafts", OBJECT, .of = label_uses),
    M("published", OBJECT, .of = label_uses),
    M("elsewhere", INT),
    M("layers", INT),
    {0},
};

static const struct shape dataset_cleaned[] = {M("changed", INT), {0}};

/* --- record files --- */

static const struct shape record_field[] = {
    M("name", TEXT), M("type", TEXT), M("dtype", TEXT, .flags = OR_NULL), M("shape", NUMBERS), {0}};

static const struct shape record_item[] = {M("record", INT), M("bytes", INT), M("values", ANYS), {0}};

static const struct shape record_page[] = {
    M("records", INT),
    M("first", INT),
    M("bytes", INT),
    M("key", TEXT, .flags = OR_NULL),
    M("fields", LIST, .of = record_field),
    M("items", LIST, .of = record_item),
    {0},
};

static const struct shape record_fault[] = {M("record", INT, .flags = OR_NULL), M("message", TEXT), {0}};

static const struct shape record_verdict[] = {
    M("sound", BOOL), M("bytes", INT), M("count", INT), M("faults", LIST, .of = record_fault), {0}};

/* --- folders of files --- */

static const struct shape folder_item[] = {
    M("name", TEXT),
    M("folder", BOOL),
    M("size", INT),
    M("files", INT),
    M("executable", BOOL, .flags = OPTIONAL),
    M("digest", TEXT, .flags = OPTIONAL),
    {0},
};

static const struct shape folder_listing[] = {
    M("path", TEXT), M("files", INT), M("bytes", INT), M("items", LIST, .of = folder_item), {0}};

static const struct shape folder_change[] = {
    M("path", TEXT),
    M("change", TEXT, .choices = "added removed changed"),
    M("before", INT, .flags = OR_NULL),
    M("after", INT, .flags = OR_NULL),
    {0},
};

static const struct shape folder_changes[] = {M("items", LIST, .of = folder_change), {0}};

/* --- formats, reports --- */

static const struct shape format[] = {
    M("name", TEXT),
    M("title", WORDS),
    M("files", TEXT),
    M("extensions", STRINGS),
    M("imports", STRINGS),
    M("exports", STRINGS),
    {0},
};

static const struct shape formats[] = {M("items", LIST, .of = format), {0}};

/* One line of a report. */
static const struct shape task_problem[] = {M("file", TEXT),
                                            M("position", TEXT, .flags = OR_NULL),
                                            M("reason", TEXT),
                                            M("reason_zh", TEXT, .flags = OPTIONAL),
                                            {0}};

/* --- models --- */

static const struct shape model_value[] = {
    M("name", TEXT),
    M("type", TEXT),
    M("shape", ANYS, .flags = OR_NULL),
    {0},
};

static const struct shape model_operator[] = {
    M("name", TEXT),
    M("domain", TEXT, .flags = OPTIONAL),
    M("count", INT),
    {0},
};

static const struct shape model_layer[] = {
    M("name", TEXT),
    M("operator", TEXT),
    M("parameters", INT),
    M("bytes", INT),
    M("multiply_adds", INT, .flags = OR_NULL),
    {0},
};

static const struct shape onnx_summary[] = {
    M("format", TEXT),
    M("ir_version", INT),
    M("producer", TEXT),
    M("producer_version", TEXT),
    M("graph", TEXT),
    M("opsets", COUNTS),
    M("inputs", LIST, .of = model_value),
    M("outputs", LIST, .of = model_value),
    M("nodes", INT),
    M("operators", LIST, .of = model_operator),
    M("parameters", INT),
    M("bytes", INT),
    M("weight_bytes", INT),
    M("multiply_adds", INT, .flags = OR_NULL),
    M("multiply_adds_known", INT),
    M("nodes_unknown", INT),
    M("assumed_batch", BOOL),
    M("layers", LIST, .of = model_layer),
    {0},
};

static const struct shape model_manifest[] = {
    M("manifest", FREE, .flags = OR_NULL),
    M("path", TEXT, .flags = OR_NULL),
    M("guess", FREE, .flags = OR_NULL),
    M("asked", STRINGS),
    {0},
};

static const struct shape model_summary[] = {
    M("path", TEXT),
    M("summary", OBJECT, .of = onnx_summary),
    M("with_path", TEXT, .flags = OR_NULL),
    M("compare", FREE, .flags = OR_NULL),
    {0},
};

const struct answer_shape answers_of_data[] = {
    {"Annotation", annotation},
    {"AnnotationShape", annotation_shape},
    {"DatasetChanges", dataset_changes},
    {"DatasetCleaned", dataset_cleaned},
    {"DatasetDuplicates", dataset_duplicates},
    {"DatasetSharpness", dataset_sharpness},
    {"DatasetSizes", dataset_sizes},
    {"DatasetSplits", dataset_splits},
    {"DatasetStatistics", dataset_statistics},
    {"FolderChanges", folder_changes},
    {"FolderListing", folder_listing},
    {"FormatList", formats},
    {"LabelUsage", label_usage},
    {"ModelManifest", model_manifest},
    {"ModelSummary", model_summary},
    {"OperationList", operation_list},
    {"OperationResults", operation_results},
    {"Peaks", peaks},
    {"RecordPage", record_page},
    {"RecordVerdict", record_verdict},
    {"Sample", sample},
    {"SearchMatch", search_match},
    {"SampleHistory", sample_history},
    {"SampleList", sample_list},
    {"SamplePast", sample_past},
    {"TaskProblem", task_problem},
    {0},
};
