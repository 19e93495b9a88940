#include "core/job/plan_input.h"

#include "core/job/placed.h"
#include "core/row.h"

/* --- what there is --- */

struct plan_input_spec {
    int64_t id;
    struct sched_demand request;
    bool ok;
};

static int32_t kind_index(struct plan_input *s, const char *name)
{
    int32_t i = 0;
    while (i < s->snapshot.n_kinds && strcmp(s->kinds[i].name, name) != 0)
        i++;
    if (i == SCHED_KINDS_MAX)
        return SCHED_NONE;
    if (i == s->snapshot.n_kinds) {
        s->kinds[i] = (struct sched_kind){name, true};
        s->snapshot.n_kinds++;
    }
    return i;
}

static void set_cards(struct plan_input *s, struct sched_node *node, const struct exec_node *m)
{
    size_t n = m->n_devices < SCHED_CARDS_MAX ? m->n_devices : SCHED_CARDS_MAX;
    struct sched_card *cards = arena_array(s->arena, struct sched_card, n + 1);
    for (size_t i = 0; i < n; i++) {
        int32_t kind = kind_index(s, m->devices[i].kind);
        cards[i] = (struct sched_card){kind < 0 ? 0 : kind, kind < 0};
    }
    node->cards = cards;
    node->n_cards = (int32_t)n;
}

static const struct exec_node *machine_named(const struct exec_node *list, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(name, list[i].name))
            return &list[i];
    return NULL;
}

static bool add_nodes(struct plan_input *s, struct err *err)
{
    struct exec *x = jobs_exec(s->core->jobs);
    struct exec_node *machines = NULL;
    struct db_rows rows;
    size_t n = 0;
    if (x && !x->ops->nodes(x, s->arena, &machines, &n, err))
        return false;
    if (!db_query(s->core->db, s->arena, "SELECT id, name, pool, state FROM nodes ORDER BY id", DB_NO_ARGS,
                  &rows, err))
        return false;
    struct sched_node *list = arena_array(s->arena, struct sched_node, rows.n + 1);
    s->machine = arena_array(s->arena, const struct exec_node *, rows.n + 1);
    s->kinds = arena_array(s->arena, struct sched_kind, SCHED_KINDS_MAX);
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        const struct exec_node *m = s->machine[i] = machine_named(machines, n, v[1].s);
        int32_t pool = sched_find_pool(&s->snapshot, v[2].type == DB_INT ? v[2].i : 0);
        list[i] =
            (struct sched_node){.id = v[0].i,
                                .name = arena_strz(s->arena, v[1].s),
                                .pool = pool < 0 ? 0 : pool,
                                .arch = m && strcmp(m->arch, "arm64") == 0 ? SCHED_ARCH_ARM : SCHED_ARCH_X86,
                                .state = !m || !m->ready             ? SCHED_NODE_LOST
                                         : str_is(v[3].s, "drained") ? SCHED_NODE_DRAINING
                                                                     : SCHED_NODE_READY,
                                .cpu = m ? m->cpu_millis : 0,
                                .memory = m ? m->memory : 0};
        if (m)
            set_cards(s, &list[i], m);
    }
    s->snapshot.nodes = list;
    s->snapshot.n_nodes = (int32_t)rows.n;
    s->snapshot.kinds = s->kinds;
    return true;
}

/* Pool 0 is that of the nodes without one. */
static bool add_pools(struct plan_input *s, struct err *err)
{
    struct db_rows rows;
    if (!db_query(s->core->db, s->arena, "SELECT id, name, projects FROM node_pools ORDER BY id", DB_NO_ARGS,
                  &rows, err))
        return false;
    struct sched_pool *pools = arena_array(s->arena, struct sched_pool, rows.n + 1);
    pools[0] = (struct sched_pool){.id = 0, .name = "default"};
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        yyjson_val *list = v[2].type == DB_TEXT ? json_parse(s->arena, v[2].s, err) : NULL, *id;
        size_t k, max, n = yyjson_arr_size(list);
        int32_t *projects = arena_array(s->arena, int32_t, n + 1), kept = 0;
        if (n)
            yyjson_arr_foreach(list, k, max, id)
            {
                int32_t p = sched_find_project(&s->snapshot, yyjson_get_sint(id));
                if (p >= 0)
                    projects[kept++] = p;
            }
        pools[i + 1] = (struct sched_pool){
            .id = v[0].i, .name = arena_strz(s->arena, v[1].s), .projects = projects, .n_projects = kept};
    }
    s->snapshot.pools = pools;
    s->snapshot.n_pools = (int32_t)rows.n + 1;
    return true;
}

