#include "core/training/summary.h"

#include "core/training/training.h"

#include <stdio.h>

const struct kind_side training_sides[] = {
    {"metric", "run_metrics", "run", "metric", "in_project", "in_training", "best", NULL},
    {"last", "run_metrics", "run", "metric", "in_project", "in_training", "last", NULL},
    {"parameter", "run_parameters", "run", "parameter", "in_project", "in_training", "as_number", "as_text"},
    {"text", "run_parameters", "run", "parameter", "in_project", "in_training", NULL, "as_text"},
    {0},
};

/* --- names --- */

/* Any of the words in the name, as one of its parts: val_loss, train/err, not "lossless". */
static bool has_word(struct str name, const char *const *words, size_t n)
{
    size_t from = 0;
    for (size_t i = 0; i <= name.n; i++) {
        if (i < name.n && !strchr("_./-@ ", name.p[i]))
            continue;
        for (size_t w = 0; w < n; w++)
            if (str_ieq((struct str){name.p + from, i - from}, str_of(words[w])))
                return true;
        from = i + 1;
    }
    return false;
}

bool summary_lower(struct str name)
{
    static const char *const words[] = {"loss",       "err",  "error", "mae",     "mse", "rmse", "ppl",
                                        "perplexity", "cer",  "wer",   "time",    "nll", "bce",  "ce",
                                        "ms",         "secs", "lr",    "seconds", "fid", "bits"};
    return has_word(name, words, countof(words));
}

int summary_rank(struct str name)
{
    static const char *const main_ones[] = {"accuracy", "acc", "map50", "map", "miou", "iou", "f1", "score"};
    static const char *const loss[] = {"loss"};
    if (str_ieq(name, STR("loss")))
        return 0;
    for (size_t i = 0; i < countof(main_ones); i++)
        if (str_ieq(name, str_of(main_ones[i])))
            return 1;
    return has_word(name, main_ones, countof(main_ones)) || has_word(name, loss, countof(loss)) ? 2 : 3;
}

struct summary summary_of(struct str name, const struct series_point *p, size_t n)
{
    bool lower = summary_lower(name);
    struct summary s = {p[n - 1].value, p[n - 1].step, p[0].value, p[0].step, (int64_t)n};
    for (size_t i = 1; i < n; i++)
        if (lower ? p[i].value < s.best : p[i].value > s.best) {
            s.best = p[i].value;
            s.best_step = p[i].step;
        }
    return s;
}

/* --- parameters --- */

static struct str shown(struct arena *a, yyjson_val *v)
{
    auto_buf struct buf text = {0};
    struct json_out out;
    struct str s = json_str(v);
    if (!yyjson_is_str(v)) {
        json_begin(&out, &text);
        json_value(&out, v);
        s = buf_view(&text);
    }
    size_t n = 0;
    while (n < s.n) {
        size_t one = utf8_sequence((struct str){s.p + n, s.n - n});
        if (!one || n + one > SUMMARY_VALUE)
            break;
        n += one;
    }
    return arena_str(a, (struct str){s.p, n});
}

static bool has_nul(struct str s)
{
    return s.n && memchr(s.p, 0, s.n);
}

void summary_members(struct arena *a, yyjson_val *object, struct parameters *all)
{
    yyjson_val *key, *v;
    size_t i, max;
    yyjson_obj_foreach(object, i, max, key, v)
    {
        struct str name = json_str(key);
        size_t at = 0;
        while (at < all->n && !str_eq(all->list[at].name, name))
            at++;
        if (at == SUMMARY_PARAMETERS || name.n == 0 || name.n > METRIC_NAME || has_nul(name) ||
            has_nul(json_str(v))) {
            all->left++;
            continue;
        }
        all->list[at] = (struct parameter){.name = arena_str(a, name),
                                           .text = shown(a, v),
                                           .is_number = yyjson_is_num(v),
                                           .number = yyjson_get_num(v)};
        all->n += at == all->n;
    }
}

