/* The kind `job`: what people give and see. */
#include "base/clock.h"
#include "core/account/accounts.h"
#include "core/job/fields.h"
#include "core/job/jobs_own.h"
#include "core/job/owner.h"
#include "core/job/sentence.h"

static const char *const then_names[] = {"", "failed", "retry", "queued"};

const char *const job_state_names[] = {"queued",    "starting", "running", "stopping",
                                       "completed", "failed",   "stopped"};

static const struct choice states[] = {
    {"queued", {"Queued", "排队中"}},       {"starting", {"Starting", "启动中"}},
    {"running", {"Running", "运行中"}},     {"stopping", {"Stopping", "停止中"}},
    {"completed", {"Completed", "已完成"}}, {"failed", {"Failed", "失败"}},
    {"stopped", {"Stopped", "已停止"}},     {NULL, {NULL, NULL}},
};

bool job_env_check(struct arena *a, const struct field *f, const struct db_value *value, struct err *err)
{
    if (value->type != DB_TEXT)
        return true;
    yyjson_val *doc = json_parse(a, value->s, err), *key, *v;
    size_t i, max;
    if (!doc)
        return false;
    if (!yyjson_is_obj(doc) || yyjson_obj_size(doc) > 200)
        return err_set(err, ERR_INVALID, f->name, "%s: an object of at most 200 names and texts", f->name);
    yyjson_obj_foreach(doc, i, max, key, v)
    {
        struct str name = json_str(key), text = json_str(v);
        bool plain = name.n > 0 && name.n <= 100 && !(name.p[0] >= '0' && name.p[0] <= '9');
        for (size_t k = 0; k < name.n; k++)
            plain =
                plain && (name.p[k] == '_' || (name.p[k] >= '0' && name.p[k] <= '9') ||
                          (name.p[k] >= 'A' && name.p[k] <= 'Z') || (name.p[k] >= 'a' && name.p[k] <= 'z'));
        if (!plain)
            return err_set(err, ERR_INVALID, f->name, "%s: \"" STR_FMT "\" is no name of a variable", f->name,
                           STR_ARG(name));
        if (!text.p || utf8_count(text) > 500 || memchr(text.p, 0, text.n))
            return err_set(err, ERR_INVALID, f->name,
                           "%s: the value of " STR_FMT " must be a text of at most 500 characters", f->name,
                           STR_ARG(name));
    }
    return true;
}

