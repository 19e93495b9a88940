/* The best and the newest models. Which is best is said per labelled data: figures of different data are not
 * comparable. */
#include "core/evaluate/evaluate.h"
#include "core/home/home_own.h"
#include "core/show.h"
#include "metric/evaluate.h"

#include <math.h>

#define LOOKED_AT 300 /* newest evaluations */
#define GROUPS    4   /* sets of data that are told of */
#define NEWEST    5

/* The first main figure: how good in one number. */
struct figure {
    struct str name;
    double value, low, high;
};

static double number(yyjson_val *v)
{
    return yyjson_is_num(v) ? yyjson_get_num(v) : NAN;
}

static bool figure_of(struct arena *a, struct str figures, struct figure *ret)
{
    struct err ignored = {0};
    yyjson_val *all = figures.n ? json_parse(a, figures, &ignored) : NULL, *key, *row;
    size_t i, max;
    if (!all)
        return false;
    yyjson_obj_foreach(all, i, max, key, row)
    {
        *ret = (struct figure){json_str(key), number(yyjson_obj_get(row, "value")),
                               number(yyjson_obj_get(row, "low")), number(yyjson_obj_get(row, "high"))};
        if (isfinite(ret->value))
            return true;
    }
    return false;
}

static bool is_better(const struct figure *a, const struct figure *b)
{
    return evaluate_less_is_better(a->name) ? a->value < b->value : a->value > b->value;
}

/* An evaluation of a model on data. */
struct judged {
    int64_t evaluation, project, model, data, at;
    struct str part;
    struct figure figure;
    size_t models; /* that were evaluated on the same data */
};

/* evaluations, newest first: id, project, model_version, dataset_version, part and splits, ended_at, figures.
 */
static bool read_judged(struct home *h, struct judged *ret, size_t *n, struct err *err)
{
    auto_sql struct sql s;
    struct db_rows rows;
    sql_init(&s);
    sql_add(&s,
            "SELECT id, project, model_version, dataset_version, part, splits, COALESCE(ended_at, 0), figures"
            " FROM evaluations WHERE ");
    home_scope(h, "evaluation.read", &s);
    buf_printf(&s.text, " AND state = 'completed' AND model_version IS NOT NULL ORDER BY id DESC LIMIT %d",
               LOOKED_AT);
    if (!home_query(h, &s, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        struct judged *one = &ret[*n];
        bool splits = str_is(home_text(&v[4]), "splits");
        *one = (struct judged){
            .evaluation = v[0].i, .project = v[1].i, .model = v[2].i, .data = v[3].i, .at = v[6].i};
        one->part = home_text(&v[splits ? 5 : 4]);
        *n += figure_of(h->arena, home_text(&v[7]), &one->figure);
    }
    return true;
}

static bool same_data(const struct judged *a, const struct judged *b)
{
    return a->data == b->data && str_eq(a->part, b->part) && str_eq(a->figure.name, b->figure.name);
}

/* Of each set of data the best, in the order of the newest evaluation; a model's newest evaluation counts. */
static size_t best_of(const struct judged *all, size_t n, struct judged best[GROUPS])
{
    size_t groups = 0;
    for (size_t i = 0; i < n; i++) {
        size_t g = 0;
        bool again = false;
        while (g < groups && !same_data(&best[g], &all[i]))
            g++;
        if (g == GROUPS)
            continue;
        for (size_t k = 0; k < i; k++)
            again = again || (all[k].model == all[i].model && same_data(&all[k], &all[i]));
        if (again)
            continue;
        size_t models = g < groups ? best[g].models : 0;
        if (g == groups || is_better(&all[i].figure, &best[g].figure))
            best[g] = all[i];
        best[g].models = models + 1;
        groups += g == groups;
    }
    return groups;
}

static void write_figure(struct json_out *out, const struct figure *f)
{
    json_key(out, "figure");
    json_object(out);
    json_kstr(out, "name", f->name);
    json_key(out, "value");
    json_real(out, f->value);
    json_key(out, "low");
    json_real(out, f->low);
    json_key(out, "high");
    json_real(out, f->high);
    json_object_end(out);
}

static void put_ref(struct home *h, const char *key, const struct names *names, const struct kind *k,
                    int64_t id)
{
    json_key(h->out, key);
    show_ref(names, k, id && names_get(names, k, id)->name.p ? id : 0, h->out);
}

bool home_models_best(struct home *h, struct err *err)
{
    struct judged *all = arena_array(h->arena, struct judged, LOOKED_AT + 1), best[GROUPS];
    const struct kind *model = kind_by_name(STR("model_version")),
                      *data = kind_by_name(STR("dataset_version"));
    const struct kind *project = kind_by_name(STR("project"));
    struct names names;
    size_t n = 0;
    if (!read_judged(h, all, &n, err))
        return false;
    size_t groups = best_of(all, n, best);
    names_init(&names, h->arena, 4 * GROUPS);
    for (size_t i = 0; i < groups; i++) {
        names_want(&names, model, best[i].model);
        names_want(&names, data, best[i].data);
        names_want(&names, &kind_evaluation, best[i].evaluation);
        names_want(&names, project, best[i].project);
    }
    if (!names_load(&names, h->core->db, err))
        return false;
    json_array(h->out);
    for (size_t i = 0; i < groups; i++) {
        json_object(h->out);
        put_ref(h, "model", &names, model, best[i].model);
        put_ref(h, "data", &names, data, best[i].data);
        json_kstr(h->out, "part", best[i].part);
        put_ref(h, "evaluation", &names, &kind_evaluation, best[i].evaluation);
        put_ref(h, "project", &names, project, best[i].project);
        write_figure(h->out, &best[i].figure);
        json_kint(h->out, "of", (int64_t)best[i].models);
        home_time(h->out, "at", best[i].at);
        json_object_end(h->out);
    }
    json_array_end(h->out);
    return true;
}

/* --- the newest --- */

struct made {
    int64_t id, project, by, at, service, trained_by;
    bool judged;
    struct figure figure;
};

static bool one_int(struct home *h, const char *sql, int64_t id, int64_t *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(h->core->db, h->arena, sql, db_args(db_int(id)), &row, &found, err))
        return false;
    *ret = found ? row.v[0].i : 0;
    return true;
}

