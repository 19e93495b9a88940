/* Of all projects together: the load of the machines, each project's share of it, and what was added by day.
 */
#include "core/growth.h"
#include "core/home/home_own.h"
#include "core/job/overview.h"
#include "core/job/usage.h"

#define PROJECTS 50
#define DAYS     30

bool home_load(struct home *h, struct err *err)
{
    return resources_load_write(h->core, h->arena, h->out, err);
}

/* --- projects --- */

enum figure { RUNNING, WAITING, FAILED, SERVICES, TROUBLED, SAMPLES, MODELS, FIGURES };
static const char *const figure_names[FIGURES] = {"running",  "waiting", "failed", "services",
                                                  "troubled", "samples", "models"};
struct row {
    int64_t id;
    struct str name;
    int64_t n[FIGURES];
    struct usage use;
};

/* Each adds a column or two to the rows: project, then the figures from `first` on. */
static const struct counting {
    const char *permission, *select, *rest;
    enum figure first;
    int columns;
} countings[] = {
    {"job.read",
     "SELECT project, CAST(SUM(CASE WHEN state = 'queued' THEN 0 ELSE 1 END) AS BIGINT),"
     " CAST(SUM(CASE WHEN state = 'queued' THEN 1 ELSE 0 END) AS BIGINT) FROM jobs WHERE state IN ('queued', "
     "'starting', 'running', 'stopping') AND ",
     "", RUNNING, 2},
    {"job.read",
     "SELECT project, COUNT(*) FROM (SELECT * FROM jobs ORDER BY id DESC LIMIT 5000) AS newest"
     " WHERE state = 'failed' AND ",
     " AND ended_at >= ?", FAILED, 1},
    {"service.read",
     "SELECT project, COUNT(*), "
     " CAST(SUM(CASE WHEN state IN ('failed', 'degraded') THEN 1 ELSE 0 END) AS BIGINT) FROM services WHERE ",
     "", SERVICES, 2},
    {"dataset_version.read",
     "SELECT project, CAST(SUM(samples) AS BIGINT) FROM dataset_versions WHERE \"from\" IS NULL AND ", "",
     SAMPLES, 1},
    {"model_version.read", "SELECT project, COUNT(*) FROM model_versions WHERE files > 0 AND ", "", MODELS,
     1},
};

static struct row *find_row(struct row *rows, size_t n, int64_t id)
{
    for (size_t low = 0, high = n; low < high;) {
        size_t mid = (low + high) / 2;
        if (rows[mid].id == id)
            return &rows[mid];
        rows[mid].id < id ? (low = mid + 1) : (high = mid);
    }
    return NULL;
}

static bool count_each(struct home *h, const struct counting *of, struct row *rows, size_t n, struct err *err)
{
    auto_sql struct sql s;
    struct db_rows found;
    sql_init(&s);
    sql_add(&s, of->select);
    if (strstr(of->select, "FROM jobs"))
        buf_printf(&s.text, "%s AND ", home_jobs_listed(h->arena));
    home_scope(h, of->permission, &s);
    sql_add(&s, of->rest);
    if (strchr(of->rest, '?'))
        s.args[s.n++] = db_int(h->now - HOME_RECENT);
    sql_add(&s, " GROUP BY project");
    if (!home_query(h, &s, &found, err))
        return false;
    for (size_t i = 0; i < found.n; i++) {
        struct row *r = find_row(rows, n, found.row[i].v[0].i);
        for (int k = 0; r && k < of->columns; k++)
            r->n[of->first + k] = found.row[i].v[1 + k].i;
    }
    return true;
}