static const struct field fields[] = {
    FIELD_NAME(FIELD_CREATE),
    JOB_FIELD_STATE(states, "\"queued\""),
    JOB_FIELD_REASON(FIELD_STATUS),
    JOB_FIELD_IMAGE(FIELD_CREATE),
    JOB_FIELD_COMMAND(FIELD_CREATE, "Run by /bin/sh in /workspace.", "在 /workspace 中由 /bin/sh 执行。"),
    JOB_FIELD_ENV(FIELD_CREATE),
    JOB_FIELD_SPEC(FIELD_CREATE | FIELD_FILTER | FIELD_LIST),
    JOB_FIELD_NODES(FIELD_CREATE),
    JOB_FIELD_PRIORITY(FIELD_CREATE | FIELD_FILTER),
    {.name = "preemptible",
     .type = FIELD_BOOL,
     .flags = FIELD_ADVANCED | FIELD_CREATE,
     .section = SECTION_WHERE,
     .title = {"Makes room for higher priorities", "可被高优先级作业抢占"},
     .help = {"Stopped and queued again when a job of higher priority needs its place; by default when the "
              "priority is negative.",
              "高优先级作业需要资源时停止并重新排队；默认仅在优先级为负时。"}},
    JOB_FIELD_RETRIES(FIELD_CREATE),
    JOB_FIELD_HOURS(FIELD_CREATE, 10000, "0"),
    {.name = "algorithm",
     .type = FIELD_REF,
     .flags = FIELD_CREATE,
     .ref = "algorithm_version",
     .mount = "/workspace/algorithm",
     .title = {"Algorithm", "算法"},
     .help = {"Its files are in /workspace/algorithm.", "文件位于 /workspace/algorithm。"}},
    {.name = "model",
     .type = FIELD_REF,
     .flags = FIELD_CREATE,
     .ref = "model_version",
     .mount = "/workspace/model",
     .title = {"Base model", "基础模型"},
     .help = {"Its files are in /workspace/model.", "文件位于 /workspace/model。"}},
    {.name = "dataset",
     .type = FIELD_REF,
     .flags = FIELD_CREATE,
     .ref = "dataset_version",
     .mount = "/workspace/dataset",
     .title = {"Dataset", "数据集"},
     .help = {"Its files are in /workspace/dataset.", "文件位于 /workspace/dataset。"}},
    {.name = "owner_kind",
     .type = FIELD_TEXT,
     .flags = FIELD_FILTER,
     .max = 50,
     .fallback = "\"\"",
     .title = {"Runs for (kind)", "所属类型"}},
    {.name = "owner",
     .type = FIELD_INT,
     .flags = FIELD_FILTER,
     .fallback = "0",
     .title = {"Runs for", "所属对象"}},
    {.name = "attempt", .type = FIELD_INT, .fallback = "0", .title = {"Attempt", "运行次数"}},
    {.name = "evicted", .type = FIELD_INT, .fallback = "0", .title = {"Times it made room", "被抢占次数"}},
    {.name = "placement", .type = FIELD_JSON, .title = {"Placement", "所在节点"}},
    {.name = "exit_code", .type = FIELD_INT, .flags = FIELD_FILTER, .title = {"Exit code", "退出码"}},
    {.name = "not_before", .type = FIELD_TIME, .title = {"Not before", "不早于"}},
    {.name = "estimate", .type = FIELD_TIME, .flags = FIELD_STATUS, .title = {"Likely start", "预计开始"}},
    JOB_FIELD_STARTED,
    JOB_FIELD_ENDED,
    /* The controller's own. */
    {.name = "demand_cpus", .type = FIELD_REAL, .flags = FIELD_INTERNAL, .title = {"Cores", "核数"}},
    {.name = "demand_memory", .type = FIELD_INT, .flags = FIELD_INTERNAL, .title = {"Memory", "内存"}},
    {.name = "then_state", .type = FIELD_TEXT, .flags = FIELD_INTERNAL, .title = {"Then", "随后"}},
    {.name = "checkouts",
     .type = FIELD_TEXT,
     .flags = FIELD_INTERNAL | FIELD_STATUS,
     .title = {"Checkouts", "检出目录"}},
    {.name = "ssh_key", .type = FIELD_TEXT, .flags = FIELD_INTERNAL | FIELD_STATUS, .title = {"Key", "密钥"}},
    {0},
};

enum job_state job_state_of(const struct object *o)
{
    struct str s = object_text(o, "state");
    for (int i = 0; i <= JOB_STOPPED; i++)
        if (str_is(s, job_state_names[i]))
            return (enum job_state)i;
    return JOB_FAILED;
}

bool job_is_over(enum job_state s)
{
    return s >= JOB_COMPLETED;
}

enum job_then job_then_of(const struct object *o)
{
    for (int i = JOB_THEN_FAILED; i <= JOB_THEN_QUEUED; i++)
        if (str_is(object_text(o, "then_state"), then_names[i]))
            return (enum job_then)i;
    return JOB_THEN_STOPPED;
}

bool job_is_preemptible(const struct object *o)
{
    const struct db_value *v = object_value(o, "preemptible");
    return v->type == DB_INT ? v->i != 0 : object_int(o, "priority") < 0;
}

static bool tell_owner(struct op *op, const struct object *o, enum job_state from, struct err *err)
{
    const struct job_owner *owner = job_owner_of(o);
    return !owner || !owner->changed || owner->changed(op, o, from, err);
}

static bool add_event(struct op *op, const struct object *o, int64_t at, enum job_state state,
                      const char *reason, const char *reason_zh, struct err *err)
{
    return conn_exec(
        op->conn,
        "INSERT INTO job_events (job, at, attempt, state, reason, reason_zh) VALUES (?, ?, ?, ?, ?, ?)",
        db_args(db_int(o->id), db_int(at), db_int(object_int(o, "attempt")), db_textz(job_state_names[state]),
                db_textz(reason ? reason : ""), db_textz(reason_zh ? reason_zh : "")),
        NULL, err);
}

