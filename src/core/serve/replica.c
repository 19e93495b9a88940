#include "core/serve/replica.h"

#include "base/clock.h"
#include "base/messages.h"
#include "core/image/repository.h"
#include "core/serve/event.h"
#include "core/serve/version.h"

#define PRIORITY     50 /* people wait for it */
#define JOB_NAME_MAX 50

const char *const replica_state_names[] = {"starting", "ready", "sick", "draining", "over"};

const char replica_sql[] =
    "CREATE TABLE replicas (job BIGINT PRIMARY KEY, service BIGINT NOT NULL, version BIGINT NOT NULL,"
    " generation BIGINT NOT NULL, slot {text} NOT NULL, state {text} NOT NULL, attempt BIGINT NOT NULL, since"
    " BIGINT NOT NULL, drain_at BIGINT NOT NULL, port BIGINT NOT NULL, health_path {text} NOT NULL);\n"
    "CREATE INDEX replicas_service ON replicas (service, slot, state);\n";

static enum replica_state state_of(struct str name)
{
    for (int i = 0; i <= REPLICA_OVER; i++)
        if (str_is(name, replica_state_names[i]))
            return (enum replica_state)i;
    return REPLICA_OVER;
}

static enum job_state job_state_named(struct str name)
{
    for (int i = 0; i <= JOB_STOPPED; i++)
        if (str_is(name, job_state_names[i]))
            return (enum job_state)i;
    return JOB_FAILED;
}

static struct str text_of(const struct db_value *v)
{
    return v->type == DB_TEXT ? v->s : STR_NULL;
}

static struct replica read_row(struct arena *a, const struct db_value *v)
{
    bool there = v[11].type == DB_TEXT;
    return (struct replica){
        .job = v[0].i,
        .service = v[1].i,
        .version = v[2].i,
        .generation = v[3].i,
        .slot = slot_of(v[4].s),
        .state = state_of(v[5].s),
        .attempt = v[6].i,
        .since = v[7].i,
        .drain_at = v[8].i,
        .port = (uint16_t)v[9].i,
        .health_path = arena_strz(a, v[10].s),
        .there = there,
        .job_state = there ? job_state_named(v[11].s) : JOB_STOPPED,
        .job_attempt = there ? v[12].i : 0,
        .started_at = v[13].type == DB_INT ? v[13].i : 0,
        .reason = text_of(&v[14]),
        .reason_zh = text_of(&v[15]),
    };
}

bool replica_list(struct core *core, struct arena *a, struct replica **ret, size_t *ret_n, struct err *err)
{
    struct db_rows rows;
    if (!db_query(core->db, a,
                  "SELECT r.job, r.service, r.version, r.generation, r.slot, r.state, r.attempt, r.since,"
                  " r.drain_at, r.port, r.health_path, j.state, j.attempt, j.started_at, j.reason,"
                  " j.reason_zh FROM replicas r LEFT JOIN jobs j ON j.id = r.job ORDER BY r.job",
                  DB_NO_ARGS, &rows, err))
        return false;
    *ret = arena_array(a, struct replica, rows.n + 1);
    *ret_n = rows.n;
    for (size_t i = 0; i < rows.n; i++)
        (*ret)[i] = read_row(a, rows.row[i].v);
    return true;
}

struct exec_id replica_container(const struct replica *r)
{
    return (struct exec_id){r->job, (int32_t)r->job_attempt, 0};
}

uint64_t replica_key(const struct replica *r)
{
    return (uint64_t)r->job << 16 | (uint64_t)(r->attempt & 0xffff);
}

bool replica_answers(const struct replica *r)
{
    return r->state == REPLICA_READY && r->job_state == JOB_RUNNING && r->job_attempt == r->attempt;
}

/* --- starting --- */

