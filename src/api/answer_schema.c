#include "api/answer_schema.h"

#include "api/schema_json.h"

enum shape_type {
    SHAPE_TEXT,
    SHAPE_TIME,
    SHAPE_INT,
    SHAPE_REAL,
    SHAPE_BOOL,
    SHAPE_REF,     /* {id, name} */
    SHAPE_WORDS,   /* {en, zh} */
    SHAPE_AMOUNTS, /* numbers by name, or null */
    SHAPE_COUNTS,  /* numbers by name */
    SHAPE_TEXTS,   /* texts by name */
    SHAPE_TRIPLES, /* [[1, 2, 3], ...] */
    SHAPE_OBJECT,  /* of, or named */
    SHAPE_LIST,    /* of objects */
};

enum shape_flags {
    OR_NULL = 1,
    OPTIONAL = 2, /* may be left out */
};

/* One member of an object; ended by name NULL. */
struct shape {
    const char *name;
    enum shape_type type;
    unsigned flags;
    const struct shape *of; /* members of the object, or of each in the list */
    const char *named;      /* instead: a schema of the document */
    const char *choices;    /* of a text, with spaces between */
};

#define M(member, kind, ...)                                                                                 \
    {                                                                                                        \
        .name = (member), .type = SHAPE_##kind, __VA_ARGS__                                                  \
    }

static const struct shape amounts[] = {
    M("cpu", REAL, .flags = OR_NULL),
    M("memory", INT, .flags = OR_NULL),
    M("storage", INT, .flags = OR_NULL | OPTIONAL),
    M("disk", INT, .flags = OR_NULL | OPTIONAL),
    M("accelerators", AMOUNTS),
    {0},
};

#define JOB_STATES "queued starting running stopping completed failed stopped"

static const struct shape job_event[] = {
    M("at", TIME),
    M("attempt", INT),
    M("state", TEXT, .choices = JOB_STATES),
    M("reason", TEXT, .flags = OR_NULL),
    M("reason_zh", TEXT, .flags = OR_NULL),
    {0},
};

static const struct shape job_events[] = {M("items", LIST, .of = job_event), {0}};

static const struct shape job_limits[] = {M("cpu", REAL, .flags = OR_NULL),
                                          M("memory", INT, .flags = OR_NULL),
                                          M("disk", INT, .flags = OR_NULL),
                                          {0}};

static const struct shape job_point[] = {
    M("at", TIME),
    M("cpu", REAL),
    M("memory", INT),
    M("net_rx", INT),
    M("net_tx", INT),
    M("disk", INT, .flags = OR_NULL),
    {0},
};

static const struct shape job_curves[] = {
    M("step_s", INT),
    M("limits", OBJECT, .of = job_limits),
    M("items", LIST, .of = job_point),
    {0},
};

static const struct shape log_line[] = {
    M("at", TIME), M("stream", TEXT, .choices = "output error platform"), M("text", TEXT), {0}};

static const struct shape log_part[] = {
    M("first", INT),      M("end", INT),
    M("first_line", INT), M("end_line", INT),
    M("closed", BOOL),    M("lines", LIST, .of = log_line),
    M("next", INT),       {0},
};

static const struct shape log_match[] = {
    M("line", INT), M("at", TIME), M("stream", TEXT), M("text", TEXT), {0}};

static const struct shape log_matches[] = {
    M("matches", LIST, .of = log_match), M("next", INT), M("end", BOOL), {0}};

static const struct shape forecast[] = {
    M("admitted", BOOL), M("starts_now", BOOL), M("wait_s", INT, .flags = OR_NULL), M("reason", WORDS), {0},
};

static const struct shape project_point[] = {
    M("at", TIME), M("cpu", REAL), M("memory", INT), M("accelerators", AMOUNTS), {0}};

static const struct shape project_curves[] = {M("step_s", INT), M("items", LIST, .of = project_point), {0}};

static const struct shape project_overview[] = {
    M("quota", OBJECT, .named = "Amounts"),
    M("use", OBJECT, .named = "Amounts"),
    M("counts", COUNTS),
    M("curves", OBJECT, .of = project_curves),
    {0},
};

static const struct shape device[] = {
    M("kind", TEXT), M("path", TEXT, .flags = OR_NULL), M("declared", BOOL), {0}};