/* A command that is over before the controller saw it run did run, and the job says when. */
static bool set_started(struct op *op, struct object *o, const struct job_change *c, int64_t now,
                        struct err *err)
{
    int64_t began = c->started_at && c->started_at < now ? c->started_at : now;
    bool unseen = c->started_at && (c->from == JOB_STARTING || !object_int(o, "started_at"));
    if (c->to == JOB_RUNNING || unseen)
        *object_value(o, "started_at") = db_int(began);
    return c->to == JOB_RUNNING || !unseen || add_event(op, o, began, JOB_RUNNING, NULL, NULL, err);
}

bool job_set_state(struct op *op, struct object *o, const struct job_change *c, struct err *err)
{
    int64_t now = clock_now();
    if (job_state_of(o) != c->from)
        return err_set(err, ERR_CONFLICT, "state", "the job is " STR_FMT " by now",
                       STR_ARG(object_text(o, "state")));
    *object_value(o, "state") = db_textz(job_state_names[c->to]);
    *object_value(o, "reason") = db_textz(c->reason);
    const char *zh = c->reason_zh ? c->reason_zh : sentence_zh(op->arena, c->reason);
    *object_value(o, "reason_zh") = db_textz(zh);
    *object_value(o, "then_state") = db_textz(then_names[c->to == JOB_STOPPING ? c->then : 0]);
    *object_value(o, "estimate") = db_null();
    if (!set_started(op, o, c, now, err))
        return false;
    if (job_is_over(c->to))
        *object_value(o, "ended_at") = db_int(now);
    int64_t at = c->to == JOB_RUNNING ? object_int(o, "started_at") : now;
    return add_event(op, o, at, c->to, c->reason, zh, err) && engine_update_row(op, o, err) &&
           tell_owner(op, o, c->from, err);
}

bool job_events(struct core *core, int64_t job, struct arena *a, struct buf *out, struct err *err)
{
    struct db_rows rows;
    struct json_out o;
    char at[CLOCK_TEXT_MAX];
    if (!db_query(core->db, a,
                  "SELECT at, attempt, state, reason, reason_zh FROM job_events WHERE job = ? ORDER BY id "
                  "DESC LIMIT 500",
                  db_args(db_int(job)), &rows, err))
        return false;
    json_begin(&o, out);
    json_object(&o);
    json_key(&o, "items");
    json_array(&o);
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        json_object(&o);
        json_kz(&o, "at", clock_format(v[0].i, at));
        json_kint(&o, "attempt", v[1].i);
        json_kstr(&o, "state", v[2].s);
        json_kstr(&o, "reason", v[3].s);
        json_kstr(&o, "reason_zh", v[4].type == DB_TEXT && v[4].s.n ? v[4].s : v[3].s);
        json_object_end(&o);
    }
    json_array_end(&o);
    json_object_end(&o);
    return true;
}

static bool before_delete(struct op *op, struct object *o, struct err *err)
{
    (void)op;
    return job_is_over(job_state_of(o)) ||
           err_set(err, ERR_CONFLICT, "state", "the job is " STR_FMT ": stop it first",
                   STR_ARG(object_text(o, "state")));
}

/* Its containers and their logs go in the background. */
static bool after_delete(struct op *op, struct object *o, struct err *err)
{
    return conn_exec(op->conn, "DELETE FROM job_events WHERE job = ?", db_args(db_int(o->id)), NULL, err) &&
           conn_exec(op->conn, "INSERT INTO job_purges (job, attempts, nodes) VALUES (?, ?, ?)",
                     db_args(db_int(o->id), db_int(object_int(o, "attempt")), db_int(object_int(o, "nodes"))),
                     NULL, err);
}

