/* GET .../evaluations/{id}/report: as JSON, as CSV for spreadsheets, as one HTML file to be sent or printed.
 */
#include "api/rest/uploads.h"
#include "core/evaluate/evaluate.h"
#include "net/url.h"

static const struct format {
    const char *name, *type, *suffix;
} formats[] = {
    {"json", "application/json", NULL},
    {"csv", "text/csv; charset=utf-8", "csv"},
    {"html", "text/html; charset=utf-8", "html"},
};

static bool find_format(struct api_call *call, const struct format **ret, struct err *err)
{
    struct str text;
    *ret = &formats[0];
    if (!request_param(call->request, "format", &text, err))
        return !err->code;
    for (size_t i = 0; i < countof(formats); i++)
        if (str_is(text, formats[i].name)) {
            *ret = &formats[i];
            return true;
        }
    return err_set(err, ERR_INVALID, "format", "format: must be json, csv or html");
}

static bool find_language(struct api_call *call, const char **ret, struct err *err)
{
    struct str text;
    *ret = "en";
    if (!request_param(call->request, "lang", &text, err))
        return !err->code;
    *ret = str_is(text, "zh") ? "zh" : "en";
    return str_is(text, "zh") || str_is(text, "en") ||
           err_set(err, ERR_INVALID, "lang", "lang: must be en or zh");
}

static bool find_report(struct api_call *call, struct object *o, struct str *ret, struct err *err)
{
    int64_t id;
    if (!str_to_i64(call->params[0], &id))
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no such evaluation");
    return engine_get(call->core, &call->caller, &kind_evaluation, 0, id, call->arena, o, err) &&
           evaluation_report(call->core, o, call->arena, ret, err);
}

/* Files are downloaded: a page of a report is never one of the platform's own. */
static void answer_file(struct api_call *call, const struct format *f, const struct object *o,
                        struct str body)
{
    const char *name =
        arena_printf(call->arena, "attachment; filename=\"evaluation-%lld.%s\"", (long long)o->id, f->suffix);
    const struct header headers[] = {
        {STR("content-type"), str_of(f->type)},
        {STR("content-disposition"), str_of(name)},
        {STR("content-security-policy"), STR("sandbox; default-src 'none'; style-src "
                                             "'unsafe-inline'")},
        {STR("x-content-type-options"), STR("nosniff")}};
    respond(call->request, 200, headers, countof(headers), body);
}

static void run_report(struct api_call *call)
{
    struct err err = {0};
    struct object o;
    struct str text;
    const struct format *f;
    const char *lang;
    auto_buf struct buf out = {0};
    if (!find_format(call, &f, &err) || !find_language(call, &lang, &err) ||
        !find_report(call, &o, &text, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    if (!f->suffix) {
        api_answer(call, 200, NULL, 0, text);
        return;
    }
    yyjson_val *report = json_parse(call->arena, text, &err);
    if (!report) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    if (strcmp(f->suffix, "csv") == 0)
        evaluation_csv(report, &o, lang, &out);
    else
        evaluation_html(report, &o, lang, &out);
    answer_file(call, f, &o, arena_str(call->arena, buf_view(&out)));
}

const struct route evaluation_routes[] = {
    {"GET", "/api/v1/evaluations/{evaluation_id}/report", NULL, run_report,
     .summary = "The report of an evaluation; as csv or html it is a file to be downloaded",
     .query = "format lang", .answer = ROUTE_ANSWER("EvaluationReport")},
    {0},
};