bool summary_parameters(struct arena *a, struct str line, struct parameters *all)
{
    struct err ignored = {0};
    if (!str_starts(line, "{\"ingot.params\""))
        return false;
    yyjson_val *of = yyjson_obj_get(json_parse(a, line, &ignored), "ingot.params");
    if (yyjson_is_obj(of))
        summary_members(a, of, all);
    return true;
}

/* --- rows --- */

#define PUT_METRIC                                                                                           \
    "INSERT INTO run_metrics (run, metric, in_project, in_training, last, last_step, best, best_step, "      \
    "points)"                                                                                                \
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run, metric) DO UPDATE SET last = excluded.last,"      \
    " last_step = excluded.last_step, points = excluded.points"
/* With more points the better one stays. */
#define PUT_MORE(than)                                                                                       \
    PUT_METRIC " + run_metrics.points,"                                                                      \
               " best_step = CASE WHEN excluded.best " than " run_metrics.best THEN excluded.best_step"      \
               " ELSE run_metrics.best_step END,"                                                            \
               " best = CASE WHEN excluded.best " than " run_metrics.best THEN excluded.best"                \
               " ELSE run_metrics.best END"

bool summary_put(struct db_conn *c, const struct summary_run *r, struct str name, const struct summary *s,
                 bool whole, struct err *err)
{
    const char *sql = whole ? PUT_METRIC ", best = excluded.best, best_step = excluded.best_step"
                      : summary_lower(name) ? PUT_MORE("<")
                                            : PUT_MORE(">");
    return conn_exec(c, sql,
                     db_args(db_int(r->id), db_text(name), db_int(r->project), db_int(r->training),
                             db_real(s->last), db_real(s->last_step), db_real(s->best), db_real(s->best_step),
                             db_int(s->points)),
                     NULL, err);
}

bool summary_put_parameters(struct db_conn *c, const struct summary_run *r, const struct parameters *all,
                            struct err *err)
{
    for (size_t i = 0; i < all->n; i++) {
        const struct parameter *p = &all->list[i];
        if (!conn_exec(
                c,
                "INSERT INTO run_parameters (run, parameter, in_project, in_training, as_number, as_text)"
                " SELECT ?, ?, ?, ?, ?, ? WHERE (SELECT count(*) FROM run_parameters WHERE run = ?) < ?"
                " ON CONFLICT (run, parameter) DO UPDATE SET as_number = excluded.as_number,"
                " as_text = excluded.as_text",
                db_args(db_int(r->id), db_text(p->name), db_int(r->project), db_int(r->training),
                        p->is_number ? db_real(p->number) : db_null(), db_text(p->text), db_int(r->id),
                        db_int(SUMMARY_PARAMETERS)),
                NULL, err))
            return false;
    }
    return true;
}

static const char *const left_names[METRIC_LEFT_COUNT] = {[METRIC_NOT_FINITE] = "not_finite",
                                                          [METRIC_LONG_NAME] = "long_names",
                                                          [METRIC_TOO_MANY] = "too_many",
                                                          [METRIC_STEP_BACK] = "steps_back",
                                                          [METRIC_PARAMETERS] = "parameters"};

bool summary_put_left(struct db_conn *c, const struct summary_run *r, const int64_t left[METRIC_LEFT_COUNT],
                      struct err *err)
{
    for (size_t i = 0; i < METRIC_LEFT_COUNT; i++)
        if (left[i] &&
            !conn_exec(c,
                       "INSERT INTO run_notes (run, note, times) VALUES (?, ?, ?)"
                       " ON CONFLICT (run, note) DO UPDATE SET times = run_notes.times + "
                       "excluded.times",
                       db_args(db_int(r->id), db_textz(left_names[i]), db_int(left[i])), NULL, err))
            return false;
    return true;
}

bool summary_delete(struct db_conn *c, int64_t instance, struct err *err)
{
    return conn_exec(c, "DELETE FROM run_metrics WHERE run = ?", db_args(db_int(instance)), NULL, err) &&
           conn_exec(c, "DELETE FROM run_parameters WHERE run = ?", db_args(db_int(instance)), NULL, err) &&
           conn_exec(c, "DELETE FROM run_notes WHERE run = ?", db_args(db_int(instance)), NULL, err);
}