static bool stop_write(struct op *op, void *ctx, struct err *err)
{
    struct object *o = ctx, now;
    bool found;
    if (!engine_load_row(op, &kind_job, o->id, &now, &found, err))
        return false;
    enum job_state s = found ? job_state_of(&now) : JOB_STOPPED;
    if (job_is_over(s))
        return err_set(err, ERR_CONFLICT, "state", "the job is over already");
    if (s != JOB_STOPPING) {
        struct job_change c = {.from = s,
                               .to = s == JOB_QUEUED ? JOB_STOPPED : JOB_STOPPING,
                               .reason = arena_printf(op->arena, "stopped by %s", op->caller->name)};
        if (!job_set_state(op, &now, &c, err))
            return false;
    }
    *o = now;
    return true;
}

static bool run_stop(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                     int *status, struct err *err)
{
    (void)input;
    (void)status;
    if (!engine_write(op->core, op->caller, op->arena, stop_write, o, err))
        return false;
    jobs_wake(op->core->jobs);
    return engine_answer(op, o, out, err);
}

static bool run_events(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                       int *status, struct err *err)
{
    (void)input;
    (void)status;
    auto_buf struct buf text = {0};
    if (!job_events(op->core, o->id, op->arena, &text, err))
        return false;
    json_raw(out, buf_view(&text));
    return true;
}

static const struct field curves_fields[] = {
    {.name = "rank",
     .type = FIELD_INT,
     .flags = FIELD_CREATE,
     .max = 1000,
     .fallback = "0",
     .title = {"Rank", "节点"}},
    {.name = "attempt",
     .type = FIELD_INT,
     .flags = FIELD_CREATE,
     .max = 1000000,
     .fallback = "0",
     .title = {"Attempt", "运行次数"},
     .help = {"0: the newest", "0 表示最近一次"}},
    FIELDS_OF_CURVES,
    {0},
};

static const struct action actions[] = {
    {.name = "stop", .permission = "job.stop", .title = {"Stop", "停止"}, .danger = true, .run = run_stop},
    {.name = "events",
     .permission = "job.read",
     .read_only = true,
     .answer = "JobEvents",
     .title = {"Events", "事件"},
     .run = run_events},
    {.name = "curves",
     .permission = "job.read",
     .read_only = true,
     .fields = curves_fields,
     .answer = "JobCurves",
     .title = {"Curves", "曲线"},
     .run = job_show_curves},
    {0},
};

static void changed(struct core *core, const struct object *o, const char *verb)
{
    enum job_state s = job_state_of(o);
    if (s == JOB_QUEUED || job_is_over(s))
        accounts_forget_job(core, o->id);
    if (strcmp(verb, "create") == 0 || strcmp(verb, "delete") == 0)
        jobs_wake(core->jobs);
    const struct job_owner *owner = job_owner_of(o);
    if (owner && owner->told)
        owner->told(core, o);
}

/* People meet jobs that run on demand where they are used. */
static const char *listed(struct arena *a)
{
    const char *text = "'-'";
    for (size_t i = 0; job_owners[i]; i++)
        if (job_owners[i]->on_demand)
            text = arena_printf(a, "%s, '%s'", text, job_owners[i]->kind);
    return arena_printf(a, "\"owner_kind\" NOT IN (%s)", text);
}

const struct kind kind_job = {
    .name = "job",
    .plural = "jobs",
    .table = "jobs",
    .title = {"Job", "作业"},
    .titles = {"Jobs", "作业"},
    .help = {"Commands in containers on the platform's machines", "在平台机器的容器中运行的命令"},
    .menu = "build",
    .scope = SCOPE_PROJECT,
    .verbs = VERB_LIST | VERB_READ | VERB_CREATE | VERB_DELETE,
    .fields = fields,
    .actions = actions,
    .before_delete = before_delete,
    .after_delete = after_delete,
    .changed = changed,
    .listed = listed,
    .listed_by = "owner_kind",
    .extra_sql =
        "CREATE TABLE job_events (id {id}, job BIGINT NOT NULL, at BIGINT NOT NULL, attempt BIGINT NOT NULL,"
        " state {text} NOT NULL, reason {text} NOT NULL);\n"
        "CREATE INDEX job_events_job ON job_events (job, id);\n"
        "CREATE TABLE job_purges (job BIGINT PRIMARY KEY, attempts BIGINT NOT NULL, nodes BIGINT NOT NULL);\n"
        "CREATE INDEX jobs_live ON jobs (state, id);\n",
};
