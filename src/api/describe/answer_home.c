/* The first pages: of a project, and of all that one sees; what a search finds among all kinds. */
#include "api/describe/answer_shape.h"

static const struct shape home_metric[] = {M("name", TEXT), M("last", REAL), M("step", REAL), {0}};

static const struct shape home_thing[] = {
    M("kind", TEXT),
    M("object", REF),
    M("project", REF, .flags = OR_NULL),
    M("by", REF, .flags = OR_NULL),
    M("title", WORDS, .flags = OR_NULL),
    M("state", TEXT),
    M("at", TIME, .flags = OR_NULL),
    M("estimate", TIME, .flags = OR_NULL),
    M("done", INT, .flags = OR_NULL),
    M("total", INT, .flags = OR_NULL),
    M("reason", WORDS, .flags = OR_NULL),
    M("line", TEXT, .flags = OR_NULL),
    M("metrics", LIST, .of = home_metric),
    {0},
};

static const struct shape home_list[] = {M("total", INT), M("items", LIST, .named = "HomeThing"), {0}};

static const struct shape home_figure[] = {M("name", TEXT),
                                           M("value", REAL),
                                           M("low", REAL, .flags = OR_NULL),
                                           M("high", REAL, .flags = OR_NULL),
                                           {0}};

static const struct shape home_best[] = {
    M("model", REF, .flags = OR_NULL),
    M("data", REF, .flags = OR_NULL),
    M("part", TEXT),
    M("evaluation", REF, .flags = OR_NULL),
    M("project", REF, .flags = OR_NULL),
    M("figure", OBJECT, .of = home_figure),
    M("of", INT),
    M("at", TIME, .flags = OR_NULL),
    {0},
};

static const struct shape home_newest[] = {
    M("model", REF, .flags = OR_NULL),
    M("project", REF, .flags = OR_NULL),
    M("by", REF, .flags = OR_NULL),
    M("service", REF, .flags = OR_NULL),
    M("run", REF, .flags = OR_NULL),
    M("at", TIME, .flags = OR_NULL),
    M("figure", OBJECT, .of = home_figure, .flags = OR_NULL),
    {0},
};

static const struct shape home_service[] = {
    M("service", OBJECT, .named = "Service"), M("requests", INT), M("errors", INT), {0}};

static const struct shape home_labelling[] = {
    M("task", REF),
    M("project", REF),
    M("state", TEXT, .choices = "open paused"),
    M("deadline", TIME, .flags = OR_NULL),
    M("samples", INT),
    M("labelled", INT),
    M("reviewing", INT),
    M("accepted", INT),
    M("rejected", INT),
    M("skipped", INT),
    {0},
};

static const struct shape home_work[] = {
    M("task", REF),
    M("stage", TEXT, .choices = "label review"),
    M("deadline", TIME, .flags = OR_NULL),
    M("held", INT),
    M("rejected", INT),
    M("left", INT),
    {0},
};

static const struct shape home_mine[] = {
    M("tasks", LIST, .of = home_work), M("reviews", OBJECT, .named = "PublishReviews"), {0}};

static const struct shape home_change[] = {
    M("at", TIME),
    M("by", REF),
    M("verb", TEXT),
    M("kind", TEXT),
    M("object", REF, .flags = OR_NULL),
    M("name", TEXT, .flags = OR_NULL),
    M("times", INT),
    {0},
};

static const struct shape home_step[] = {
    M("name", TEXT, .choices = "data label train evaluate deploy"),
    M("done", BOOL),
    M("may", BOOL),
    M("kind", TEXT, .flags = OR_NULL),
    M("with", REF, .flags = OR_NULL),
    {0},
};

static const struct shape project_home[] = {
    M("steps", LIST, .of = home_step),
    M("counts", COUNTS),
    M("running", OBJECT, .named = "HomeList", .flags = OR_NULL),
    M("waiting", OBJECT, .named = "HomeList", .flags = OR_NULL),
    M("failed", LIST, .named = "HomeThing", .flags = OR_NULL),
    M("best", LIST, .of = home_best, .flags = OR_NULL),
    M("newest", LIST, .of = home_newest, .flags = OR_NULL),
    M("services", LIST, .of = home_service, .flags = OR_NULL),
    M("labelling", LIST, .of = home_labelling, .flags = OR_NULL),
    M("mine", OBJECT, .of = home_mine, .flags = OR_NULL),
    M("changes", LIST, .of = home_change, .flags = OR_NULL),
    {0},
};

static const struct shape home_nodes[] = {M("ready", INT), M("drained", INT), M("lost", INT), {0}};

static const struct shape home_load[] = {
    M("total", OBJECT, .named = "Amounts"), M("reserved", OBJECT, .named = "Amounts"),
    M("used", OBJECT, .named = "Amounts"),  M("use", OBJECT, .named = "Amounts", .flags = OLDER),
    M("nodes", OBJECT, .of = home_nodes),   {0},
};

static const struct shape home_project[] = {
    M("project", REF),
    M("running", INT),
    M("waiting", INT),
    M("failed", INT),
    M("services", INT),
    M("troubled", INT),
    M("samples", INT),
    M("models", INT),
    M("reserved", OBJECT, .named = "Amounts"),
    M("used", OBJECT, .named = "Amounts"),
    M("use", OBJECT, .named = "Amounts", .flags = OLDER),
    {0},
};

static const struct shape home_projects[] = {M("total", INT), M("items", LIST, .of = home_project), {0}};

static const struct shape home_day[] = {M("at", TIME),    M("samples", INT),  M("labels", INT),
                                        M("models", INT), M("services", INT), {0}};

static const struct shape platform_home[] = {
    M("load", OBJECT, .of = home_load, .flags = OR_NULL),
    M("running", OBJECT, .named = "HomeList", .flags = OR_NULL),
    M("waiting", OBJECT, .named = "HomeList", .flags = OR_NULL),
    M("failed", LIST, .named = "HomeThing", .flags = OR_NULL),
    M("projects", OBJECT, .of = home_projects),
    M("services", LIST, .of = home_service, .flags = OR_NULL),
    M("labelling", LIST, .of = home_labelling, .flags = OR_NULL),
    M("newest", LIST, .of = home_newest, .flags = OR_NULL),
    M("growth", LIST, .of = home_day, .flags = OR_NULL),
    {0},
};

static const struct shape found_match[] = {M("field", TEXT), M("from", INT), M("to", INT), {0}};

static const struct shape found_one[] = {
    M("kind", TEXT),
    M("id", INT),
    M("name", TEXT, .flags = OR_NULL),
    M("updated_at", TIME),
    M("about", TEXT, .flags = OR_NULL),
    M("matches", LIST, .of = found_match),
    {0},
};

static const struct shape found[] = {M("items", LIST, .of = found_one), {0}};

const struct answer_shape answers_of_home[] = {
    {"Found", found},
    {"HomeList", home_list},
    {"HomeThing", home_thing},
    {"PlatformHome", platform_home},
    {"ProjectHome", project_home},
    {0},
};