/* As jobs call an image: by its name in its own project, with the project's for public ones of others. */
static bool image_name(struct op *op, const struct object *version, const char **ret, struct err *err)
{
    struct db_row row;
    bool found;
    *ret = "host";
    if (!object_int(version, "image_version"))
        return true;
    if (!conn_query_one(op->conn, op->arena,
                        "SELECT i.name, v.name, i.project, p.name FROM image_versions v JOIN images i ON"
                        " i.id = v.image JOIN projects p ON p.id = i.project WHERE v.id = ?",
                        db_args(db_int(object_int(version, "image_version"))), &row, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_CONFLICT, "image_version", "its image was deleted");
    const char *name = arena_printf(op->arena, STR_FMT ":" STR_FMT, STR_ARG(row.v[0].s), STR_ARG(row.v[1].s));
    *ret = row.v[2].i == version->project
               ? name
               : arena_printf(op->arena, "%s/%s", repository_project_text(op->arena, row.v[2].i, row.v[3].s),
                              name);
    return true;
}

/* "fruit v3", cut to what a job's name may have. */
static struct str job_name(struct arena *a, const struct object *service, const struct object *version)
{
    struct str name = object_text(service, "name");
    const char *tail = arena_printf(a, " " STR_FMT, STR_ARG(object_text(version, "name")));
    size_t n = 0, room = JOB_NAME_MAX - strlen(tail);
    for (size_t count = 0; n < name.n && count < room; count++)
        utf8_next(name, &n);
    return str_of(arena_printf(a, STR_FMT "%s", (int)n, name.p, tail));
}

bool replica_start(struct op *op, const struct object *service, const struct object *version, enum slot slot,
                   struct err *err)
{
    /* In the name of who made the version: shares and limits of users are about them. */
    struct caller as = caller_system;
    struct op theirs = *op;
    const char *image;
    int64_t job;
    as.user = version->created_by;
    theirs.caller = &as;
    if (!image_name(op, version, &image, err))
        return false;
    struct str command = object_text(version, "command");
    struct job_new r = {.project = service->project,
                        .owner_kind = kind_service_version.name,
                        .owner = version->id,
                        .name = job_name(op->arena, service, version),
                        .image = str_of(image),
                        .command = command.n ? command : STR("ingot-infer"),
                        .spec = object_int(version, "spec"),
                        .nodes = 1,
                        .priority = PRIORITY};
    if (!job_create(&theirs, &r, &job, err))
        return false;
    bool model = version_is_model(version);
    struct str path = model ? STR(VERSION_MODEL_HEALTH) : object_text(version, "health_path");
    return conn_exec(op->conn,
                     "INSERT INTO replicas (job, service, version, generation, slot, state, attempt, since,"
                     " drain_at, port, health_path) VALUES (?, ?, ?, ?, ?, 'starting', 0, ?, 0, ?, ?)",
                     db_args(db_int(job), db_int(service->id), db_int(version->id),
                             db_int(object_int(version, "generation")), db_textz(slot_names[slot]),
                             db_int(clock_now()),
                             db_int(model ? VERSION_MODEL_PORT : object_int(version, "port")), db_text(path)),
                     NULL, err) &&
           event_add(op, (struct event_of){service->id, version->id, job}, err, MESSAGE_EVENT_REPLICA_STARTS,
                     STR_ARG(object_text(version, "name")), (long long)job);
}

/* --- changing --- */

bool replica_set(struct op *op, const struct replica *r, enum replica_state state, int64_t drain_at,
                 struct err *err)
{
    return conn_exec(op->conn,
                     "UPDATE replicas SET state = ?, attempt = ?, since = ?, drain_at = ? WHERE job = ? AND"
                     " state = ?",
                     db_args(db_textz(replica_state_names[state]), db_int(r->job_attempt),
                             db_int(clock_now()), db_int(drain_at), db_int(r->job),
                             db_textz(replica_state_names[r->state])),
                     NULL, err);
}

bool replica_stop_all(struct op *op, int64_t service, int64_t version, struct err *err)
{
    struct db_rows rows;
    int64_t now = clock_now();
    if (!conn_query(op->conn, op->arena,
                    "SELECT job FROM replicas WHERE service = ? AND (? = 0 OR version = ?) AND state <>"
                    " 'over'",
                    db_args(db_int(service), db_int(version), db_int(version)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        if (!job_stop(op, rows.row[i].v[0].i, "the service version was deleted", err) ||
            !conn_exec(op->conn,
                       "UPDATE replicas SET state = 'draining', since = ?, drain_at = ? WHERE job = ?",
                       db_args(db_int(now), db_int(now), db_int(rows.row[i].v[0].i)), NULL, err))
            return false;
    return true;
}

bool replica_forget(struct op *op, int64_t job, struct err *err)
{
    struct object o;
    bool found;
    if (!engine_load_row(op, &kind_job, job, &o, &found, err))
        return false;
    op->kind = &kind_job;
    return (!found || (engine_delete_row(op, &o, err) && kind_job.after_delete(op, &o, err))) &&
           conn_exec(op->conn, "DELETE FROM replicas WHERE job = ?", db_args(db_int(job)), NULL, err);
}
