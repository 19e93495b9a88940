/* Answers about teams, labelling tasks and review. */
#include "api/describe/answer_shape.h"

#define STATES      "leased submitted skipped accepted rejected returned"
#define STAGES      "label review"
#define TASK_STATES "draft open paused done cancelled"

static const struct shape shape_reason[] = {M("id", TEXT), M("reason", TEXT, .flags = OR_NULL), {0}};

static const struct shape rejection[] = {M("by", REF),
                                         M("at", TIME),
                                         M("reason", TEXT, .flags = OR_NULL),
                                         M("shapes", LIST, .of = shape_reason),
                                         {0}};

static const struct shape seat_layer[] = {M("layer", INT), M("user", REF), M("late", BOOL), {0}};

static const struct shape for_review[] = {M("annotator", REF),
                                          M("before", OBJECT, .flags = OR_NULL, .named = "Annotation"),
                                          M("layers", LIST, .of = seat_layer),
                                          {0}};

static const struct shape assignment[] = {
    M("id", INT),
    M("task", REF),
    M("stage", TEXT, .choices = STAGES),
    M("seat", INT),
    M("state", TEXT, .choices = STATES),
    M("until", TIME, .flags = OR_NULL),
    M("dataset", INT),
    M("version", INT),
    M("layer", INT, .flags = OR_NULL),
    M("sample", OBJECT, .named = "Sample"),
    M("user", REF),
    M("rejections", LIST, .of = rejection),
    M("for_review", OBJECT, .of = for_review, .flags = OPTIONAL),
    {0},
};

static const struct shape assignments[] = {M("items", LIST, .named = "Assignment"), M("left", INT), {0}};

static const struct shape assignment_row[] = {
    M("id", INT),
    M("sample", REF),
    M("stage", TEXT, .choices = STAGES),
    M("seat", INT),
    M("state", TEXT, .choices = STATES),
    M("user", REF),
    M("begun_at", TIME),
    M("ended_at", TIME, .flags = OR_NULL),
    M("active_seconds", INT),
    M("rejections", INT),
    M("reason", TEXT, .flags = OR_NULL),
    {0},
};

static const struct shape assignment_rows[] = {
    M("items", LIST, .of = assignment_row), M("next", INT, .flags = OR_NULL), {0}};

static const struct shape lease[] = {M("until", TIME), {0}};
static const struct shape handed[] = {M("handed", INT), M("returned", INT), {0}};

#define SUMS                                                                                                 \
    M("submitted", INT), M("skipped", INT), M("accepted", INT), M("rejected", INT),                          \
        M("active_seconds", INT), M("per_hour", REAL)

static const struct shape member[] = {M("user", REF), M("stage", TEXT, .choices = STAGES), SUMS, {0}};
static const struct shape day[] = {M("day", TIME), M("stage", TEXT, .choices = STAGES), SUMS, {0}};

static const struct shape forecast[] = {
    M("left", INT),
    M("per_day", REAL),
    M("ends_at", TIME, .flags = OR_NULL),
    M("deadline", TIME, .flags = OR_NULL),
    M("late", BOOL),
    {0},
};

static const struct shape progress[] = {
    M("from", TIME),
    M("to", TIME),
    M("members", LIST, .of = member),
    M("days", LIST, .of = day),
    M("forecast", OBJECT, .of = forecast),
    {0},
};

static const struct shape work_stage[] = {
    M("mine", BOOL),
    M("leased", INT),
    M("rejected", INT),
    M("submitted_today", INT),
    M("active_seconds_today", INT),
    M("left", INT),
    {0},
};

static const struct shape work[] = {
    M("state", TEXT, .choices = TASK_STATES),
    M("deadline", TIME, .flags = OR_NULL),
    M("label", OBJECT, .of = work_stage),
    M("review", OBJECT, .of = work_stage),
    {0},
};

/* --- label sets; members that say nothing may be null or left out --- */

#define MAYBE .flags = OPTIONAL | OR_NULL

static const struct shape label_title[] = {
    M("en", TEXT, .flags = OPTIONAL), M("zh", TEXT, .flags = OPTIONAL), {0}};

static const struct shape label_attribute[] = {
    M("name", TEXT),
    M("title", OBJECT, .of = label_title, MAYBE),
    M("type", TEXT, .choices = "choice text number flag"),
    M("choices", STRINGS, MAYBE),
    M("required", BOOL, MAYBE),
    M("default", ANY, .flags = OPTIONAL),
    {0},
};