/* What has no number has no limit; 0 admits none. */
static int64_t quota_number(yyjson_val *v, double unit)
{
    return yyjson_is_num(v) ? (int64_t)(yyjson_get_num(v) * unit) : SCHED_UNLIMITED;
}

static struct sched_quota read_quota(struct plan_input *s, const struct db_value *v)
{
    struct sched_quota q = {SCHED_UNLIMITED, SCHED_UNLIMITED, NULL};
    struct err ignored = {0};
    yyjson_val *doc = v->type == DB_TEXT ? json_parse(s->arena, v->s, &ignored) : NULL;
    if (!doc)
        return q;
    yyjson_val *cards = yyjson_obj_get(doc, "accelerators");
    q.cpu = quota_number(yyjson_obj_get(doc, "cpu"), 1000);
    q.memory = quota_number(yyjson_obj_get(doc, "memory"), 1);
    if (yyjson_is_obj(cards)) {
        int64_t *devices = arena_array(s->arena, int64_t, SCHED_KINDS_MAX);
        for (int32_t k = 0; k < s->snapshot.n_kinds; k++)
            devices[k] = quota_number(yyjson_obj_get(cards, s->kinds[k].name), SCHED_WHOLE);
        q.devices = devices;
    }
    return q;
}

/* Before pools and nodes, which name projects; the quotas are read after all kinds of devices are known. */
static bool add_projects(struct plan_input *s, struct db_rows *rows, struct err *err)
{
    if (!db_query(s->core->db, s->arena, "SELECT id, quota, weight FROM projects ORDER BY id", DB_NO_ARGS,
                  rows, err))
        return false;
    struct sched_project *list = arena_array(s->arena, struct sched_project, rows->n + 1);
    for (size_t i = 0; i < rows->n; i++)
        list[i] = (struct sched_project){.id = rows->row[i].v[0].i, .weight = (int32_t)rows->row[i].v[2].i};
    s->snapshot.projects = list;
    s->snapshot.n_projects = (int32_t)rows->n;
    return true;
}

static void add_quotas(struct plan_input *s, const struct db_rows *rows)
{
    struct sched_project *list = (struct sched_project *)s->snapshot.projects;
    for (size_t i = 0; i < rows->n; i++)
        list[i].quota = read_quota(s, &rows->row[i].v[1]);
}

static bool add_specs(struct plan_input *s, struct err *err)
{
    struct db_rows rows;
    if (!db_query(s->core->db, s->arena,
                  "SELECT id, cpus, memory, accelerator, accelerators FROM specs ORDER BY id", DB_NO_ARGS,
                  &rows, err))
        return false;
    s->specs = arena_array(s->arena, struct plan_input_spec, rows.n + 1);
    s->n_specs = rows.n;
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        struct plan_input_spec *p = &s->specs[i];
        *p = (struct plan_input_spec){v[0].i, {.cpu = (int64_t)(v[1].r * 1000), .memory = v[2].i}, true};
        if (v[3].type != DB_TEXT || !v[3].s.n || v[4].r <= 0)
            continue;
        int32_t kind = kind_index(s, arena_strz(s->arena, v[3].s));
        double share = v[4].r * SCHED_WHOLE;
        p->ok = kind >= 0 && share <= (double)SCHED_WHOLE * SCHED_CARDS_MAX;
        p->request.wants[0] = (struct sched_want){kind, share < 1 ? 1 : p->ok ? (int32_t)share : 0};
    }
    return true;
}

bool plan_input_demand(struct plan_input *s, int64_t spec, struct sched_demand *ret)
{
    size_t low = 0, high = s->n_specs;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->specs[middle].id < spec)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == s->n_specs || s->specs[low].id != spec || !s->specs[low].ok)
        return false;
    *ret = s->specs[low].request;
    return true;
}

bool plan_input_demand_of(struct plan_input *s, const struct object *job, struct sched_demand *ret)
{
    int64_t memory = object_int(job, "demand_memory");
    if (!memory)
        return plan_input_demand(s, object_int(job, "spec"), ret);
    *ret =
        (struct sched_demand){.cpu = (int64_t)(object_value(job, "demand_cpus")->r * 1000), .memory = memory};
    return true;
}

/* --- where ranks are --- */

