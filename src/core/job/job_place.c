/* From the table to the scheduler and back. */
#include "core/job/jobs_own.h"

#include <stdio.h>

struct scene {
    struct look *look;
    struct sched_snapshot snapshot;
    struct sched_project *projects;
    struct sched_waiting *waiting;
    size_t *waiting_job; /* index into look->job */
};

/* --- what there is --- */

static bool add_nodes(struct scene *s, struct err *err)
{
    struct arena *a = s->look->arena;
    struct exec *x = s->look->jobs->exec;
    struct exec_node *nodes;
    size_t n;
    if (!x->ops->nodes(x, a, &nodes, &n, err))
        return false;
    struct sched_node *list = arena_array(a, struct sched_node, n + 1);
    struct sched_kind *kinds = arena_array(a, struct sched_kind, SCHED_KINDS_MAX);
    int32_t n_kinds = 0;
    for (size_t i = 0; i < n; i++) {
        struct sched_card *cards = arena_array(a, struct sched_card, nodes[i].n_devices + 1);
        for (size_t k = 0; k < nodes[i].n_devices; k++) {
            int32_t kind = 0;
            while (kind < n_kinds && strcmp(kinds[kind].name, nodes[i].devices[k].kind) != 0)
                kind++;
            if (kind == n_kinds && n_kinds < SCHED_KINDS_MAX)
                kinds[n_kinds++] = (struct sched_kind){nodes[i].devices[k].kind, true};
            cards[k].kind = kind;
        }
        list[i] =
            (struct sched_node){.id = (int64_t)i + 1,
                                .name = nodes[i].name,
                                .pool = 0,
                                .arch = strcmp(nodes[i].arch, "arm64") == 0 ? SCHED_ARCH_ARM : SCHED_ARCH_X86,
                                .state = nodes[i].ready ? SCHED_NODE_READY : SCHED_NODE_LOST,
                                .cpu = nodes[i].cpu_millis,
                                .memory = nodes[i].memory,
                                .cards = cards,
                                .n_cards = (int32_t)nodes[i].n_devices};
    }
    static const struct sched_pool pool = {.id = 1, .name = "default"};
    s->snapshot.pools = &pool;
    s->snapshot.n_pools = 1;
    s->snapshot.nodes = list;
    s->snapshot.n_nodes = (int32_t)n;
    s->snapshot.kinds = kinds;
    s->snapshot.n_kinds = n_kinds;
    return true;
}

/* A quota of 0 or none is no limit. */
static struct sched_quota read_quota(struct scene *s, const struct db_value *v)
{
    struct sched_quota q = {SCHED_UNLIMITED, SCHED_UNLIMITED, NULL};
    struct err ignored = {0};
    yyjson_val *doc = v->type == DB_TEXT ? json_parse(s->look->arena, v->s, &ignored) : NULL;
    if (!doc)
        return q;
    double cpu = yyjson_get_num(yyjson_obj_get(doc, "cpu"));
    int64_t memory = yyjson_get_sint(yyjson_obj_get(doc, "memory"));
    yyjson_val *cards = yyjson_obj_get(doc, "accelerators");
    if (cpu > 0)
        q.cpu = (int64_t)(cpu * 1000);
    if (memory > 0)
        q.memory = memory;
    if (yyjson_is_obj(cards)) {
        int64_t *devices = arena_array(s->look->arena, int64_t, (size_t)s->snapshot.n_kinds + 1);
        for (int32_t k = 0; k < s->snapshot.n_kinds; k++) {
            yyjson_val *n = yyjson_obj_get(cards, s->snapshot.kinds[k].name);
            devices[k] = n ? (int64_t)(yyjson_get_num(n) * SCHED_WHOLE) : SCHED_UNLIMITED;
        }
        q.devices = devices;
    }
    return q;
}

static bool add_projects(struct scene *s, struct err *err)
{
    struct db_rows rows;
    if (!db_query(s->look->jobs->core->db, s->look->arena, "SELECT id, quota FROM projects ORDER BY id",
                  DB_NO_ARGS, &rows, err))
        return false;
    s->projects = arena_array(s->look->arena, struct sched_project, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++)
        s->projects[i] = (struct sched_project){
            .id = rows.row[i].v[0].i, .quota = read_quota(s, &rows.row[i].v[1]), .weight = 1};
    s->snapshot.projects = s->projects;
    s->snapshot.n_projects = (int32_t)rows.n;
    return true;
}

static bool read_request(struct scene *s, int64_t spec, struct sched_request *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(s->look->jobs->core->db, s->look->arena,
                      "SELECT cpus, memory, accelerator, accelerators FROM specs WHERE id = ?",
                      db_args(db_int(spec)), &row, &found, err))
        return false;
    *ret = (struct sched_request){0};
    if (!found)
        return true;
    ret->cpu = (int64_t)(row.v[0].r * 1000);
    ret->memory = row.v[1].i;
    if (row.v[2].type == DB_TEXT && row.v[2].s.n && row.v[3].r > 0) {
        int32_t kind = sched_find_kind(&s->snapshot, arena_strz(s->look->arena, row.v[2].s));
        ret->wants[0] = (struct sched_want){kind, (int32_t)(row.v[3].r * SCHED_WHOLE)};
    }
    return true;
}

/* --- jobs --- */

