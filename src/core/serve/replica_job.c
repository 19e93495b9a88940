/* A replica's container: ingot-infer with a model, or a command. */
#include "core/folder/folder.h"
#include "core/serve/replica.h"
#include "core/serve/values.h"
#include "core/serve/version.h"

#define INFER       "ingot-infer"
#define MODEL_PLACE "/model"
#define WORDS_MAX   20

struct words_of {
    const char *argv[WORDS_MAX];
    size_t n;
};

static void add(struct words_of *w, const char *word)
{
    w->argv[w->n++] = word;
}

/* "--batch 8", unless ingot-infer is to decide. */
static void add_number(struct launch *u, struct words_of *w, const struct object *version, const char *field,
                       const char *flag)
{
    int64_t n = object_int(version, field);
    if (n <= 0)
        return;
    add(w, flag);
    add(w, arena_printf(launch_arena(u), "%lld", (long long)n));
}

/* The model's version is the service version's. */
static bool prepare_model(struct launch *u, const struct object *version, struct err *err)
{
    struct arena *a = launch_arena(u);
    struct object service;
    struct words_of w = {0};
    if (!engine_get(launch_core(u), &caller_system, &kind_service, 0, version->parent, a, &service, err) ||
        !launch_program(u, INFER, err) ||
        !launch_version(u, &kind_model_version, object_int(version, "model_version"), MODEL_PLACE, err))
        return false;
    add(&w, EXEC_PROGRAMS "/bin/" INFER);
    add(&w, "--listen");
    add(&w, arena_printf(a, "127.0.0.1:%d", VERSION_MODEL_PORT));
    add(&w, "--model");
    add(&w,
        arena_printf(a, STR_FMT "=" MODEL_PLACE ",version=%lld", STR_ARG(object_text(&service, "model_name")),
                     (long long)object_int(version, "number")));
    add_number(u, &w, version, "instances", "--instances");
    add_number(u, &w, version, "batch", "--batch");
    add_number(u, &w, version, "delay_us", "--delay-us");
    add_number(u, &w, version, "queue", "--queue");
    launch_argv(u, w.argv, w.n);
    launch_port(u, VERSION_MODEL_PORT);
    return true;
}

/* Whether it is still what the version is made of. */
static bool is_current(struct launch *u, const struct object *version, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(launch_core(u)->db, launch_arena(u), "SELECT generation FROM replicas WHERE job = ?",
                      db_args(db_int(launch_job(u)->id)), &row, &found, err))
        return false;
    return (found && row.v[0].i == object_int(version, "generation")) ||
           err_set(err, ERR_CONFLICT, NULL, "a newer generation of the version takes its place");
}

static bool prepare(struct launch *u, struct err *err)
{
    struct arena *a = launch_arena(u);
    struct object version;
    int64_t id = object_int(launch_job(u), "owner");
    if (!engine_get(launch_core(u), &caller_system, &kind_service_version, 0, id, a, &version, err))
        return err->code == ERR_NOT_FOUND
                   ? err_set(err, ERR_CONFLICT, NULL, "the service version was deleted")
                   : false;
    if (!is_current(u, &version, err) || !values_launch(u, object_text(&version, "env"), err))
        return false;
    if (version_is_model(&version))
        return prepare_model(u, &version, err);
    int64_t port = object_int(&version, "port");
    launch_env_default(u, "PORT", arena_printf(a, "%lld", (long long)port));
    launch_port(u, (uint16_t)port);
    return true;
}

static void told(struct core *core, const struct object *job)
{
    (void)job;
    services_wake(core);
}

const struct job_owner service_version_owner = {
    .kind = "service_version", .no_platform = true, .prepare = prepare, .told = told};
