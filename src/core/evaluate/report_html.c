/* A report as one HTML file that needs nothing else: to be sent, printed or kept. Every text of a person or a
 * model is escaped; there is no script in it, and its policy allows none. */
#include "base/json.h"
#include "core/evaluate/evaluate.h"
#include "core/evaluate/report.h"
#include "metric/titles.h"

#include <stdio.h>

#define ROWS_MAX   200 /* of a table */
#define CURVES_MAX 12

struct page {
    struct buf *b;
    bool zh;
};

static const char style[] =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 "
    "1rem;color:#1c2024;background:#fff}"
    "h1{font-size:1.6rem;margin:0 0 .2rem}h2{font-size:1.15rem;margin:2rem 0 "
    ".6rem}p.sub{color:#60646c;margin:0}"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}"
    "th,td{padding:.3rem .6rem;text-align:right;border-bottom:1px solid #e0e1e6}"
    "th:first-child,td:first-child{text-align:left}th{color:#60646c;font-weight:500}"
    "ul{padding-left:1.2rem}.curves{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0}"
    "figcaption{color:#60646c;font-size:.85rem;text-align:center}"
    "@media print{body{margin:0;max-width:none}h2{break-after:avoid}tr,figure{break-inside:avoid}}";

static void z(struct page *p, const char *text)
{
    buf_z(p->b, text);
}

static void two(struct page *p, const char *en, const char *zh)
{
    buf_z(p->b, p->zh ? zh : en);
}

static void escape(struct page *p, struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        switch (s.p[i]) {
        case '<':
            z(p, "&lt;");
            break;
        case '>':
            z(p, "&gt;");
            break;
        case '&':
            z(p, "&amp;");
            break;
        case '"':
            z(p, "&quot;");
            break;
        case '\'':
            z(p, "&#39;");
            break;
        default:
            buf_char(p->b, s.p[i]);
        }
}

static void put_real(struct page *p, const char *format, double v)
{
    char text[64];
    buf_add(p->b, text, (size_t)snprintf(text, sizeof text, format, v));
}

static void cell(struct page *p, yyjson_val *v)
{
    z(p, "<td>");
    if (yyjson_is_str(v))
        escape(p, json_str(v));
    else if (yyjson_is_int(v))
        put_real(p, "%.0f", yyjson_get_num(v));
    else if (yyjson_is_num(v))
        put_real(p, "%.3f", yyjson_get_num(v));
    else
        z(p, "–");
    z(p, "</td>");
}

struct column {
    const char *key, *en, *zh;
};

static void show_figure(struct page *p, struct str name)
{
    const struct figure_title *f = figure_title(name);
    if (f)
        two(p, f->en, f->zh);
    else
        escape(p, name);
}

static void show_word(struct page *p, struct str name)
{
    const struct words *w = report_word(name);
    if (w)
        two(p, w->en, w->zh);
    else
        escape(p, name);
}

/* Of a column: names that people read otherwise. */
static void show(struct page *p, const struct column *c, yyjson_val *v)
{
    static const struct {
        const char *key;
        void (*show)(struct page *p, struct str name);
    } named[] = {{"name", show_figure}, {"size", show_word}};
    for (size_t i = 0; i < countof(named); i++)
        if (strcmp(c->key, named[i].key) == 0) {
            z(p, "<td>");
            named[i].show(p, json_str(v));
            z(p, "</td>");
            return;
        }
    cell(p, v);
}

static void heading(struct page *p, const char *en, const char *zh)
{
    z(p, "<h2>");
    two(p, en, zh);
    z(p, "</h2>\n");
}

static void table(struct page *p, const char *en, const char *zh, yyjson_val *rows,
                  const struct column *columns)
{
    size_t i, max;
    yyjson_val *row;
    if (yyjson_arr_size(rows) == 0)
        return;
    heading(p, en, zh);
    z(p, "<table><thead><tr>");
    for (const struct column *c = columns; c->key; c++) {
        z(p, "<th>");
        two(p, c->en, c->zh);
        z(p, "</th>");
    }
    z(p, "</tr></thead><tbody>\n");
    yyjson_arr_foreach(rows, i, max, row)
    {
        if (i == ROWS_MAX)
            break;
        z(p, "<tr>");
        for (const struct column *c = columns; c->key; c++)
            show(p, c, yyjson_obj_get(row, c->key));
        z(p, "</tr>\n");
    }
    z(p, "</tbody></table>\n");
}

