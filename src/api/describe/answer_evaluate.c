/* Answers about evaluations: docs/evaluation.md tells what they mean. */
#include "api/describe/answer_shape.h"

#define COUNTS                                                                                               \
    M("truths", INT), M("hits", INT), M("mistakes", INT), M("missed", INT),                                  \
        M("precision", REAL, .flags = OR_NULL), M("recall", REAL, .flags = OR_NULL),                         \
        M("f1", REAL, .flags = OR_NULL)

static const struct shape figure[] = {M("name", TEXT),
                                      M("value", REAL, .flags = OR_NULL),
                                      M("low", REAL, .flags = OR_NULL),
                                      M("high", REAL, .flags = OR_NULL),
                                      {0}};

static const struct shape label[] = {M("label", TEXT),
                                     COUNTS,
                                     M("AP", REAL, .flags = OR_NULL | OPTIONAL),
                                     M("AP50", REAL, .flags = OR_NULL | OPTIONAL),
                                     M("IoU", REAL, .flags = OR_NULL | OPTIONAL),
                                     M("AUC", REAL, .flags = OR_NULL | OPTIONAL),
                                     {0}};

static const struct shape total[] = {COUNTS, {0}};

static const struct shape cell[] = {
    M("truth", TEXT, .flags = OR_NULL), M("found", TEXT, .flags = OR_NULL), M("count", INT), {0}};

static const struct shape size[] = {M("size", TEXT, .choices = "small medium large"),
                                    M("truths", INT),
                                    M("hits", INT),
                                    M("recall", REAL),
                                    {0}};

static const struct shape slice[] = {M("by", TEXT, .choices = "split folder attribute"),
                                     M("name", TEXT, .flags = OR_NULL),
                                     M("value", TEXT),
                                     M("samples", INT),
                                     M("figures", FREE),
                                     {0}};

static const struct shape curve[] = {
    M("label", TEXT, .flags = OR_NULL), M("precision", TRIPLES), M("roc", TRIPLES, .flags = OPTIONAL), {0}};

static const struct shape bin[] = {M("low", REAL),
                                   M("high", REAL),
                                   M("count", INT),
                                   M("score", REAL, .flags = OR_NULL),
                                   M("right", REAL, .flags = OR_NULL),
                                   {0}};

static const struct shape problem[] = {M("file", TEXT), M("error", TEXT), {0}};
static const struct shape unmatched[] = {M("truth", STRINGS), M("model", STRINGS), {0}};
static const struct shape sentence[] = {M("en", TEXT), M("zh", TEXT), {0}};

static const struct shape report[] = {
    M("type", TEXT),
    M("samples", INT),
    M("left_out", INT),
    M("unlabelled", INT),
    M("machine", INT),
    M("failed", INT),
    M("problems", LIST, .of = problem),
    M("figures", LIST, .of = figure),
    M("threshold", REAL, .flags = OPTIONAL),
    M("score", REAL),
    M("labels", LIST, .of = label),
    M("total", OBJECT, .of = total),
    M("confusion", ANYS, .flags = OPTIONAL),
    M("cells", LIST, .flags = OPTIONAL, .of = cell),
    M("sizes", LIST, .of = size),
    M("slices", LIST, .of = slice),
    M("curves", LIST, .of = curve),
    M("calibration", LIST, .of = bin),
    M("unmatched", OBJECT, .of = unmatched),
    M("samples_digest", TEXT),
    M("words", LIST, .of = sentence),
    {0},
};

static const struct shape at[] = {M("score", REAL),
                                  M("samples", INT),
                                  M("labels", LIST, .of = label),
                                  M("total", OBJECT, .of = total),
                                  M("cells", LIST, .flags = OPTIONAL, .of = cell),
                                  {0}};

static const struct shape match[] = {M("found", INT),
                                     M("truth", INT, .flags = OR_NULL),
                                     M("outcome", TEXT, .choices = "hit mistake ignored"),
                                     M("label", TEXT),
                                     M("score", REAL),
                                     {0}};

static const struct shape sample[] = {
    M("sample", INT),
    M("file", TEXT),
    M("width", INT),
    M("height", INT),
    M("split", TEXT, .flags = OR_NULL),
    M("truth", FREE),
    M("found", FREE),
    M("error", TEXT, .flags = OPTIONAL),
    M("hits", INT),
    M("mistakes", INT),
    M("missed", INT),
    M("badness", REAL),
    M("matches", LIST, .of = match),
    {0},
};

static const struct shape samples[] = {
    M("items", LIST, .of = sample), M("total", INT), M("score", REAL), M("next", INT, .flags = OR_NULL), {0}};

static const struct shape difference[] = {M("name", TEXT),
                                          M("main", BOOL),
                                          M("value", REAL),
                                          M("with", REAL),
                                          M("difference", REAL),
                                          M("low", REAL, .flags = OR_NULL),
                                          M("high", REAL, .flags = OR_NULL),
                                          M("verdict", TEXT, .choices = "better worse same"),
                                          {0}};

static const struct shape delta[] = {M("value", REAL, .flags = OR_NULL),
                                     M("with", REAL, .flags = OR_NULL),
                                     M("difference", REAL, .flags = OR_NULL),
                                     {0}};

static const struct shape label_delta[] = {M("label", TEXT),
                                           M("precision", OBJECT, .of = delta),
                                           M("recall", OBJECT, .of = delta),
                                           M("f1", OBJECT, .of = delta),
                                           {0}};

static const struct shape changed_sample[] = {M("sample", INT), M("file", TEXT), {0}};
static const struct shape changed[] = {M("samples", LIST, .of = changed_sample), M("count", INT), {0}};

static const struct shape comparison[] = {
    M("with", REF),
    M("figures", LIST, .of = difference),
    M("words", LIST, .of = sentence),
    M("labels", LIST, .of = label_delta),
    M("samples", INT),
    M("agree", INT),
    M("fixed", OBJECT, .of = changed),
    M("broken", OBJECT, .of = changed),
    {0},
};

const struct answer_shape answers_of_evaluate[] = {
    {"EvaluationReport", report},
    {"EvaluationAt", at},
    {"EvaluationSamples", samples},
    {"EvaluationComparison", comparison},
    {0},
};