static void write_devices(struct plan_input *s, const struct sched_rank *r, struct json_out *o)
{
    const struct exec_node *m = s->machine[r->node];
    json_key(o, "devices");
    json_array(o);
    for (int32_t i = 0; m && i < r->n_shares; i++) {
        json_object(o);
        json_kz(o, "kind", m->devices[r->shares[i].card].kind);
        json_kz(o, "path", m->devices[r->shares[i].card].path);
        json_key(o, "share");
        json_real(o, (double)r->shares[i].thousandths / SCHED_WHOLE);
        json_object_end(o);
    }
    json_array_end(o);
}

struct str plan_input_placement(struct plan_input *s, const struct sched_start *start)
{
    const struct sched_demand *takes = &s->snapshot.waiting[start->job].request;
    auto_buf struct buf text = {0};
    struct json_out o;
    json_begin(&o, &text);
    json_array(&o);
    for (int32_t i = 0; i < start->n_ranks; i++) {
        json_object(&o);
        json_kz(&o, "node", s->snapshot.nodes[start->ranks[i].node].name);
        json_key(&o, "cpus");
        json_real(&o, (double)takes->cpu / 1000);
        json_kint(&o, "memory", takes->memory);
        write_devices(s, &start->ranks[i], &o);
        json_object_end(&o);
    }
    json_array_end(&o);
    return arena_str(s->arena, buf_view(&text));
}

static int32_t card_at(const struct exec_node *m, struct str path)
{
    for (size_t i = 0; m && i < m->n_devices && i < SCHED_CARDS_MAX; i++)
        if (str_is(path, m->devices[i].path))
            return (int32_t)i;
    return SCHED_NONE;
}

static void read_rank(struct plan_input *s, yyjson_val *v, struct sched_rank *r)
{
    struct str name = json_str(yyjson_obj_get(v, "node"));
    yyjson_val *devices = yyjson_obj_get(v, "devices"), *d;
    size_t i, max, n = yyjson_arr_size(devices);
    *r = (struct sched_rank){.node = s->snapshot.n_nodes ? 0 : SCHED_NONE};
    for (int32_t k = 0; k < s->snapshot.n_nodes; k++)
        if (str_is(name, s->snapshot.nodes[k].name))
            r->node = k;
    if (r->node < 0 || !n)
        return;
    struct sched_share *shares = arena_array(s->arena, struct sched_share, n);
    yyjson_arr_foreach(devices, i, max, d)
    {
        int32_t card = card_at(s->machine[r->node], json_str(yyjson_obj_get(d, "path")));
        if (card >= 0)
            shares[r->n_shares++] = (struct sched_share){
                card, (int32_t)(yyjson_get_num(yyjson_obj_get(d, "share")) * SCHED_WHOLE + 0.5)};
    }
    r->shares = r->n_shares ? shares : NULL;
}

/* What a rank was given; ranks of older versions of the program do not say. */
static bool read_request(struct plan_input *s, yyjson_val *rank, struct sched_demand *ret)
{
    struct placed p = placed_of(rank);
    int32_t kind = p.kind.n ? kind_index(s, arena_strz(s->arena, p.kind)) : SCHED_NONE;
    *ret = (struct sched_demand){.cpu = (int64_t)(p.cpus * 1000 + 0.5), .memory = p.memory};
    if (kind >= 0)
        ret->wants[0] = (struct sched_want){kind, (int32_t)(p.cards * SCHED_WHOLE + 0.5)};
    return p.known;
}

/* --- jobs --- */

bool plan_input_jobs(struct core *core, struct arena *a, struct object **ret, size_t *ret_n, struct err *err)
{
    struct db_rows rows;
    auto_sql struct sql q;
    sql_init(&q);
    row_select(&q, &kind_job);
    sql_add(&q, "(state IN ('starting', 'running', 'stopping') OR id IN (SELECT id FROM jobs WHERE state ="
                " 'queued' ORDER BY priority DESC, id LIMIT ");
    sql_arg(&q, db_int(PLAN_INPUT_WAITING_MAX));
    sql_add(&q, ")) ORDER BY id");
    if (!db_query(core->db, a, q.text.p, sql_args(&q), &rows, err))
        return false;
    *ret = arena_array(a, struct object, rows.n + 1);
    *ret_n = rows.n;
    for (size_t i = 0; i < rows.n; i++)
        (*ret)[i] = row_read(a, &kind_job, &rows.row[i]);
    return true;
}

static int64_t hours_us(const struct object *o)
{
    const struct db_value *v = object_value(o, "hours");
    double hours = v->type == DB_REAL ? v->r : v->type == DB_INT ? (double)v->i : 0;
    return hours > 0 ? (int64_t)(hours * 3.6e9) : 0;
}

