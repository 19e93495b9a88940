/* The administrator's view: totals, nodes, projects, users. */
#include "core/job/overview.h"
#include "core/job/sentence.h"
#include "core/job/usage.h"
#include "core/series/series.h"
#include "core/show.h"

static const char *const states[] = {
    [SCHED_NODE_READY] = "ready", [SCHED_NODE_DRAINING] = "drained", [SCHED_NODE_LOST] = "lost"};

static struct amounts capacity(const struct plan_input *s, int32_t i)
{
    const struct sched_node *n = &s->snapshot.nodes[i];
    struct amounts all = {
        .cpu = n->cpu, .memory = n->memory, .disk = s->machine[i] ? s->machine[i]->disk : 0, .storage = -1};
    for (int32_t k = 0; k < n->n_cards; k++) {
        all.cards[n->cards[k].kind] += SCHED_WHOLE;
        all.kinds |= UINT64_C(1) << n->cards[k].kind;
    }
    return all;
}

static void add_amounts(struct amounts *sum, const struct amounts *a)
{
    sum->cpu += a->cpu > 0 ? a->cpu : 0;
    sum->memory += a->memory > 0 ? a->memory : 0;
    sum->disk += a->disk > 0 ? a->disk : 0;
    for (int k = 0; k < SCHED_KINDS_MAX; k++)
        sum->cards[k] += a->cards[k];
    sum->kinds |= a->kinds;
}

/* A machine is told whole: what the platform and others use is not free for jobs either. *disk_free -1: not
 * known. */
static struct usage node_usage(const struct plan_input *s, int32_t i, int64_t *disk_free)
{
    struct usage u = usage_of(s, (struct usage_filter){.node = i + 1});
    struct node_load load;
    bool known = curves_node(s->core, s->snapshot.nodes[i].id, &load);
    u.used.cpu = known ? (int64_t)(load.cpus * 1000) : -1;
    u.used.memory = known ? load.memory : -1;
    u.used.disk = known ? load.disk : -1;
    *disk_free = known ? load.disk_free : -1;
    return u;
}

static void write_total(const struct plan_input *s, struct json_out *out)
{
    struct amounts all = {.storage = -1};
    struct usage sum = {.reserved.storage = -1, .used.storage = -1};
    int64_t unused;
    for (int32_t i = 0; i < s->snapshot.n_nodes; i++) {
        struct amounts has = capacity(s, i);
        struct usage u = node_usage(s, i, &unused);
        add_amounts(&all, &has);
        add_amounts(&sum.reserved, &u.reserved);
        add_amounts(&sum.used, &u.used);
    }
    json_key(out, "total");
    amounts_write(s, &all, out);
    usage_write(s, &sum, out);
}

bool resources_load_write(struct core *core, struct arena *a, struct json_out *out, struct err *err)
{
    int64_t n[countof(states)] = {0};
    struct plan_input s;
    if (!usage_input(core, a, &s, err))
        return false;
    for (int32_t i = 0; i < s.snapshot.n_nodes; i++)
        n[s.snapshot.nodes[i].state]++;
    json_object(out);
    write_total(&s, out);
    json_key(out, "nodes");
    json_object(out);
    for (size_t i = 0; i < countof(states); i++)
        json_kint(out, states[i], n[i]);
    json_object_end(out);
    json_object_end(out);
    return true;
}

static void write_node(const struct plan_input *s, int32_t i, struct json_out *out)
{
    const struct sched_node *n = &s->snapshot.nodes[i];
    const struct exec_node *m = s->machine[i];
    int64_t disk_free;
    struct usage used = node_usage(s, i, &disk_free);
    struct amounts has = capacity(s, i);
    json_object(out);
    json_kint(out, "id", n->id);
    json_kz(out, "name", n->name);
    json_kz(out, "arch", m ? m->arch : "");
    json_kz(out, "pool", s->snapshot.pools[n->pool].id ? s->snapshot.pools[n->pool].name : NULL);
    json_kz(out, "state", states[n->state]);
    show_cpus(out, (double)n->cpu / 1000);
    json_kint(out, "memory", n->memory);
    json_kint(out, "disk", m ? m->disk : 0);
    json_key(out, "disk_free");
    disk_free < 0 ? json_null(out) : json_int(out, disk_free);
    json_key(out, "total");
    amounts_write(s, &has, out);
    usage_write(s, &used, out);
    json_kint(out, "jobs", used.jobs);
    json_key(out, "devices");
    json_array(out);
    for (size_t k = 0; m && k < m->n_devices; k++) {
        json_object(out);
        json_kz(out, "kind", m->devices[k].kind);
        json_kz(out, "path", m->devices[k].path);
        json_kbool(out, "declared", m->devices[k].declared);
        json_object_end(out);
    }
    json_array_end(out);
    const char *reason = m ? m->reason : "the executor does not know it any more";
    json_kz(out, "reason", reason);
    json_kz(out, "reason_zh", reason ? sentence_zh(s->arena, reason) : NULL);
    json_object_end(out);
}