/* --- the fields --- */

static int by_rank(const void *a, const void *b)
{
    const struct db_row *x = a, *y = b;
    int rx = summary_rank(x->v[0].s), ry = summary_rank(y->v[0].s);
    if (rx != ry)
        return rx < ry ? -1 : 1;
    size_t n = x->v[0].s.n < y->v[0].s.n ? x->v[0].s.n : y->v[0].s.n;
    int same = memcmp(x->v[0].s.p, y->v[0].s.p, n);
    return same ? same : (x->v[0].s.n > y->v[0].s.n) - (x->v[0].s.n < y->v[0].s.n);
}

static void key_of(struct json_out *out, struct arena *a, struct str name)
{
    json_key(out, arena_strz(a, name));
}

static bool write_metrics(struct op *op, int64_t id, struct json_out *out, struct err *err)
{
    static const char *const names[] = {NULL, "last", "last_step", "best", "best_step"};
    struct db_rows rows;
    if (!conn_query(op->conn, op->arena,
                    "SELECT metric, last, last_step, best, best_step, points FROM run_metrics WHERE run = ?"
                    " ORDER BY metric",
                    db_args(db_int(id)), &rows, err))
        return false;
    if (rows.n)
        qsort(rows.row, rows.n, sizeof *rows.row, by_rank);
    json_key(out, "metrics");
    json_object(out);
    for (size_t i = 0; i < rows.n && i < SUMMARY_SHOWN; i++) {
        key_of(out, op->arena, rows.row[i].v[0].s);
        json_object(out);
        for (size_t k = 1; k < countof(names); k++) {
            json_key(out, names[k]);
            json_real(out, rows.row[i].v[k].r);
        }
        json_kint(out, "points", rows.row[i].v[5].i);
        json_kbool(out, "lower", summary_lower(rows.row[i].v[0].s));
        json_object_end(out);
    }
    json_object_end(out);
    json_kint(out, "names", (int64_t)rows.n);
    return true;
}

static bool write_left(struct op *op, int64_t id, struct json_out *out, struct err *err)
{
    struct db_rows rows;
    if (!conn_query(op->conn, op->arena, "SELECT note, times FROM run_notes WHERE run = ? ORDER BY note",
                    db_args(db_int(id)), &rows, err))
        return false;
    json_key(out, "left_out");
    json_object(out);
    for (size_t i = 0; i < rows.n; i++) {
        key_of(out, op->arena, rows.row[i].v[0].s);
        json_int(out, rows.row[i].v[1].i);
    }
    json_object_end(out);
    return true;
}

static bool write_logged(struct op *op, int64_t id, struct json_out *out, struct err *err)
{
    struct db_rows rows;
    if (!conn_query(
            op->conn, op->arena,
            "SELECT parameter, as_number, as_text FROM run_parameters WHERE run = ? ORDER BY parameter",
            db_args(db_int(id)), &rows, err))
        return false;
    json_object(out);
    for (size_t i = 0; i < rows.n; i++) {
        key_of(out, op->arena, rows.row[i].v[0].s);
        if (rows.row[i].v[1].type == DB_REAL)
            json_real(out, rows.row[i].v[1].r);
        else
            json_string(out, rows.row[i].v[2].s);
    }
    json_object_end(out);
    return true;
}

bool summary_refresh(struct op *op, const struct summary_run *r, struct err *err)
{
    auto_buf struct buf summary = {0}, logged = {0};
    struct json_out out, params;
    json_begin(&out, &summary);
    json_begin(&params, &logged);
    json_object(&out);
    if (!write_metrics(op, r->id, &out, err) || !write_left(op, r->id, &out, err) ||
        !write_logged(op, r->id, &params, err))
        return false;
    json_object_end(&out);
    return engine_set_status(op, &kind_training_instance, r->id,
                             ENGINE_STATUSES(status_set("summary", db_text(buf_view(&summary))),
                                             status_set("logged", db_text(buf_view(&logged))),
                                             status_set("summarised", db_int(1))),
                             err);
}