static const struct shape node_use[] = {
    M("id", INT),
    M("name", TEXT),
    M("arch", TEXT),
    M("pool", TEXT, .flags = OR_NULL),
    M("state", TEXT, .choices = "ready drained lost"),
    M("cpu", REAL),
    M("memory", INT),
    M("disk", INT),
    M("use", OBJECT, .named = "Amounts"),
    M("jobs", INT),
    M("devices", LIST, .of = device),
    M("reason", TEXT, .flags = OR_NULL),
    M("reason_zh", TEXT, .flags = OR_NULL),
    {0},
};

static const struct shape project_use[] = {
    M("project", REF),
    M("quota", OBJECT, .named = "Amounts"),
    M("use", OBJECT, .named = "Amounts"),
    M("jobs", INT),
    {0},
};

static const struct shape user_use[] = {
    M("user", REF), M("use", OBJECT, .named = "Amounts"), M("jobs", INT), {0}};

static const struct shape resources[] = {
    M("total", OBJECT, .named = "Amounts"), M("use", OBJECT, .named = "Amounts"),
    M("nodes", LIST, .of = node_use),       M("projects", LIST, .of = project_use),
    M("users", LIST, .of = user_use),       {0},
};

static const struct shape tool[] = {
    M("name", TEXT),
    M("title", WORDS),
    M("state", TEXT, .choices = "starting ready missing"),
    M("url", TEXT, .flags = OR_NULL),
    M("reason", TEXT, .flags = OR_NULL),
    M("reason_zh", TEXT, .flags = OR_NULL),
    {0},
};

static const struct shape ssh[] = {
    M("host", TEXT),
    M("port", INT),
    M("user", TEXT),
    M("host_key", TEXT, .flags = OR_NULL),
    M("command", TEXT),
    M("password", TEXT, .flags = OR_NULL),
    {0},
};

static const struct shape environment_access[] = {M("tools", LIST, .of = tool),
                                                  M("ssh", OBJECT, .flags = OR_NULL, .of = ssh),
                                                  M("idle_s", INT, .flags = OR_NULL),
                                                  {0}};

static const struct shape metric_series[] = {
    M("name", TEXT), M("points", TRIPLES), {0}}; /* step, time in microseconds, value */

static const struct shape training_metrics[] = {M("series", LIST, .of = metric_series), {0}};

static const struct shape lineage_version[] = {
    M("kind", TEXT), M("set", REF), M("version", REF), M("digest", TEXT, .flags = OR_NULL | OPTIONAL), {0}};

/* Versions keep what was known when they were made: members may be missing. */
static const struct shape training_lineage[] = {
    M("training", REF, .flags = OPTIONAL),
    M("run", TEXT, .flags = OPTIONAL),
    M("data", LIST, .flags = OPTIONAL, .named = "LineageVersion"),
    M("code", OBJECT, .flags = OR_NULL | OPTIONAL, .named = "LineageVersion"),
    M("base_model", OBJECT, .flags = OR_NULL | OPTIONAL, .named = "LineageVersion"),
    M("resumed_from", REF, .flags = OR_NULL | OPTIONAL),
    M("spec", REF, .flags = OR_NULL | OPTIONAL),
    M("image", TEXT, .flags = OR_NULL | OPTIONAL),
    M("command", TEXT, .flags = OR_NULL | OPTIONAL),
    M("env", TEXTS, .flags = OPTIONAL),
    M("nodes", INT, .flags = OPTIONAL),
    M("instance", INT, .flags = OPTIONAL),
    M("job", INT, .flags = OPTIONAL),
    M("model_version", OBJECT, .flags = OR_NULL | OPTIONAL, .named = "LineageVersion"),
    {0},
};

static const struct shape tensorboard[] = {
    M("state", TEXT),
    M("url", TEXT, .flags = OR_NULL),
    M("reason", TEXT, .flags = OR_NULL),
    M("reason_zh", TEXT, .flags = OR_NULL),
    {0},
};

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

