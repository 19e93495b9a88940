/* Answers about jobs, environments, trainings and what they use. */
#include "api/describe/answer_shape.h"

#define CPUS         M("cpus", REAL), M("cpu", REAL, .flags = OLDER)
#define CPUS_OR_NULL M("cpus", REAL, .flags = OR_NULL), M("cpu", REAL, .flags = OR_NULL | OLDER)

static const struct shape amounts[] = {
    CPUS_OR_NULL,
    M("memory", INT, .flags = OR_NULL),
    M("storage", INT, .flags = OR_NULL | OPTIONAL),
    M("disk", INT, .flags = OR_NULL | OPTIONAL),
    M("accelerators", AMOUNTS),
    {0},
};

/* What was promised to jobs, and what is measured. "use" is the former name: what is reserved, with storage.
 */
#define USES                                                                                                 \
    M("reserved", OBJECT, .named = "Amounts"), M("used", OBJECT, .named = "Amounts"),                        \
        M("use", OBJECT, .named = "Amounts", .flags = OLDER)

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

static const struct shape job_limits[] = {CPUS_OR_NULL,
                                          M("memory", INT, .flags = OR_NULL),
                                          M("disk", INT, .flags = OR_NULL),
                                          M("accelerators", REAL, .flags = OR_NULL),
                                          {0}};

#define JOB_VALUES                                                                                           \
    CPUS, M("memory", INT), M("net_rx", INT), M("net_tx", INT), M("disk", INT, .flags = OR_NULL),            \
        M("accelerator", REAL, .flags = OR_NULL), M("accelerator_memory", INT, .flags = OR_NULL)

static const struct shape job_values[] = {JOB_VALUES, {0}};

/* low and high: of each mean, what it is the mean of. */
static const struct shape job_point[] = {
    M("at", TIME),
    JOB_VALUES,
    M("low", OBJECT, .flags = OPTIONAL, .of = job_values),
    M("high", OBJECT, .flags = OPTIONAL, .of = job_values),
    {0},
};

static const struct shape node_limits[] = {CPUS, M("memory", INT), M("disk", INT), {0}};

static const struct shape node_point[] = {
    M("at", TIME),
    CPUS,
    M("memory", INT),
    M("disk", INT),
    M("low", OBJECT, .of = node_limits),
    M("high", OBJECT, .of = node_limits),
    {0},
};