/* How long the model took, and on what. */
static void latency(struct page *p, yyjson_val *v)
{
    if (!v)
        return;
    yyjson_val *cpus = yyjson_obj_get(v, "cpus");
    double most = yyjson_get_num(yyjson_obj_get(v, "p95"));
    int beside = (int)yyjson_get_num(yyjson_obj_get(v, "at_a_time"));
    z(p, "<p>");
    two(p, "Time per sample: ", "单样本耗时：");
    put_real(p, p->zh ? "%.1f 毫秒，" : "%.1f ms, ", yyjson_get_num(yyjson_obj_get(v, "p50")));
    put_real(p, p->zh ? "95%% 在 %.1f 毫秒以内" : "95%% within %.1f ms", most);
    if (yyjson_is_num(cpus))
        put_real(p, p->zh ? "；%.4g 个 CPU" : "; CPUs: %.4g", yyjson_get_num(cpus));
    static const char *const where[] = {"processor", "node"};
    for (size_t i = 0; i < countof(where); i++)
        if (json_str(yyjson_obj_get(v, where[i])).n) {
            two(p, ", ", "，");
            escape(p, json_str(yyjson_obj_get(v, where[i])));
        }
    if (beside > 1)
        put_real(p, p->zh ? "，同时处理 %.0f 个" : ", %.0f at a time", beside);
    z(p, "</p>\n");
}

#define SLICE_FIGURES 4 /* columns of them */

static void slice_row(struct page *p, yyjson_val *row, yyjson_val *first)
{
    size_t i, max;
    yyjson_val *key, *ignored, *name = yyjson_obj_get(row, "name");
    z(p, "<tr><td>");
    if (yyjson_is_str(name))
        escape(p, json_str(name));
    else
        show_word(p, json_str(yyjson_obj_get(row, "by")));
    z(p, "</td>");
    cell(p, yyjson_obj_get(row, "value"));
    cell(p, yyjson_obj_get(row, "samples"));
    yyjson_obj_foreach(first, i, max, key, ignored)
    {
        if (i < SLICE_FIGURES)
            cell(p, yyjson_obj_get(yyjson_obj_get(row, "figures"), yyjson_get_str(key)));
    }
    z(p, "</tr>\n");
}

/* Parts of the samples by themselves, with the figures that the first of them has. */
static void slices(struct page *p, yyjson_val *rows)
{
    size_t i, max;
    yyjson_val *row, *key, *ignored, *first = yyjson_obj_get(yyjson_arr_get_first(rows), "figures");
    if (yyjson_arr_size(rows) == 0)
        return;
    heading(p, "By subset", "按数据分组");
    z(p, "<table><thead><tr><th>");
    two(p, "Subset", "分组");
    z(p, "</th><th>");
    two(p, "Value", "取值");
    z(p, "</th><th>");
    two(p, "Samples", "样本数");
    z(p, "</th>");
    yyjson_obj_foreach(first, i, max, key, ignored)
    {
        if (i == SLICE_FIGURES)
            break;
        z(p, "<th>");
        show_figure(p, json_str(key));
        z(p, "</th>");
    }
    z(p, "</tr></thead><tbody>\n");
    yyjson_arr_foreach(rows, i, max, row)
    {
        if (i == ROWS_MAX)
            break;
        slice_row(p, row, first);
    }
    z(p, "</tbody></table>\n");
}

static void words(struct page *p, yyjson_val *list)
{
    size_t i, max;
    yyjson_val *w;
    z(p, "<ul>");
    yyjson_arr_foreach(list, i, max, w)
    {
        z(p, "<li>");
        escape(p, json_str(yyjson_obj_get(w, p->zh ? "zh" : "en")));
        z(p, "</li>");
    }
    z(p, "</ul>\n");
}

/* x and y are 0 to 1; the picture is 220 x 180 with a frame. */
static void draw(struct page *p, yyjson_val *points, const char *x_title, const char *y_title,
                 struct str label)
{
    size_t i, max;
    yyjson_val *point;
    z(p,
      "<figure><svg width=\"240\" height=\"200\" viewBox=\"0 0 240 200\" role=\"img\"><rect x=\"24\" y=\"8\" "
      "width=\"208\" height=\"168\" fill=\"none\" stroke=\"#cdced6\"/><polyline fill=\"none\" "
      "stroke=\"#3e63dd\" "
      "stroke-width=\"1.5\" points=\"");
    yyjson_arr_foreach(points, i, max, point)
    {
        put_real(p, "%.1f,", 24 + 208 * yyjson_get_num(yyjson_arr_get(point, 0)));
        put_real(p, "%.1f ", 176 - 168 * yyjson_get_num(yyjson_arr_get(point, 1)));
    }
    z(p, "\"/><text x=\"128\" y=\"194\" font-size=\"11\" text-anchor=\"middle\" fill=\"#60646c\">");
    z(p, x_title);
    z(p, "</text><text x=\"14\" y=\"92\" font-size=\"11\" text-anchor=\"middle\" fill=\"#60646c\" "
         "transform=\"rotate(-90 14 92)\">");
    z(p, y_title);
    z(p, "</text></svg><figcaption>");
    if (label.p)
        escape(p, label);
    else
        two(p, "All labels", "全部标签");
    z(p, "</figcaption></figure>\n");
}

