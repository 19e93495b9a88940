#include "core/job/overview.h"

#include "base/clock.h"
#include "core/account/accounts.h"
#include "core/job/curves.h"
#include "core/job/usage.h"
#include "store/store.h"

#include <math.h>

/* --- forecast --- */

const struct field forecast_fields[] = {
    {.name = "spec",
     .type = FIELD_INT,
     .flags = FIELD_CREATE | FIELD_REQUIRED,
     .min = 1,
     .max = INT64_MAX,
     .title = {"Spec", "规格"}},
    {.name = "nodes",
     .type = FIELD_INT,
     .flags = FIELD_CREATE,
     .min = 1,
     .max = 64,
     .fallback = "1",
     .title = {"Nodes", "节点数"}},
    {.name = "priority",
     .type = FIELD_INT,
     .flags = FIELD_CREATE,
     .min = -100,
     .max = 100,
     .fallback = "0",
     .title = {"Priority", "优先级"}},
    {.name = "hours",
     .type = FIELD_REAL,
     .flags = FIELD_CREATE,
     .max = 10000,
     .fallback = "0",
     .title = {"Hours", "小时数"}},
    {0},
};

static void write_words(struct json_out *out, const char *key, const char *en, const char *zh)
{
    json_key(out, key);
    json_object(out);
    json_kz(out, "en", en);
    json_kz(out, "zh", zh);
    json_object_end(out);
}

static void write_forecast(struct plan_input *s, const struct sched_forecast *f, struct json_out *out)
{
    auto_buf struct buf en = {0}, zh = {0};
    sched_forecast_write(&s->snapshot, f, SCHED_EN, &en);
    sched_forecast_write(&s->snapshot, f, SCHED_ZH, &zh);
    json_object(out);
    json_kbool(out, "admitted", f->admitted && f->possible);
    json_kbool(out, "starts_now", f->start != 0 && f->start <= s->snapshot.now);
    json_key(out, "wait_s");
    if (f->start && f->possible)
        json_int(out, f->start > s->snapshot.now ? (f->start - s->snapshot.now) / 1000000 : 0);
    else
        json_null(out);
    write_words(out, "reason", en.p ? en.p : "", zh.p ? zh.p : "");
    json_object_end(out);
}

static void write_impossible(struct json_out *out, const char *en, const char *zh)
{
    json_object(out);
    json_kbool(out, "admitted", false);
    json_kbool(out, "starts_now", false);
    json_key(out, "wait_s");
    json_null(out);
    write_words(out, "reason", en, zh);
    json_object_end(out);
}

bool forecast_write(struct op *op, const struct forecast_ask *ask, struct json_out *out, struct err *err)
{
    struct plan_input s;
    struct sched_forecast f;
    if (!usage_input(op->core, op->arena, &s, err))
        return false;
    struct sched_waiting w = {.id = INT64_MAX,
                              .project = sched_find_project(&s.snapshot, ask->project),
                              .user = op->caller->user,
                              .priority = ask->priority,
                              .n_ranks = ask->nodes,
                              .pool = SCHED_NONE,
                              .submitted_at = s.snapshot.now,
                              .duration = ask->hours > 0 ? (int64_t)(ask->hours * 3.6e9) : 0};
    if (w.project < 0)
        return err_set(err, ERR_NOT_FOUND, NULL, "the project is gone");
    struct object spec;
    if (!engine_get(op->core, &caller_system, kind_by_name(STR("spec")), 0, ask->spec, op->arena, &spec, err))
        return err->code == ERR_NOT_FOUND
                   ? err_set(err, ERR_INVALID, "spec", "spec: there is no spec %lld", (long long)ask->spec)
                   : false;
    if (!jobs_exec_wait(op->core->jobs)) {
        write_impossible(out, "this machine cannot run containers", "本机无法运行容器");
        return true;
    }
    if (!plan_input_demand(&s, ask->spec, &w.request)) {
        write_impossible(out, "no node can have the devices that the spec asks for",
                         "没有节点具备规格要求的设备");
        return true;
    }
    if (!sched_forecast(&s.snapshot, &w, op->arena, &f, err))
        return false;
    write_forecast(&s, &f, out);
    return true;
}