static const struct {
    const char *name;
    const struct shape *members;
} schemas[] = {
    {"Amounts", amounts},
    {"DatasetStatistics", dataset_statistics},
    {"EnvironmentAccess", environment_access},
    {"Forecast", forecast},
    {"JobCurves", job_curves},
    {"JobEvents", job_events},
    {"JobLog", log_part},
    {"JobLogMatches", log_matches},
    {"LineageVersion", lineage_version},
    {"ProjectOverview", project_overview},
    {"Resources", resources},
    {"TensorBoard", tensorboard},
    {"TrainingLineage", training_lineage},
    {"TrainingMetrics", training_metrics},
};

bool answer_schema_known(const char *name)
{
    for (size_t i = 0; name && i < countof(schemas); i++)
        if (strcmp(schemas[i].name, name) == 0)
            return true;
    return false;
}

static void write_members(struct json_out *o, const struct shape *members);

static void write_text(struct json_out *o, const struct shape *s)
{
    json_kz(o, "type", "string");
    if (!s->choices)
        return;
    json_key(o, "enum");
    json_array(o);
    for (struct str rest = str_of(s->choices); rest.n;)
        json_string(o, str_cut(rest, ' ', &rest));
    json_array_end(o);
}

/* A whole schema. */
static void write_inner(struct json_out *o, const struct shape *s)
{
    if (s->named)
        schema_json_ref(o, s->named);
    else
        write_members(o, s->of);
}

static const char words[] =
    "{\"type\":\"object\",\"required\":[\"en\",\"zh\"],\"properties\":{\"en\":{\"type\":"
    "\"string\"},\"zh\":{\"type\":\"string\"}}}";

static const char triples[] =
    "{\"type\":\"array\",\"items\":{\"type\":\"array\",\"prefixItems\":[{\"type\":\"number\"},"
    "{\"type\":\"number\"},{\"type\":\"number\"}],\"minItems\":3,\"maxItems\":3}}";

/* The members of a schema, for types that need no more than these. */
static const char *const plain[] = {
    [SHAPE_TIME] = "{\"type\":\"string\",\"format\":\"date-time\"}",
    [SHAPE_INT] = "{\"type\":\"integer\",\"format\":\"int64\"}",
    [SHAPE_REAL] = "{\"type\":\"number\"}",
    [SHAPE_BOOL] = "{\"type\":\"boolean\"}",
    [SHAPE_REF] = "{\"$ref\":\"#/components/schemas/Reference\"}",
    [SHAPE_WORDS] = words,
    [SHAPE_AMOUNTS] = "{\"type\":\"object\",\"additionalProperties\":{\"type\":[\"number\",\"null\"]}}",
    [SHAPE_COUNTS] = "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}",
    [SHAPE_TEXTS] = "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}",
    [SHAPE_TRIPLES] = triples,
    [SHAPE_LIST] = NULL,
};

static void write_shape(struct json_out *o, const struct shape *s)
{
    if (plain[s->type]) {
        json_raw(o, str_of(plain[s->type]));
    } else if (s->type == SHAPE_TEXT) {
        json_object(o);
        write_text(o, s);
        json_object_end(o);
    } else if (s->type == SHAPE_LIST) {
        json_object(o);
        json_kz(o, "type", "array");
        json_key(o, "items");
        write_inner(o, s);
        json_object_end(o);
    } else {
        write_inner(o, s);
    }
}

static void write_member(struct json_out *o, const struct shape *s)
{
    json_key(o, s->name);
    if (!(s->flags & OR_NULL)) {
        write_shape(o, s);
        return;
    }
    json_object(o);
    json_key(o, "anyOf");
    json_array(o);
    write_shape(o, s);
    json_raw(o, STR("{\"type\":\"null\"}"));
    json_array_end(o);
    json_object_end(o);
}

static void write_members(struct json_out *o, const struct shape *members)
{
    json_object(o);
    json_kz(o, "type", "object");
    json_key(o, "required");
    json_array(o);
    for (const struct shape *s = members; s->name; s++)
        if (!(s->flags & OPTIONAL))
            json_string(o, str_of(s->name));
    json_array_end(o);
    json_key(o, "properties");
    json_object(o);
    for (const struct shape *s = members; s->name; s++)
        write_member(o, s);
    json_object_end(o);
    json_object_end(o);
}

void answer_schema_write(struct json_out *o)
{
    for (size_t i = 0; i < countof(schemas); i++) {
        json_key(o, schemas[i].name);
        write_members(o, schemas[i].members);
    }
}
