/* What runs, with how far it is, and what waits, with why: jobs under the names of what they run for, and the
 * platform's own long work. */
#include "core/evaluate/evaluate.h"
#include "core/home/home_own.h"
#include "core/training/training.h"

#define METRICS 2 /* of a run that are told */

/* --- how far --- */

static bool evaluation_far(struct home *h, struct home_thing *t, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(h->core->db, h->arena, "SELECT done, total FROM evaluations WHERE id = ?",
                      db_args(db_int(t->id)), &row, &found, err))
        return false;
    if (found && row.v[1].i > 0) {
        t->done = row.v[0].i;
        t->total = row.v[1].i;
    }
    return true;
}

/* The first metrics of the summary, which has the telling ones first: [{"name","last","step"}]. */
static struct str metrics_of(struct arena *a, struct str summary)
{
    auto_buf struct buf text = {0};
    struct json_out out;
    struct err ignored = {0};
    yyjson_val *key, *m;
    size_t i, max;
    json_begin(&out, &text);
    json_array(&out);
    yyjson_obj_foreach(yyjson_obj_get(json_parse(a, summary, &ignored), "metrics"), i, max, key, m)
    {
        if (i == METRICS)
            break;
        json_object(&out);
        json_kstr(&out, "name", json_str(key));
        json_key(&out, "last");
        json_real(&out, yyjson_get_num(yyjson_obj_get(m, "last")));
        json_key(&out, "step");
        json_real(&out, yyjson_get_num(yyjson_obj_get(m, "last_step")));
        json_object_end(&out);
    }
    json_array_end(&out);
    return arena_str(a, buf_view(&text));
}

static bool run_far(struct home *h, struct home_thing *t, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(h->core->db, h->arena, "SELECT summary FROM training_instances WHERE id = ?",
                      db_args(db_int(t->id)), &row, &found, err))
        return false;
    if (found && row.v[0].type == DB_TEXT)
        t->metrics = metrics_of(h->arena, row.v[0].s);
    return true;
}

static bool tell_far(struct home *h, struct home_thing *t, struct err *err)
{
    if (t->kind == &kind_evaluation)
        return evaluation_far(h, t, err);
    return t->kind != &kind_training_instance || run_far(h, t, err);
}

/* --- jobs --- */

/* Few jobs are not over, and there is an index of those: + keeps the databases from going through all of the
 * project's, or along the ids. */
static void jobs_where(struct home *h, const char *states, struct sql *s)
{
    home_scope_of(h, "job.read", "+project", s);
    buf_printf(&s->text, " AND state IN (%s) AND %s", states, home_jobs_listed(h->arena));
}

static bool jobs_read(struct home *h, const char *states, const char *order, struct home_thing *t, size_t *n,
                      struct err *err)
{
    auto_sql struct sql s;
    struct db_rows rows;
    sql_init(&s);
    sql_add(&s, "SELECT id, project, owner_kind, owner, created_by, COALESCE(started_at, created_at), state,"
                " reason, reason_zh, estimate FROM jobs WHERE ");
    jobs_where(h, states, &s);
    buf_printf(&s.text, " ORDER BY %s LIMIT %d", order, HOME_SHOWN);
    if (!home_query(h, &s, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        struct home_thing *one = &t[(*n)++];
        *one = (struct home_thing){.by = v[4].type == DB_INT ? v[4].i : 0,
                                   .at = v[5].i,
                                   .state = v[6].s,
                                   .en = home_text(&v[7]),
                                   .zh = home_text(&v[8]),
                                   .estimate = v[9].type == DB_INT ? v[9].i : 0};
        home_job_object(h, v[0].i, v[1].i, home_text(&v[2]), v[3].i, one);
        if (!tell_far(h, one, err))
            return false;
    }
    return true;
}

static bool jobs_count(struct home *h, const char *states, int64_t *ret, struct err *err)
{
    auto_sql struct sql s;
    struct db_rows rows;
    sql_init(&s);
    sql_add(&s, "SELECT COUNT(*) FROM (SELECT 1 FROM jobs WHERE ");
    jobs_where(h, states, &s);
    buf_printf(&s.text, " LIMIT %d) AS counted", HOME_COUNTED + 1);
    if (!home_query(h, &s, &rows, err))
        return false;
    *ret = rows.row[0].v[0].i;
    return true;
}

/* --- background tasks --- */

static bool tasks_read(struct home *h, struct home_thing *t, size_t *n, struct err *err)
{
    auto_sql struct sql s;
    struct db_rows rows;
    sql_init(&s);
    sql_add(&s, "SELECT id, project, created_by, COALESCE(started_at, created_at), state, done, total, name,"
                " name_zh FROM tasks WHERE ");
    home_scope(h, "task.read", &s);
    buf_printf(&s.text, " AND state = 'running' ORDER BY id DESC LIMIT %d", HOME_SHOWN);
    if (!home_query(h, &s, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        bool far = v[6].type == DB_INT && v[6].i > 0;
        t[(*n)++] = (struct home_thing){.kind = &kind_task,
                                        .id = v[0].i,
                                        .project = v[1].i,
                                        .by = v[2].type == DB_INT ? v[2].i : 0,
                                        .at = v[3].i,
                                        .state = v[4].s,
                                        .done = far ? v[5].i : -1,
                                        .total = far ? v[6].i : -1,
                                        .title = home_text(&v[7]),
                                        .title_zh = home_text(&v[8])};
    }
    return true;
}

static bool write_list(struct home *h, int64_t total, const struct home_thing *t, size_t n, struct err *err)
{
    json_object(h->out);
    json_kint(h->out, "total", total);
    json_key(h->out, "items");
    bool ok = home_things_write(h, t, n, err);
    json_object_end(h->out);
    return ok;
}

bool home_running(struct home *h, struct err *err)
{
    static const char states[] = "'starting', 'running', 'stopping'";
    struct home_thing t[2 * HOME_SHOWN];
    size_t n = 0;
    int64_t jobs = 0;
    if (home_may(h, "job.read") &&
        (!jobs_read(h, states, "+id DESC", t, &n, err) || !jobs_count(h, states, &jobs, err)))
        return false;
    size_t before = n;
    return (!home_may(h, "task.read") || tasks_read(h, t, &n, err)) &&
           write_list(h, jobs + (int64_t)(n - before), t, n, err);
}

bool home_waiting(struct home *h, struct err *err)
{
    struct home_thing t[HOME_SHOWN];
    size_t n = 0;
    int64_t jobs;
    return jobs_read(h, "'queued'", "priority DESC, id", t, &n, err) &&
           jobs_count(h, "'queued'", &jobs, err) && write_list(h, jobs, t, n, err);
}