/* What the caller may know of it: its newest evaluation, the service that runs it, the run that made it. */
static bool tell_made(struct home *h, struct made *m, struct err *err)
{
    struct db_row row;
    bool found = false;
    if (caller_may(h->caller, "evaluation.read", m->project) &&
        !db_query_one(h->core->db, h->arena,
                      "SELECT figures FROM evaluations WHERE model_version = ? AND state = 'completed'"
                      " ORDER BY id DESC LIMIT 1",
                      db_args(db_int(m->id)), &row, &found, err))
        return false;
    m->judged = found && figure_of(h->arena, home_text(&row.v[0]), &m->figure);
    return (!caller_may(h->caller, "service.read", m->project) ||
            one_int(h,
                    "SELECT service FROM service_versions WHERE model_version = ? AND role <> 'retired'"
                    " ORDER BY id DESC LIMIT 1",
                    m->id, &m->service, err)) &&
           (!caller_may(h->caller, "training.read", m->project) ||
            one_int(h, "SELECT id FROM training_instances WHERE model_version = ? ORDER BY id DESC LIMIT 1",
                    m->id, &m->trained_by, err));
}

static bool read_made(struct home *h, struct made ret[NEWEST], size_t *n, struct err *err)
{
    auto_sql struct sql s;
    struct db_rows rows;
    sql_init(&s);
    sql_add(&s, "SELECT id, project, created_by, created_at FROM model_versions WHERE ");
    home_scope(h, "model_version.read", &s);
    buf_printf(&s.text, " AND files > 0 ORDER BY id DESC LIMIT %d", NEWEST);
    if (!home_query(h, &s, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        ret[i] = (struct made){
            .id = v[0].i, .project = v[1].i, .by = v[2].type == DB_INT ? v[2].i : 0, .at = v[3].i};
        if (!tell_made(h, &ret[i], err))
            return false;
    }
    *n = rows.n;
    return true;
}

bool home_models_newest(struct home *h, struct err *err)
{
    static const char *const names_of[] = {"model_version", "project", "user", "service",
                                           "training_instance"};
    const struct kind *k[countof(names_of)];
    struct made made[NEWEST];
    struct names names;
    size_t n;
    if (!read_made(h, made, &n, err))
        return false;
    for (size_t i = 0; i < countof(names_of); i++)
        k[i] = kind_by_name(str_of(names_of[i]));
    names_init(&names, h->arena, countof(names_of) * NEWEST);
    for (size_t i = 0; i < n; i++) {
        const int64_t ids[] = {made[i].id, made[i].project, made[i].by, made[i].service, made[i].trained_by};
        for (size_t j = 0; j < countof(ids); j++)
            names_want(&names, k[j], ids[j]);
    }
    if (!names_load(&names, h->core->db, err))
        return false;
    json_array(h->out);
    for (size_t i = 0; i < n; i++) {
        json_object(h->out);
        put_ref(h, "model", &names, k[0], made[i].id);
        put_ref(h, "project", &names, k[1], made[i].project);
        put_ref(h, "by", &names, k[2], made[i].by);
        put_ref(h, "service", &names, k[3], made[i].service);
        put_ref(h, "run", &names, k[4], made[i].trained_by);
        home_time(h->out, "at", made[i].at);
        if (made[i].judged)
            write_figure(h->out, &made[i].figure);
        else
            json_kz(h->out, "figure", NULL);
        json_object_end(h->out);
    }
    json_array_end(h->out);
    return true;
}