/* Of the first level, or of the second: then without children. `edges` are pairs of numbers of keypoints. */
static const struct shape label_definition[] = {
    M("name", TEXT),
    M("color", TEXT, MAYBE),
    M("key", TEXT, MAYBE),
    M("attributes", LIST, .named = "LabelAttribute", MAYBE),
    M("retired", BOOL, MAYBE),
    M("keypoints", STRINGS, .flags = OPTIONAL),
    M("edges", PAIRS, .flags = OPTIONAL),
    M("children", LIST, .named = "LabelDefinition", MAYBE),
    {0},
};

/* --- the workbench --- */

static const struct shape bench_example[] = {
    M("id", INT), M("label", TEXT), M("caption", TEXT), M("wrong", BOOL), {0}};

static const struct shape bench[] = {
    M("task", REF),
    M("state", TEXT, .choices = TASK_STATES),
    M("dataset", INT),
    M("dataset_name", TEXT),
    M("version", INT),
    M("version_name", TEXT),
    M("version_state", TEXT),
    M("data_type", TEXT),
    M("annotation_type", TEXT),
    M("labels", LIST, .named = "LabelDefinition"),
    M("examples", LIST, .of = bench_example),
    M("instructions", TEXT, .flags = OR_NULL),
    M("seats", INT),
    M("batch_size", INT),
    M("lease", INT),
    M("require_attributes", BOOL),
    {0},
};

static const struct shape note[] = {
    M("id", INT),
    M("sample", INT),
    M("by", REF),
    M("at", TIME),
    M("text", TEXT),
    M("shape", TEXT, .flags = OR_NULL),
    M("x", REAL, .flags = OR_NULL),
    M("y", REAL, .flags = OR_NULL),
    M("done", BOOL),
    {0},
};

static const struct shape notes[] = {M("items", LIST, .named = "LabelNote"), {0}};

/* --- versions of datasets --- */

#define VERSION_SUMS M("submitted", INT), M("accepted", INT), M("rejected", INT), M("active_seconds", INT)

static const struct shape labelling_person[] = {
    M("user", REF), M("stage", TEXT, .choices = STAGES), VERSION_SUMS, {0}};
static const struct shape labelling_day[] = {
    M("day", TIME), M("stage", TEXT, .choices = STAGES), VERSION_SUMS, {0}};
static const struct shape labelling_label[] = {M("label", TEXT), M("samples", INT),  M("shapes", INT),
                                               M("review", INT), M("rejected", INT), {0}};

static const struct shape labelling[] = {
    M("people", LIST, .of = labelling_person),
    M("labels", LIST, .of = labelling_label),
    M("days", LIST, .of = labelling_day),
    {0},
};

/* Field `review` of a version. */
static const struct shape version_review[] = {
    M("asked_by", REF, .flags = OR_NULL),       M("asked_at", TIME),
    M("reviewers", LIST, .named = "Reference"), M("decided_by", REF, .flags = OR_NULL),
    M("decided_at", TIME, .flags = OR_NULL),    M("accepted", BOOL, .flags = OR_NULL),
    M("reason", TEXT, .flags = OR_NULL),        {0},
};

static const struct shape publish_review[] = {M("dataset", REF),   M("version", REF), M("asked_by", REF),
                                              M("asked_at", TIME), M("samples", INT), {0}};
static const struct shape publish_reviews[] = {M("items", LIST, .of = publish_review), {0}};

static const struct shape project_person[] = {
    M("id", INT), M("name", TEXT), M("display_name", TEXT, .flags = OR_NULL), M("roles", STRINGS), {0}};
static const struct shape project_people[] = {M("items", LIST, .of = project_person), {0}};

const struct answer_shape answers_of_label[] = {
    {"Assignment", assignment},
    {"AssignmentList", assignments},
    {"AssignmentRows", assignment_rows},
    {"DatasetLabelling", labelling},
    {"LabelAttribute", label_attribute},
    {"LabelBench", bench},
    {"LabelDefinition", label_definition},
    {"LabelHanded", handed},
    {"LabelLease", lease},
    {"LabelNote", note},
    {"LabelNotes", notes},
    {"LabelProgress", progress},
    {"LabelWork", work},
    {"ProjectPeople", project_people},
    {"PublishReviews", publish_reviews},
    {"VersionReview", version_review},
    {0},
};
