/* What can be asked of an evaluation: starting and stopping, its report, samples, other thresholds, another
 * evaluation beside it. */
#include "base/clock.h"
#include "base/messages_evaluate.h"
#include "core/data/layer.h"
#include "core/evaluate/compare.h"
#include "core/evaluate/evaluate.h"
#include "core/evaluate/report.h"

#define PAGE_MAX 200
#define PAGE     20

/* --- stop and start --- */

static bool stop_write(struct op *op, void *ctx, struct err *err)
{
    struct object *o = ctx, now;
    bool found;
    if (!engine_load_row(op, &kind_evaluation, o->id, &now, &found, err))
        return false;
    if (!found || evaluation_is_over(&now))
        return err_message(err, ERR_CONFLICT, "state", MESSAGE_EVALUATION_OVER);
    const char *reason = arena_printf(op->arena, "stopped by %s", op->caller->name);
    int64_t job = object_int(&now, "job");
    if (job && !object_int(&now, "task"))
        return job_stop(op, job, reason, err) && engine_load_row(op, &kind_evaluation, o->id, o, &found, err);
    /* Its task sees that it is over, and ends. */
    *object_value(&now, "state") = db_textz("stopped");
    *object_value(&now, "note") = db_textz(reason);
    *object_value(&now, "note_zh") = db_textz(arena_printf(op->arena, "由 %s 停止", op->caller->name));
    *object_value(&now, "ended_at") = db_int(clock_now());
    if (!engine_update_row(op, &now, err))
        return false;
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

static bool start_write(struct op *op, void *ctx, struct err *err)
{
    struct object *o = ctx, now;
    bool found;
    if (!engine_load_row(op, &kind_evaluation, o->id, &now, &found, err))
        return false;
    if (!found)
        return err_message(err, ERR_NOT_FOUND, NULL, MESSAGE_EVALUATION_GONE);
    if (!evaluation_is_over(&now))
        return err_message(err, ERR_CONFLICT, "state", MESSAGE_EVALUATION_RUNS);
    int64_t former = object_int(&now, "job");
    if (!evaluation_begin(op, &now, err) || !evaluation_drop_job(op, former, err))
        return false;
    *o = now;
    return true;
}

/* Again, on the truth as it is now; the report stays until there is a new one. */
static bool run_start(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                      int *status, struct err *err)
{
    (void)input;
    (void)status;
    if (!engine_write(op->core, op->caller, op->arena, start_write, o, err))
        return false;
    jobs_wake(op->core->jobs);
    return engine_answer(op, o, out, err);
}

/* --- at another score --- */

static bool parse_report(struct op *op, const struct object *o, yyjson_val **ret, struct err *err)
{
    struct str text;
    if (!evaluation_report(op->core, o, op->arena, &text, err))
        return false;
    *ret = json_parse(op->arena, text, err);
    return *ret != NULL;
}

static bool score_asked(struct op *op, const struct object *o, const struct db_value *v, double *ret,
                        struct err *err)
{
    yyjson_val *report;
    if (v->type == DB_REAL || v->type == DB_INT) {
        *ret = v->type == DB_REAL ? v->r : (double)v->i;
        return true;
    }
    if (!parse_report(op, o, &report, err))
        return false;
    *ret = evaluation_score(report);
    return true;
}

static bool run_at(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                   int *status, struct err *err)
{
    (void)status;
    struct evaluation_details d;
    double score;
    if (!score_asked(op, o, &input[0], &score, err) || !evaluation_details_open(op->core, o, &d, err))
        return false;
    json_object(out);
    json_key(out, "score");
    json_real(out, score);
    json_kint(out, "samples", (int64_t)d.matches->sample_count);
    report_at(d.matches, score, true, out);
    json_object_end(out);
    evaluation_details_close(&d);
    return true;
}

/* --- samples --- */

enum { SORT, KIND, CELL, LABEL, THRESHOLD, AFTER, LIMIT };

static const struct choice sorts[] = {{"worst", {"Worst first", "最差在前"}},
                                      {"best", {"Best first", "最好在前"}},
                                      {"id", {"By id", "按编号"}},
                                      {0}};
static const struct choice sample_kinds[] = {{"all", {"All", "全部"}},
                                             {"mistake", {"With mistakes", "有误报"}},
                                             {"missed", {"With misses", "有漏报"}},
                                             {"right", {"Right", "正确的"}},
                                             {"wrong", {"Wrong", "错误的"}},
                                             {0}};

/* "cat,dog": labels may have commas themselves, so each is tried. "-" stands for none. */
static bool find_cell(const struct matches *m, struct str cell, struct matches_query *q, struct err *err)
{
    for (size_t i = 0; i < cell.n; i++) {
        if (cell.p[i] != ',')
            continue;
        q->cell_truth = matches_label(m, (struct str){cell.p, i});
        q->cell_found = matches_label(m, (struct str){cell.p + i + 1, cell.n - i - 1});
        if (q->cell_truth != SIZE_MAX && q->cell_found != SIZE_MAX)
            return q->cell = true;
    }
    return err_message(err, ERR_INVALID, "cell", MESSAGE_EVALUATION_NO_LABEL, "cell");
}

static bool make_query(const struct matches *m, const struct db_value *input, double score,
                       struct matches_query *q, struct err *err)
{
    struct str kind = input[KIND].s;
    *q = (struct matches_query){.score = score,
                                .label = SIZE_MAX,
                                .order = str_is(input[SORT].s, "best") ? MATCHES_BEST
                                         : str_is(input[SORT].s, "id") ? MATCHES_BY_ID
                                                                       : MATCHES_WORST,
                                .mistakes = str_is(kind, "mistake"),
                                .missed = str_is(kind, "missed"),
                                .right = str_is(kind, "right"),
                                .wrong = str_is(kind, "wrong")};
    if (input[CELL].type == DB_TEXT && !find_cell(m, input[CELL].s, q, err))
        return false;
    if (input[LABEL].type != DB_TEXT)
        return true;
    q->label = matches_label(m, input[LABEL].s);
    return q->label < m->label_count ||
           err_message(err, ERR_INVALID, "label", MESSAGE_EVALUATION_NO_LABEL, "label");
}

static void write_matches(const struct matches *m, const struct matches_sample *s, struct json_out *o)
{
    json_key(o, "matches");
    json_array(o);
    for (uint32_t i = 0; i < s->found_count; i++) {
        const struct matches_found *f = &m->found[s->first_found + i];
        json_object(o);
        json_kint(o, "found", f->place >> 2);
        json_key(o, "truth");
        if (f->truth == MATCHES_NONE)
            json_null(o);
        else
            json_int(o, f->truth);
        json_kz(o, "outcome",
                f->place & MATCHES_HIT       ? "hit"
                : f->place & MATCHES_IGNORED ? "ignored"
                                             : "mistake");
        json_kstr(o, "label", m->labels[f->label]);
        json_key(o, "score");
        json_real(o, (double)f->score);
        json_object_end(o);
    }
    json_array_end(o);
}

static bool write_sample(const struct evaluation_details *d, size_t sample, double score, struct arena *a,
                         struct json_out *o, struct err *err)
{
    static const char *const copied[] = {"file", "width", "height", "split", "truth", "found", "error"};
    const struct matches_sample *s = &d->matches->samples[sample];
    struct matches_outcome n = matches_outcome(d->matches, sample, score);
    struct str text;
    if (!evaluation_details_text(d, sample, a, &text, err))
        return false;
    yyjson_val *v = json_parse(a, text, err);
    if (!v)
        return false;
    json_object(o);
    json_kint(o, "sample", s->id);
    for (size_t i = 0; i < countof(copied); i++)
        if (yyjson_obj_get(v, copied[i])) {
            json_key(o, copied[i]);
            json_value(o, yyjson_obj_get(v, copied[i]));
        }
    json_kint(o, "hits", n.hits);
    json_kint(o, "mistakes", n.mistakes);
    json_kint(o, "missed", n.missed);
    json_key(o, "badness");
    json_real(o, n.badness);
    write_matches(d->matches, s, o);
    json_object_end(o);
    return true;
}

static bool write_page(struct op *op, const struct evaluation_details *d, const struct db_value *input,
                       double score, struct json_out *out, struct err *err)
{
    struct matches_query q;
    size_t n, after = (size_t)input[AFTER].i, limit = (size_t)input[LIMIT].i;
    if (!make_query(d->matches, input, score, &q, err))
        return false;
    size_t *list = matches_pick(d->matches, &q, op->arena, &n);
    json_object(out);
    json_key(out, "items");
    json_array(out);
    for (size_t i = after; i < n && i - after < limit; i++)
        if (!write_sample(d, list[i], score, op->arena, out, err))
            return false;
    json_array_end(out);
    json_kint(out, "total", (int64_t)n);
    json_key(out, "score");
    json_real(out, score);
    json_key(out, "next");
    if (after < n && n - after > limit)
        json_int(out, (int64_t)(after + limit));
    else
        json_null(out);
    json_object_end(out);
    return true;
}

static bool run_samples(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                        int *status, struct err *err)
{
    (void)status;
    struct evaluation_details d;
    double score;
    if (!score_asked(op, o, &input[THRESHOLD], &score, err) || !evaluation_details_open(op->core, o, &d, err))
        return false;
    bool ok = write_page(op, &d, input, score, out, err);
    evaluation_details_close(&d);
    return ok;
}

/* --- the table --- */

#define FIELD_SCORE(called)                                                                                  \
    {                                                                                                        \
        .name = (called), .type = FIELD_REAL, .flags = FIELD_CREATE, .min = 0, .max = 1,                     \
        .title = {"Least score", "最低分数"}, .help = {                                                      \
            "From which on found things count; by default that of the report.",                              \
            "结果计入统计的最低分数，默认与报告相同。"                                   \
        }                                                                                                    \
    }

static const struct field at_fields[] = {FIELD_SCORE("score"), {0}};

static const struct field sample_fields[] = {
    [SORT] = {.name = "sort",
              .type = FIELD_CHOICE,
              .flags = FIELD_CREATE,
              .choices = sorts,
              .fallback = "\"worst\"",
              .title = {"Order", "排序"}},
    [KIND] = {.name = "kind",
              .type = FIELD_CHOICE,
              .flags = FIELD_CREATE,
              .choices = sample_kinds,
              .fallback = "\"all\"",
              .title = {"Which", "范围"}},
    [CELL] = {.name = "cell",
              .type = FIELD_TEXT,
              .flags = FIELD_CREATE,
              .max = 500,
              .title = {"Cell of the confusion", "混淆矩阵单元"},
              .help = {"True label, comma, found label; - stands for none.",
                       "真实标签,识别标签；- 表示无。"}},
    [LABEL] =
        {.name = "label", .type = FIELD_TEXT, .flags = FIELD_CREATE, .max = 200, .title = {"Label", "标签"}},
    [THRESHOLD] = FIELD_SCORE("threshold"),
    [AFTER] = {.name = "after",
               .type = FIELD_INT,
               .flags = FIELD_CREATE,
               .max = INT32_MAX,
               .fallback = "0",
               .title = {"After so many", "跳过数量"}},
    [LIMIT] = {.name = "limit",
               .type = FIELD_INT,
               .flags = FIELD_CREATE,
               .min = 1,
               .max = PAGE_MAX,
               .fallback = "20",
               .title = {"At most", "最多"}},
    {0},
};

const struct action evaluation_actions[] = {
    {.name = "start",
     .permission = "evaluation.start",
     .title = {"Start again", "重新评估"},
     .run = run_start},
    {.name = "stop",
     .permission = "evaluation.stop",
     .title = {"Stop", "停止"},
     .danger = true,
     .run = run_stop},
    {.name = "at",
     .permission = "evaluation.read",
     .read_only = true,
     .fields = at_fields,
     .answer = "EvaluationAt",
     .title = {"At another score", "其他阈值"},
     .run = run_at},
    {.name = "samples",
     .permission = "evaluation.read",
     .read_only = true,
     .fields = sample_fields,
     .answer = "EvaluationSamples",
     .title = {"Samples", "样本"},
     .run = run_samples},
    {.name = "compare",
     .permission = "evaluation.read",
     .read_only = true,
     .fields = evaluation_compare_fields,
     .answer = "EvaluationComparison",
     .title = {"Compare", "比较"},
     .run = evaluation_compare_run},
    {0},
};