static void add_running(struct scene *s, const struct object *o, const struct sched_request *request,
                        struct sched_running *r)
{
    int64_t nodes = object_int(o, "nodes"), started = object_int(o, "started_at");
    double hours = object_value(o, "hours")->r;
    struct sched_rank *ranks = arena_array(s->look->arena, struct sched_rank, (size_t)nodes);
    for (int64_t i = 0; i < nodes; i++)
        ranks[i].node = s->snapshot.n_nodes ? 0 : SCHED_NONE;
    *r = (struct sched_running){.id = o->id,
                                .project = sched_find_project(&s->snapshot, o->project),
                                .user = o->created_by,
                                .priority = (int32_t)object_int(o, "priority"),
                                .request = *request,
                                .ranks = ranks,
                                .n_ranks = (int32_t)nodes,
                                .started_at = started,
                                .expected_end = hours > 0 && started ? started + (int64_t)(hours * 3.6e9) : 0,
                                .stopping = job_state_of(o) == JOB_STOPPING};
}

static void add_waiting(struct scene *s, const struct object *o, const struct sched_request *request,
                        struct sched_waiting *w)
{
    double hours = object_value(o, "hours")->r;
    *w = (struct sched_waiting){.id = o->id,
                                .project = sched_find_project(&s->snapshot, o->project),
                                .user = o->created_by,
                                .priority = (int32_t)object_int(o, "priority"),
                                .n_ranks = (int32_t)object_int(o, "nodes"),
                                .request = *request,
                                .pool = SCHED_NONE,
                                .submitted_at = o->created_at,
                                .not_before = object_int(o, "not_before"),
                                .duration = hours > 0 ? (int64_t)(hours * 3.6e9) : 0};
}

static bool add_jobs(struct scene *s, struct err *err)
{
    struct look *l = s->look;
    struct sched_running *running = arena_array(l->arena, struct sched_running, l->n + 1);
    s->waiting = arena_array(l->arena, struct sched_waiting, l->n + 1);
    s->waiting_job = arena_array(l->arena, size_t, l->n + 1);
    for (size_t i = 0; i < l->n; i++) {
        struct sched_request request;
        if (!read_request(s, object_int(&l->job[i], "spec"), &request, err))
            return false;
        if (job_state_of(&l->job[i]) != JOB_QUEUED) {
            add_running(s, &l->job[i], &request, &running[s->snapshot.n_running++]);
            continue;
        }
        s->waiting_job[s->snapshot.n_waiting] = i;
        add_waiting(s, &l->job[i], &request, &s->waiting[s->snapshot.n_waiting++]);
    }
    s->snapshot.running = running;
    s->snapshot.waiting = s->waiting;
    return true;
}

/* --- the plan --- */

struct change {
    struct object *job;
    struct job_change change;
    const char *reason;
    int64_t estimate;
    bool start;
};

static bool change_write(struct op *op, void *ctx, struct err *err)
{
    struct change *c = ctx;
    struct object now;
    bool found;
    if (!engine_load_row(op, &kind_job, c->job->id, &now, &found, err))
        return false;
    if (!found || job_state_of(&now) != JOB_QUEUED)
        return true; /* somebody stopped or deleted it meanwhile */
    if (c->start) {
        *object_value(&now, "attempt") = db_int(object_int(&now, "attempt") + 1);
        *object_value(&now, "exit_code") = db_null();
        if (!job_set_state(op, &now, &(struct job_change){.from = JOB_QUEUED, .to = JOB_STARTING}, err))
            return false;
        *c->job = now;
        return true;
    }
    return conn_exec(
        op->conn, "UPDATE jobs SET reason = ?, estimate = ? WHERE id = ?",
        db_args(db_textz(c->reason), c->estimate ? db_int(c->estimate) : db_null(), db_int(now.id)), NULL,
        err);
}

static bool keep_reason(struct scene *s, int32_t w, const struct sched_wait *wait, struct err *err)
{
    struct look *l = s->look;
    struct object *job = &l->job[s->waiting_job[w]];
    auto_buf struct buf text = {0};
    sched_reason_write(&s->snapshot, wait, SCHED_EN, &text);
    if (str_eq(buf_view(&text), object_text(job, "reason")))
        return true;
    struct change c = {
        .job = job, .reason = arena_strz(l->arena, buf_view(&text)), .estimate = wait->estimate};
    return engine_write(l->jobs->core, &caller_system, l->arena, change_write, &c, err);
}

bool jobs_place(struct look *l, struct err *err)
{
    struct scene s = {.look = l, .snapshot = {.now = l->now}};
    struct sched_plan plan;
    if (!add_nodes(&s, err) || !add_projects(&s, err) || !add_jobs(&s, err))
        return false;
    if (s.snapshot.n_waiting == 0)
        return true;
    if (!sched_pass(&s.snapshot, l->arena, &plan, err))
        return false;
    for (int32_t i = 0; i < plan.n_starts; i++) {
        struct change c = {.job = &l->job[s.waiting_job[plan.starts[i].job]], .start = true};
        if (!engine_write(l->jobs->core, &caller_system, l->arena, change_write, &c, err))
            return false;
    }
    for (int32_t i = 0; i < plan.n_waits; i++)
        if (plan.waits[i].reason != SCHED_STARTS && !keep_reason(&s, i, &plan.waits[i], err))
            return false;
    return true;
}