/* False when it is not known what it takes. */
static bool add_running(struct plan_input *s, const struct object *o, struct sched_running *r)
{
    int64_t nodes = object_int(o, "nodes"), started = object_int(o, "started_at"), hours = hours_us(o);
    struct sched_rank *ranks = arena_array(s->arena, struct sched_rank, (size_t)nodes);
    struct err ignored = {0};
    struct str text = object_text(o, "placement");
    yyjson_val *placement = text.n ? json_parse(s->arena, text, &ignored) : NULL;
    struct sched_demand request;
    if (!read_request(s, yyjson_arr_get_first(placement), &request) && !plan_input_demand_of(s, o, &request))
        return false;
    for (int64_t i = 0; i < nodes; i++)
        read_rank(s, yyjson_arr_get(placement, (size_t)i), &ranks[i]);
    *r = (struct sched_running){.id = o->id,
                                .project = sched_find_project(&s->snapshot, o->project),
                                .user = o->created_by,
                                .priority = (int32_t)object_int(o, "priority"),
                                .request = request,
                                .ranks = ranks,
                                .n_ranks = (int32_t)nodes,
                                .started_at = started,
                                .expected_end = hours && started ? started + hours : 0,
                                .preemptible = job_is_preemptible(o),
                                .stopping = job_state_of(o) == JOB_STOPPING};
    return true;
}

/* A promise names nodes by id: indices are those of one snapshot. */
static const struct sched_rank *promised_ranks(struct plan_input *s, const struct promise *p)
{
    struct sched_rank *ranks = arena_array(s->arena, struct sched_rank, (size_t)p->n);
    for (int32_t i = 0; i < p->n; i++) {
        ranks[i] = p->ranks[i];
        ranks[i].node = sched_find_node(&s->snapshot, p->node[i]);
        if (ranks[i].node < 0)
            return NULL;
        for (int32_t k = 0; k < ranks[i].n_shares; k++)
            if (ranks[i].shares[k].card >= s->snapshot.nodes[ranks[i].node].n_cards)
                return NULL;
    }
    return ranks;
}

static void add_waiting(struct plan_input *s, const struct object *o, const struct sched_demand *request,
                        const struct promise *promises, struct sched_waiting *w)
{
    *w = (struct sched_waiting){.id = o->id,
                                .project = sched_find_project(&s->snapshot, o->project),
                                .user = o->created_by,
                                .priority = (int32_t)object_int(o, "priority"),
                                .n_ranks = (int32_t)object_int(o, "nodes"),
                                .request = *request,
                                .pool = SCHED_NONE,
                                .submitted_at = o->created_at,
                                .not_before = object_int(o, "not_before"),
                                .duration = hours_us(o)};
    for (const struct promise *p = promises; p; p = p->next)
        if (p->job == o->id && p->n == w->n_ranks) {
            w->promised = promised_ranks(s, p);
            w->promised_at = w->promised ? p->at : 0;
        }
}

static void add_jobs(struct plan_input *s, const struct promise *promises)
{
    struct sched_running *running = arena_array(s->arena, struct sched_running, s->n + 1);
    struct sched_waiting *waiting = arena_array(s->arena, struct sched_waiting, s->n + 1);
    s->waiting_job = arena_array(s->arena, size_t, s->n + 1);
    s->running_job = arena_array(s->arena, size_t, s->n + 1);
    for (size_t i = 0; i < s->n; i++) {
        struct sched_demand request;
        const struct object *o = &s->job[i];
        if (sched_find_project(&s->snapshot, o->project) < 0)
            continue;
        if (job_state_of(o) != JOB_QUEUED) {
            s->running_job[s->snapshot.n_running] = i;
            if (s->snapshot.n_nodes && add_running(s, o, &running[s->snapshot.n_running]))
                s->snapshot.n_running++;
        } else if (plan_input_demand_of(s, o, &request)) {
            s->waiting_job[s->snapshot.n_waiting] = i;
            add_waiting(s, o, &request, promises, &waiting[s->snapshot.n_waiting++]);
        }
    }
    s->snapshot.running = running;
    s->snapshot.waiting = waiting;
}

bool plan_input_build(struct plan_input *s, const struct promise *promises, struct err *err)
{
    struct db_rows projects;
    if (!add_projects(s, &projects, err) || !add_pools(s, err) || !add_nodes(s, err) || !add_specs(s, err))
        return false;
    add_quotas(s, &projects);
    add_jobs(s, promises);
    return true;
}
