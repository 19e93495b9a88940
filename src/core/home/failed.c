/* What failed in the last days, with the sentence that says why and the last line of its errors. */
#include "core/evaluate/evaluate.h"
#include "core/home/home_own.h"
#include "core/training/training.h"

#define LOOKED_AT 500 /* newest rows of each kind: what failed before these is no news */

/* Columns: id, project, created_by, ended_at, reason in both languages, cause (JSON), job, owner_kind, owner,
 * name and name_zh of tasks. A part that tells of another is left out where that other one is told of. */
static const struct source {
    const char *permission, *table, *columns, *condition;
} sources[] = {
    {"training.read", "training_instances",
     "id, project, created_by, ended_at, note, note, cause, job, 'training_instance', id, '', ''", "1 = 1"},
    {"evaluation.read", "evaluations",
     "id, project, created_by, ended_at, note, note_zh, '', job, 'evaluation', id, '', ''", "1 = 1"},
    {"job.read", "jobs",
     "id, project, created_by, ended_at, reason, reason_zh, '', id, owner_kind, owner, '', ''",
     "owner_kind NOT IN ('training_instance', 'evaluation')"},
    {"task.read", "tasks",
     "id, project, created_by, ended_at, message, message_zh, '', 0, 'task', id, name, name_zh",
     "(subject_kind IS NULL OR subject_kind NOT IN ('training_instance', 'evaluation', 'runtime'))"},
};

/* The cause that the end of a run's log told when it failed. */
static void take_cause(struct arena *a, struct str text, struct home_thing *t)
{
    struct err ignored = {0};
    yyjson_val *cause = text.n ? json_parse(a, text, &ignored) : NULL;
    if (!cause)
        return;
    t->en = json_str(yyjson_obj_get(cause, "sentence"));
    t->zh = json_str(yyjson_obj_get(cause, "sentence_zh"));
    t->line = json_str(yyjson_arr_get_last(yyjson_obj_get(cause, "lines")));
}

static void take_row(struct home *h, const struct db_value *v, struct home_thing *t)
{
    *t = (struct home_thing){.by = v[2].type == DB_INT ? v[2].i : 0,
                             .at = v[3].i,
                             .state = STR("failed"),
                             .en = home_text(&v[4]),
                             .zh = home_text(&v[5]),
                             .title = home_text(&v[10]),
                             .title_zh = home_text(&v[11])};
    home_job_object(h, v[0].i, v[1].i, home_text(&v[8]), v[9].type == DB_INT ? v[9].i : 0, t);
    t->job = v[7].type == DB_INT ? v[7].i : 0;
    take_cause(h->arena, home_text(&v[6]), t);
}

static bool read_source(struct home *h, const struct source *of, struct home_thing *t, size_t *n,
                        struct err *err)
{
    auto_sql struct sql s;
    struct db_rows rows;
    sql_init(&s);
    buf_printf(&s.text, "SELECT %s FROM (SELECT * FROM %s WHERE ", of->columns, of->table);
    home_scope(h, of->permission, &s);
    buf_printf(&s.text, " ORDER BY id DESC LIMIT %d) AS newest WHERE state = 'failed' AND %s", LOOKED_AT,
               of->condition);
    if (strcmp(of->table, "jobs") == 0)
        buf_printf(&s.text, " AND %s", home_jobs_listed(h->arena));
    sql_add(&s, " AND ended_at >= ");
    sql_arg(&s, db_int(h->now - HOME_RECENT));
    buf_printf(&s.text, " ORDER BY ended_at DESC LIMIT %d", HOME_SHOWN);
    if (!home_query(h, &s, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        take_row(h, rows.row[i].v, &t[(*n)++]);
    return true;
}

static int newest_first(const void *a, const void *b)
{
    int64_t x = ((const struct home_thing *)a)->at, y = ((const struct home_thing *)b)->at;
    return (x < y) - (x > y);
}

bool home_tell_job(struct home *h, struct home_thing *t, struct err *err)
{
    struct object job;
    struct err gone = {0};
    struct cause cause;
    if (!t->job || t->line.n || !caller_may(h->caller, "job.read", t->project))
        return true;
    if (!engine_get(h->core, &caller_system, &kind_job, 0, t->job, h->arena, &job, &gone))
        return gone.code == ERR_NOT_FOUND || (*err = gone, false);
    training_cause_find(h->core, &job, h->arena, &cause);
    if (cause.n)
        t->line = cause.line[cause.n - 1];
    if (strcmp(cause.id, "other") != 0) {
        t->en = str_of(cause.en);
        t->zh = str_of(cause.zh);
    } else if (!t->en.n) {
        t->en = object_text(&job, "reason");
        t->zh = object_text(&job, "reason_zh");
    }
    return true;
}

bool home_failed(struct home *h, struct err *err)
{
    struct home_thing t[countof(sources) * HOME_SHOWN];
    size_t n = 0;
    for (size_t i = 0; i < countof(sources); i++)
        if (home_may(h, sources[i].permission) && !read_source(h, &sources[i], t, &n, err))
            return false;
    qsort(t, n, sizeof *t, newest_first);
    n = n < HOME_SHOWN ? n : HOME_SHOWN;
    for (size_t i = 0; i < n; i++)
        if (!home_tell_job(h, &t[i], err))
            return false;
    return home_things_write(h, t, n, err);
}