static int busiest_first(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    static const enum figure order[] = {RUNNING, WAITING, FAILED, SERVICES, MODELS, SAMPLES};
    for (size_t i = 0; i < countof(order); i++)
        if (x->n[order[i]] != y->n[order[i]])
            return x->n[order[i]] < y->n[order[i]] ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

static void write_row(struct home *h, const struct plan_input *s, const struct row *r)
{
    json_object(h->out);
    json_key(h->out, "project");
    json_object(h->out);
    json_kint(h->out, "id", r->id);
    json_kstr(h->out, "name", r->name);
    json_object_end(h->out);
    for (int i = 0; i < FIGURES; i++)
        json_kint(h->out, figure_names[i], r->n[i]);
    usage_write(s, &r->use, h->out);
    json_object_end(h->out);
}

static bool read_rows(struct home *h, const struct plan_input *use, struct row **ret, size_t *n,
                      struct err *err)
{
    auto_sql struct sql s;
    struct db_rows rows;
    sql_init(&s);
    sql_add(
        &s,
        "SELECT p.id, p.name, CAST(COALESCE(u.bytes, 0) + COALESCE((SELECT SUM(f.bytes) FROM folder_use f"
        " WHERE f.project = p.id), 0) AS BIGINT) FROM projects p LEFT JOIN storage_use u ON u.project = p.id"
        " WHERE ");
    home_scope_of(h, "project.read", "p.id", &s);
    sql_add(&s, " ORDER BY p.id");
    if (!home_query(h, &s, &rows, err))
        return false;
    *ret = arena_array(h->arena, struct row, rows.n + 1);
    *n = rows.n;
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        (*ret)[i] = (struct row){.id = v[0].i, .name = v[1].s};
        (*ret)[i].use = usage_of(use, (struct usage_filter){.project = v[0].i});
        (*ret)[i].use.used.storage = v[2].i;
    }
    return true;
}

/* The busiest, and how many there are. */
bool home_projects(struct home *h, struct err *err)
{
    struct plan_input use;
    struct row *rows;
    size_t n;
    if (!usage_input(h->core, h->arena, &use, err) || !read_rows(h, &use, &rows, &n, err))
        return false;
    for (size_t i = 0; i < countof(countings); i++)
        if (!count_each(h, &countings[i], rows, n, err))
            return false;
    qsort(rows, n, sizeof *rows, busiest_first);
    json_object(h->out);
    json_kint(h->out, "total", (int64_t)n);
    json_key(h->out, "items");
    json_array(h->out);
    for (size_t i = 0; i < n && i < PROJECTS; i++)
        write_row(h, &use, &rows[i]);
    json_array_end(h->out);
    json_object_end(h->out);
    return true;
}

/* --- growth --- */

static const char *const growth_permissions[GROWTH_COUNT] = {
    [GROWTH_SAMPLES] = "dataset_version.read",
    [GROWTH_LABELS] = "label_task.read",
    [GROWTH_MODELS] = "model_version.read",
    [GROWTH_SERVICES] = "service_version.read",
};

static bool read_growing(struct home *h, enum growth what, int64_t first, int64_t ret[DAYS], struct err *err)
{
    auto_sql struct sql s;
    struct db_rows rows;
    sql_init(&s);
    sql_add(&s, "SELECT day, CAST(SUM(n) AS BIGINT) FROM growth WHERE ");
    home_scope(h, growth_permissions[what], &s);
    sql_add(&s, " AND what = ");
    sql_arg(&s, db_textz(growth_names[what]));
    sql_add(&s, " AND day >= ");
    sql_arg(&s, db_int(first));
    sql_add(&s, " GROUP BY day");
    if (!home_query(h, &s, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        int64_t day = rows.row[i].v[0].i - first;
        if (day >= 0 && day < DAYS)
            ret[day] = rows.row[i].v[1].i;
    }
    return true;
}

bool home_growth(struct home *h, struct err *err)
{
    int64_t n[GROWTH_COUNT][DAYS] = {{0}}, first = h->now / GROWTH_DAY_US - DAYS + 1;
    for (enum growth i = 0; i < GROWTH_COUNT; i++)
        if (!read_growing(h, i, first, n[i], err))
            return false;
    json_array(h->out);
    for (int64_t day = 0; day < DAYS; day++) {
        json_object(h->out);
        home_time(h->out, "at", (first + day) * GROWTH_DAY_US);
        for (enum growth i = 0; i < GROWTH_COUNT; i++)
            json_kint(h->out, growth_names[i], n[i][day]);
        json_object_end(h->out);
    }
    json_array_end(h->out);
    return true;
}
