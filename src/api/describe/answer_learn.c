/* Answers about algorithms and what is trained with them. */
#include "api/describe/answer_shape.h"

static const struct shape algorithm_parameter[] = {
    M("type", TEXT, .choices = "int real bool choice text labels json"),
    M("name", TEXT),
    M("min", REAL, .flags = OPTIONAL),
    M("max", REAL, .flags = OPTIONAL),
    M("log", BOOL, .flags = OPTIONAL),
    M("advanced", BOOL, .flags = OPTIONAL),
    M("default", ANY, .flags = OPTIONAL),
    M("choices", ANYS, .flags = OPTIONAL),
    M("title", WORDS, .flags = OPTIONAL),
    M("help", WORDS, .flags = OPTIONAL),
    {0},
};

/* runs: trainings can run it; where not, reason says what to do instead. */
static const struct shape algorithm_function[] = {
    M("name", TEXT, .choices = "train test batch serve sdk"),
    M("title", WORDS),
    M("runs", BOOL),
    M("reason", TEXT, .flags = OR_NULL),
    M("reason_zh", TEXT, .flags = OR_NULL),
    M("runtime", TEXT, .flags = OPTIONAL),
    M("image", TEXT, .flags = OPTIONAL),
    M("command", TEXT),
    M("types", STRINGS, .flags = OPTIONAL),
    M("inputs", STRINGS, .flags = OPTIONAL),
    M("outputs", STRINGS, .flags = OPTIONAL),
    M("parameters", LIST, .of = algorithm_parameter),
    {0},
};

/* manifest: whether the version has an ingot-algorithm.json. */
static const struct shape algorithm_functions[] = {
    M("manifest", BOOL),
    M("title", WORDS, .flags = OR_NULL),
    M("functions", LIST, .of = algorithm_function),
    {0},
};

/* --- one-click training --- */

static const struct shape plan_algorithm[] = {
    M("set", INT),
    M("version", INT),
    M("name", TEXT),
    {0},
};

/* negatives: annotated samples without any label; null: not counted, there are too many samples. */
static const struct shape plan_samples[] = {
    M("all", INT),
    M("usable", INT),
    M("unannotated", INT),
    M("rejected", INT),
    M("negatives", INT, .flags = OR_NULL),
    {0},
};

static const struct shape plan_split[] = {M("train", INT), M("val", INT), M("test", INT), {0}};

/* total: samples of all that are merged into it; 0 where it is merged itself. */
static const struct shape plan_class[] = {
    M("label", TEXT),
    M("samples", INT),
    M("shapes", INT),
    M("left_out", BOOL),
    M("into", TEXT, .flags = OR_NULL),
    M("total", INT),
    {0},
};

static const struct shape plan_remark[] = {
    M("level", TEXT, .choices = "error warning note"),
    M("id", TEXT),
    M("label", TEXT, .flags = OR_NULL),
    M("text", WORDS),
    {0},
};

static const struct shape plan_runtime[] = {
    M("name", TEXT),
    M("ready", BOOL),
    M("image", TEXT, .flags = OR_NULL),
    M("reason", TEXT, .flags = OR_NULL),
    M("reason_zh", TEXT, .flags = OR_NULL),
    {0},
};

static const struct shape plan[] = {
    M("ok", BOOL),
    M("task", TEXT),
    M("algorithm", OBJECT, .of = plan_algorithm),
    M("samples", OBJECT, .of = plan_samples),
    M("split", OBJECT, .of = plan_split),
    M("classes", LIST, .of = plan_class),
    M("remarks", LIST, .of = plan_remark),
    M("minutes", REAL),
    M("parameters", FREE),
    M("runtime", OBJECT, .of = plan_runtime),
    M("base_model", INT, .flags = OR_NULL),
    M("spec", REF, .flags = OR_NULL),
    M("forecast", OBJECT, .flags = OR_NULL, .named = "Forecast"),
    {0},
};

const struct answer_shape answers_of_learning[] = {
    {"AlgorithmFunctions", algorithm_functions},
    {"TrainingPlan", plan},
    {NULL, NULL},
};