static const struct shape node_curves[] = {
    M("step_s", INT),
    M("limits", OBJECT, .of = node_limits),
    M("items", LIST, .of = node_point),
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

static const struct shape platform_line[] = {
    M("place", INT),   M("at", TIME),   M("level", TEXT, .choices = "debug info warn error"),
    M("thread", TEXT), M("text", TEXT), {0},
};

static const struct shape platform_log[] = {
    M("lines", LIST, .of = platform_line), M("first", INT), M("next", INT), {0}};

static const struct shape controller_row[] = {
    M("name", TEXT),
    M("title", WORDS),
    M("thread", TEXT),
    M("every_s", INT),
    M("state", TEXT, .choices = "waiting running failed"),
    M("runs", INT),
    M("last_at", TIME, .flags = OR_NULL),
    M("took_us", INT),
    M("next_at", TIME, .flags = OR_NULL),
    M("failures", INT),
    M("failed_at", TIME, .flags = OR_NULL),
    M("error", TEXT, .flags = OR_NULL),
    {0},
};

static const struct shape controller_rows[] = {M("items", LIST, .of = controller_row), {0}};

static const struct shape forecast[] = {
    M("admitted", BOOL), M("starts_now", BOOL), M("wait_s", INT, .flags = OR_NULL), M("reason", WORDS), {0},
};

#define PROJECT_VALUES CPUS, M("memory", INT), M("accelerators", AMOUNTS)

static const struct shape project_values[] = {PROJECT_VALUES, {0}};

static const struct shape project_point[] = {
    M("at", TIME),
    PROJECT_VALUES,
    M("low", OBJECT, .of = project_values),
    M("high", OBJECT, .of = project_values),
    {0},
};

static const struct shape project_curves[] = {M("step_s", INT), M("items", LIST, .of = project_point), {0}};

static const struct shape project_overview[] = {
    M("quota", OBJECT, .named = "Amounts"),    USES, M("counts", COUNTS),
    M("curves", OBJECT, .of = project_curves), {0},
};

static const struct shape device[] = {
    M("kind", TEXT), M("path", TEXT, .flags = OR_NULL), M("declared", BOOL), {0}};

static const struct shape node_use[] = {
    M("id", INT),
    M("name", TEXT),
    M("arch", TEXT),
    M("pool", TEXT, .flags = OR_NULL),
    M("state", TEXT, .choices = "ready drained lost"),
    CPUS,
    M("memory", INT),
    M("disk", INT),
    M("disk_free", INT, .flags = OR_NULL),
    M("total", OBJECT, .named = "Amounts"),
    USES,
    M("jobs", INT),
    M("devices", LIST, .of = device),
    M("reason", TEXT, .flags = OR_NULL),
    M("reason_zh", TEXT, .flags = OR_NULL),
    {0},
};

static const struct shape node_change[] = {
    M("at", TIME), M("by", REF, .flags = OR_NULL),       M("from", TEXT, .flags = OR_NULL),
    M("to", TEXT), M("reason", WORDS, .flags = OR_NULL), {0},
};

static const struct shape node_overview[] = {
    M("load", OBJECT, .named = "NodeLoad", .flags = OR_NULL),
    M("running", LIST, .named = "HomeThing"),
    M("ended", LIST, .named = "HomeThing"),
    M("changes", LIST, .of = node_change),
    {0},
};

static const struct shape project_use[] = {
    M("project", REF), M("quota", OBJECT, .named = "Amounts"), USES, M("jobs", INT), {0},
};

static const struct shape user_use[] = {M("user", REF), USES, M("jobs", INT), {0}};

static const struct shape series_use[] = {
    M("series", INT), M("points", INT), M("bytes", INT), M("rows", INT), {0}};

static const struct shape resources[] = {
    M("total", OBJECT, .named = "Amounts"),
    USES,
    M("nodes", LIST, .named = "NodeLoad"),
    M("projects", LIST, .of = project_use),
    M("users", LIST, .of = user_use),
    M("series", OBJECT, .of = series_use),
    {0},
};

static const struct shape tool[] = {
    M("name", TEXT),
    M("installed", BOOL),
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

static const struct shape demo_password[] = {M("name", TEXT), M("role", TEXT), M("password", TEXT), {0}};
static const struct shape demo_passwords[] = {M("items", LIST, .of = demo_password), {0}};

static const struct shape environment_access[] = {M("tools", LIST, .of = tool),
                                                  M("ssh", OBJECT, .flags = OR_NULL, .of = ssh),
                                                  M("idle_s", INT, .flags = OR_NULL),
                                                  {0}};

static const struct shape environment_folder[] = {M("name", TEXT), M("mounted", BOOL), {0}};

static const struct shape environment_folders[] = {
    M("folder", TEXT), M("items", LIST, .of = environment_folder), {0}};

/* A point: step, time in microseconds, value. Where they are thinned, means beside them. */
static const struct shape metric_series[] = {
    M("name", TEXT), M("points", TRIPLES), M("means", MEANS, .flags = OPTIONAL), {0}};

static const struct shape training_metrics[] = {M("series", LIST, .of = metric_series), {0}};

static const struct shape training_picture[] = {
    M("file", TEXT), M("name", TEXT), M("step", INT), M("bytes", INT), M("type", TEXT), M("data", TEXT), {0}};

static const struct shape training_pictures[] = {
    M("items", LIST, .of = training_picture), M("next", TEXT, .flags = OR_NULL), {0}};

static const struct shape lineage_version[] = {
    M("kind", TEXT), M("set", REF), M("version", REF), M("digest", TEXT, .flags = OR_NULL | OPTIONAL), {0}};

static const struct shape lineage_of[] = {M("kind", TEXT),
                                          M("id", INT),
                                          M("name", TEXT, .flags = OR_NULL),
                                          M("of", INT, .flags = OPTIONAL),
                                          M("of_name", TEXT, .flags = OR_NULL | OPTIONAL),
                                          {0}};

/* Without id: not for the caller to see. With it, and nothing else: deleted. */
static const struct shape lineage_node[] = {
    M("key", TEXT),
    M("kind", TEXT),
    M("depth", INT),
    M("visible", BOOL),
    M("deleted", BOOL),
    M("id", INT, .flags = OPTIONAL),
    M("name", TEXT, .flags = OR_NULL | OPTIONAL),
    M("of", OBJECT, .flags = OR_NULL | OPTIONAL, .of = lineage_of),
    M("project", REF, .flags = OR_NULL | OPTIONAL),
    M("state", TEXT, .flags = OR_NULL | OPTIONAL),
    M("created_at", TIME, .flags = OR_NULL | OPTIONAL),
    M("created_by", REF, .flags = OR_NULL | OPTIONAL),
    {0},
};

static const struct shape lineage_edge[] = {M("from", TEXT), M("to", TEXT), M("as", TEXT), {0}};

static const struct shape lineage[] = {
    M("nodes", LIST, .of = lineage_node), M("edges", LIST, .of = lineage_edge), M("more", BOOL), {0}};

/* Versions keep what was known when they were made: members may be missing. */
static const struct shape training_lineage[] = {
    M("training", REF, .flags = OPTIONAL),
    M("run", TEXT, .flags = OPTIONAL),
    M("environment", REF, .flags = OPTIONAL),
    M("folder", TEXT, .flags = OPTIONAL),
    M("algorithms", LIST, .flags = OPTIONAL, .named = "LineageVersion"),
    M("models", LIST, .flags = OPTIONAL, .named = "LineageVersion"),
    M("data", LIST, .flags = OPTIONAL, .named = "LineageVersion"),
    M("code", OBJECT, .flags = OR_NULL | OPTIONAL, .named = "LineageVersion"),
    M("base_model", OBJECT, .flags = OR_NULL | OPTIONAL, .named = "LineageVersion"),
    M("resumed_from", REF, .flags = OR_NULL | OPTIONAL),
    M("spec", REF, .flags = OR_NULL | OPTIONAL),
    M("image", TEXT, .flags = OR_NULL | OPTIONAL),
    M("image_digest", TEXT, .flags = OR_NULL | OPTIONAL),
    M("command", TEXT, .flags = OR_NULL | OPTIONAL),
    M("env", TEXTS, .flags = OPTIONAL),
    M("nodes", INT, .flags = OPTIONAL),
    M("instance", INT, .flags = OPTIONAL),
    M("job", INT, .flags = OPTIONAL),
    M("model_version", OBJECT, .flags = OR_NULL | OPTIONAL, .named = "LineageVersion"),
    {0},
};

static const struct shape tool_address[] = {
    M("state", TEXT),
    M("url", TEXT, .flags = OR_NULL),
    M("reason", TEXT, .flags = OR_NULL),
    M("reason_zh", TEXT, .flags = OR_NULL),
    {0},
};

static const struct shape model_trial[] = {
    M("state", TEXT, .choices = "none waiting starting ready failed"),
    M("project", INT),
    M("job", INT, .flags = OR_NULL),
    M("reason", TEXT, .flags = OR_NULL),
    M("reason_zh", TEXT, .flags = OR_NULL),
    {0},
};

static const struct shape model_check[] = {
    M("ok", BOOL),
    M("field", TEXT, .flags = OR_NULL),
    M("reason", TEXT, .flags = OR_NULL),
    M("reason_zh", TEXT, .flags = OR_NULL),
    {0},
};

static const struct shape fitting_service[] = {M("id", INT), M("name", TEXT), {0}};
static const struct shape fitting_services[] = {M("items", LIST, .of = fitting_service), {0}};
static const struct shape deployment[] = {
    M("service", OBJECT, .named = "Service"),
    M("version", OBJECT, .named = "ServiceVersion"),
    M("key", OBJECT, .flags = OR_NULL, .named = "ServiceKey"),
    {0},
};

#define TRAFFIC_TIMES                                                                                        \
    M("p50_ms", REAL, .flags = OR_NULL), M("p95_ms", REAL, .flags = OR_NULL),                                \
        M("p99_ms", REAL, .flags = OR_NULL)

static const struct shape traffic_bound[] = {M("per_second", REAL, .flags = OR_NULL), TRAFFIC_TIMES, {0}};

static const struct shape traffic_point[] = {
    M("at", TIME),
    M("requests", INT),
    M("per_second", REAL),
    M("classes", COUNTS),
    TRAFFIC_TIMES,
    M("low", OBJECT, .of = traffic_bound),
    M("high", OBJECT, .of = traffic_bound),
    {0},
};

static const struct shape traffic_version[] = {
    M("version", INT), M("points", LIST, .of = traffic_point), {0}};

static const struct shape service_traffic[] = {
    M("step_s", INT), M("versions", LIST, .of = traffic_version), {0}};

static const struct shape service_event[] = {
    M("at", TIME),
    M("event", TEXT),
    M("version", TEXT, .flags = OR_NULL),
    M("job", INT, .flags = OR_NULL),
    M("reason", TEXT),
    M("reason_zh", TEXT),
    {0},
};

static const struct shape service_events[] = {M("items", LIST, .of = service_event), {0}};

static const struct shape service_replica[] = {
    M("job", INT),
    M("version", INT),
    M("version_name", TEXT, .flags = OR_NULL),
    M("generation", INT),
    M("role", TEXT, .choices = "production canary"),
    M("state", TEXT, .choices = "starting ready sick draining over"),
    M("since", TIME),
    M("job_state", TEXT, .flags = OR_NULL, .choices = JOB_STATES),
    M("attempt", INT),
    M("reason", TEXT, .flags = OR_NULL),
    M("reason_zh", TEXT, .flags = OR_NULL),
    {0},
};

static const struct shape service_replicas[] = {M("items", LIST, .of = service_replica), {0}};

static const struct shape service_line[] = {
    M("at", TIME),
    M("job", INT),
    M("version", TEXT, .flags = OR_NULL),
    M("stream", TEXT, .choices = "output error platform"),
    M("text", TEXT),
    {0},
};

static const struct shape service_log[] = {M("lines", LIST, .of = service_line), M("next", TEXT), {0}};

static const struct shape service_tensor[] = {
    M("name", TEXT),
    M("datatype", TEXT),
    M("shape", NUMBERS), /* -1: free */
    {0},
};

static const struct shape service_graph[] = {
    M("name", TEXT),
    M("inputs", LIST, .of = service_tensor),
    M("outputs", LIST, .of = service_tensor),
    {0},
};

static const struct shape service_model[] = {
    M("model_set", INT),
    M("model_version", INT),
    M("task", TEXT, .flags = OR_NULL),
    M("predicts", BOOL),
    M("takes", TEXT, .flags = OR_NULL, .choices = "picture text sound"),
    M("sample", TEXT, .flags = OR_NULL),
    M("thresholds", AMOUNTS),
    M("graphs", LIST, .of = service_graph),
    {0},
};

static const struct shape script_log[] = {
    M("text", TEXT), M("from", INT), M("next", INT), M("end", INT), {0}};

const struct answer_shape answers_of_compute[] = {
    {"Amounts", amounts},
    {"Controllers", controller_rows},
    {"Deployment", deployment},
    {"FittingServices", fitting_services},
    {"DemoPasswords", demo_passwords},
    {"EnvironmentAccess", environment_access},
    {"EnvironmentFolders", environment_folders},
    {"Forecast", forecast},
    {"JobCurves", job_curves},
    {"JobEvents", job_events},
    {"JobLog", log_part},
    {"JobLogMatches", log_matches},
    {"Lineage", lineage},
    {"LineageVersion", lineage_version},
    {"ModelCheck", model_check},
    {"ModelTrial", model_trial},
    {"NodeCurves", node_curves},
    {"NodeLoad", node_use},
    {"NodeOverview", node_overview},
    {"PlatformLog", platform_log},
    {"ProjectOverview", project_overview},
    {"Resources", resources},
    {"ScriptLog", script_log},
    {"ServiceEvents", service_events},
    {"ServiceLog", service_log},
    {"ServiceModel", service_model},
    {"ServiceReplicas", service_replicas},
    {"ServiceTraffic", service_traffic},
    {"ToolAddress", tool_address},
    {"TrainingPictures", training_pictures},
    {"TrainingLineage", training_lineage},
    {"TrainingMetrics", training_metrics},
    {0},
};