bool resources_node_write(struct core *core, struct arena *a, int64_t node, struct json_out *out,
                          struct err *err)
{
    struct plan_input s;
    if (!usage_input(core, a, &s, err))
        return false;
    int32_t i = sched_find_node(&s.snapshot, node);
    if (i < 0)
        json_null(out);
    else
        write_node(&s, i, out);
    return true;
}

/* Those that use something first, by CPU. */
struct ranked {
    int64_t id;
    struct str name, quota;
    struct usage use;
};

static int by_use(const void *a, const void *b)
{
    const struct amounts *x = &((const struct ranked *)a)->use.reserved,
                         *y = &((const struct ranked *)b)->use.reserved;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? 1 : -1;
    return (x->memory < y->memory) - (x->memory > y->memory);
}

static void write_ranked(const struct plan_input *s, const char *what, const struct ranked *r, bool quota,
                         struct json_out *out)
{
    json_object(out);
    json_key(out, what);
    json_object(out);
    json_kint(out, "id", r->id);
    json_kstr(out, "name", r->name);
    json_object_end(out);
    if (quota) {
        json_key(out, "quota");
        usage_write_quota(s->arena, r->quota, out);
    }
    usage_write(s, &r->use, out);
    json_kint(out, "jobs", r->use.jobs);
    json_object_end(out);
}

static bool write_projects(struct plan_input *s, struct json_out *out, struct err *err)
{
    struct db_rows rows;
    if (!db_query(s->core->db, s->arena,
                  "SELECT p.id, p.name, p.quota, CAST(COALESCE(u.bytes, 0) + COALESCE((SELECT SUM(f.bytes)"
                  " FROM folder_use f WHERE f.project = p.id), 0) AS BIGINT) FROM projects p"
                  " LEFT JOIN storage_use u ON u.project = p.id ORDER BY p.id",
                  DB_NO_ARGS, &rows, err))
        return false;
    struct ranked *list = arena_array(s->arena, struct ranked, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        list[i] = (struct ranked){v[0].i, v[1].s, v[2].type == DB_TEXT ? v[2].s : STR_NULL,
                                  usage_of(s, (struct usage_filter){.project = v[0].i})};
        list[i].use.used.storage = v[3].i;
    }
    if (rows.n)
        qsort(list, rows.n, sizeof *list, by_use);
    json_key(out, "projects");
    json_array(out);
    for (size_t i = 0; i < rows.n && i < 1000; i++)
        write_ranked(s, "project", &list[i], true, out);
    json_array_end(out);
    return true;
}

static bool write_users(struct plan_input *s, struct json_out *out, struct err *err)
{
    struct db_rows rows;
    if (!db_query(s->core->db, s->arena,
                  "SELECT id, name FROM users WHERE id IN (SELECT created_by FROM jobs WHERE state IN"
                  " ('starting', 'running', 'stopping')) ORDER BY id",
                  DB_NO_ARGS, &rows, err))
        return false;
    struct ranked *list = arena_array(s->arena, struct ranked, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++)
        list[i] = (struct ranked){rows.row[i].v[0].i, rows.row[i].v[1].s, STR_NULL,
                                  usage_of(s, (struct usage_filter){.user = rows.row[i].v[0].i})};
    if (rows.n)
        qsort(list, rows.n, sizeof *list, by_use);
    json_key(out, "users");
    json_array(out);
    for (size_t i = 0; i < rows.n && i < 1000; i++)
        write_ranked(s, "user", &list[i], false, out);
    json_array_end(out);
    return true;
}

/* What curves take. */
static void write_series(struct core *core, struct json_out *out)
{
    struct series_sizes sizes;
    series_sizes(core, &sizes);
    json_key(out, "series");
    json_object(out);
    json_kint(out, "series", sizes.series);
    json_kint(out, "points", sizes.points);
    json_kint(out, "bytes", sizes.bytes);
    json_kint(out, "rows", sizes.rows);
    json_object_end(out);
}

bool resources_write(struct core *core, struct arena *a, struct buf *text, struct err *err)
{
    struct plan_input s;
    struct json_out out;
    if (!usage_input(core, a, &s, err))
        return false;
    json_begin(&out, text);
    json_object(&out);
    write_total(&s, &out);
    json_key(&out, "nodes");
    json_array(&out);
    for (int32_t i = 0; i < s.snapshot.n_nodes; i++)
        write_node(&s, i, &out);
    json_array_end(&out);
    if (!write_projects(&s, &out, err) || !write_users(&s, &out, err))
        return false;
    write_series(core, &out);
    json_object_end(&out);
    return true;
}