bool forecast_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                  int *status, struct err *err)
{
    (void)status;
    const struct forecast_ask ask = {.project = o->id,
                                     .spec = input[0].i,
                                     .nodes = (int32_t)input[1].i,
                                     .priority = (int32_t)input[2].i,
                                     .hours = input[3].type == DB_INT ? (double)input[3].i : input[3].r};
    return forecast_write(op, &ask, out, err);
}

/* --- overview --- */

static const struct {
    const char *key, *kind;
} counted[] = {
    {"datasets", "dataset"}, {"models", "model_set"},         {"algorithms", "algorithm_set"},
    {"images", "image"},     {"environments", "environment"}, {"trainings", "training"},
};

static bool write_count(struct op *op, const struct kind *k, int64_t project, const char *key,
                        struct json_out *out, struct err *err)
{
    struct db_row row;
    bool found;
    const char *sql = arena_printf(op->arena, "SELECT COUNT(*) FROM \"%s\" WHERE project = ?", k->table);
    if (!db_query_one(op->core->db, op->arena, sql, db_args(db_int(project)), &row, &found, err))
        return false;
    json_kint(out, key, row.v[0].i);
    return true;
}

static bool write_job_counts(struct op *op, int64_t project, struct json_out *out, struct err *err)
{
    struct db_rows rows;
    int64_t running = 0, waiting = 0, done = 0, failed = 0;
    if (!db_query(op->core->db, op->arena,
                  "SELECT state, COUNT(*) FROM jobs WHERE project = ? GROUP BY state",
                  db_args(db_int(project)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct str state = rows.row[i].v[0].s;
        int64_t n = rows.row[i].v[1].i;
        *(str_is(state, "queued")                                  ? &waiting
          : str_is(state, "failed")                                ? &failed
          : str_is(state, "completed") || str_is(state, "stopped") ? &done
                                                                   : &running) += n;
    }
    json_kint(out, "jobs_running", running);
    json_kint(out, "jobs_waiting", waiting);
    json_kint(out, "jobs_done", done);
    json_kint(out, "jobs_failed", failed);
    return true;
}

static bool write_counts(struct op *op, int64_t project, struct json_out *out, struct err *err)
{
    json_key(out, "counts");
    json_object(out);
    for (size_t i = 0; i < countof(counted); i++) {
        const struct kind *k = kind_by_name(str_of(counted[i].kind));
        if (!k)
            json_kint(out, counted[i].key, 0);
        else if (!write_count(op, k, project, counted[i].key, out, err))
            return false;
    }
    bool ok = write_job_counts(op, project, out, err);
    json_object_end(out);
    return ok;
}

const struct field overview_fields[] = {
    {.name = "points",
     .type = FIELD_INT,
     .flags = FIELD_CREATE,
     .max = 1440,
     .fallback = "0",
     .title = {"Points", "点数"},
     .help = {"At most so many of the curves; 0: one a minute", "曲线最多的点数；0 表示每分钟一个"}},
    {0},
};

bool overview_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                  int *status, struct err *err)
{
    (void)status;
    struct plan_input s;
    int64_t bytes, width = curves_width(CURVES_DAY, input[0].i, INT64_C(60000000));
    if (!usage_input(op->core, op->arena, &s, err) ||
        !store_project_bytes(op->core->store, o->id, &bytes, err))
        return false;
    struct usage use = usage_of(&s, (struct usage_filter){.project = o->id});
    json_object(out);
    json_key(out, "quota");
    usage_write_quota(op->arena, object_text(o, "quota"), out);
    use.used.storage = bytes;
    usage_write(&s, &use, out);
    if (!write_counts(op, o->id, out, err))
        return false;
    json_key(out, "curves");
    if (!curves_write_project(op->core, o->id, width, out, err))
        return false;
    json_object_end(out);
    return true;
}
