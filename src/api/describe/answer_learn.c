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
    M("command", TEXT),
    M("types", STRINGS, .flags = OPTIONAL),
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

const struct answer_shape answers_of_learning[] = {
    {"AlgorithmFunctions", algorithm_functions},
    {NULL, NULL},
};