static void curves(struct page *p, yyjson_val *list, const char *key, const char *en, const char *zh,
                   const char *x_title, const char *y_title)
{
    size_t i, max, drawn = 0;
    yyjson_val *c;
    yyjson_arr_foreach(list, i, max, c)
    {
        yyjson_val *points = yyjson_obj_get(c, key);
        if (yyjson_arr_size(points) < 2 || drawn == CURVES_MAX)
            continue;
        if (drawn++ == 0) {
            heading(p, en, zh);
            z(p, "<div class=\"curves\">\n");
        }
        draw(p, points, x_title, y_title, json_str(yyjson_obj_get(c, "label")));
    }
    if (drawn)
        z(p, "</div>\n");
}

static void head(struct page *p, yyjson_val *report, const struct object *o)
{
    z(p, "<!doctype html>\n<html lang=\"");
    z(p, p->zh ? "zh" : "en");
    z(p, "\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
         "'unsafe-inline'\">"
         "<title>");
    escape(p, object_text(o, "name"));
    z(p, "</title><style>");
    z(p, style);
    z(p, "</style></head><body>\n<h1>");
    escape(p, object_text(o, "name"));
    z(p, "</h1>\n<p class=\"sub\">");
    escape(p, json_str(yyjson_obj_get(report, "type")));
    z(p, " · ");
    put_real(p, "%.0f ", yyjson_get_num(yyjson_obj_get(report, "samples")));
    two(p, "samples", "个样本");
    z(p, "</p>\n");
}

void evaluation_html(yyjson_val *report, const struct object *o, const char *lang, struct buf *out)
{
    static const struct column figures[] = {{"name", "Metric", "指标"},
                                            {"value", "Value", "数值"},
                                            {"low", "At least", "下限"},
                                            {"high", "At most", "上限"},
                                            {0}};
    static const struct column labels[] = {{"label", "Label", "标签"},
                                           {"truths", "Actual", "真实数"},
                                           {"hits", "Correct", "正确"},
                                           {"mistakes", "Wrong", "错误"},
                                           {"missed", "Missed", "遗漏"},
                                           {"precision", "Precision", "精确率"},
                                           {"recall", "Recall", "召回率"},
                                           {"f1", "F1", "F1"},
                                           {0}};
    static const struct column cells[] = {
        {"truth", "Actual", "真实"}, {"found", "Predicted", "识别为"}, {"count", "Times", "次数"}, {0}};
    static const struct column sizes[] = {{"size", "Size", "大小"},
                                          {"truths", "Actual", "真实数"},
                                          {"hits", "Correct", "正确"},
                                          {"recall", "Recall", "召回率"},
                                          {0}};
    auto_arena struct arena a;
    arena_init(&a);
    struct page p = {out, strcmp(lang, "zh") == 0};
    yyjson_val *list = yyjson_obj_get(report, "curves");
    head(&p, report, o);
    words(&p, yyjson_obj_get(report, "words"));
    table(&p, "Metrics", "指标", yyjson_obj_get(report, "figures"), figures);
    latency(&p, evaluation_latency(o, &a));
    table(&p, "By label", "按标签", yyjson_obj_get(report, "labels"), labels);
    curves(&p, list, "precision", "Precision and recall", "精确率与召回率", p.zh ? "召回率" : "recall",
           p.zh ? "精确率" : "precision");
    curves(&p, list, "roc", "ROC", "ROC", p.zh ? "误报率" : "false positives",
           p.zh ? "命中率" : "true positives");
    table(&p, "Confusion", "混淆", yyjson_obj_get(report, "cells"), cells);
    table(&p, "By size", "按大小", yyjson_obj_get(report, "sizes"), sizes);
    slices(&p, yyjson_obj_get(report, "slices"));
    buf_z(out, "</body></html>\n");
}
