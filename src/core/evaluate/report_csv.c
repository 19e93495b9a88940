/* The figures and labels of a report as CSV, for spreadsheets. */
#include "base/json.h"
#include "core/evaluate/evaluate.h"
#include "metric/titles.h"

#include <stdio.h>

/* Quoted where needed. What begins like a formula is a text: spreadsheets would run it. */
static void put_text(struct buf *b, struct str s)
{
    bool formula = s.n && memchr("=+-@\t\r", s.p[0], 6);
    buf_char(b, '"');
    if (formula)
        buf_char(b, '\'');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"')
            buf_char(b, '"');
        buf_char(b, s.p[i]);
    }
    buf_char(b, '"');
}

static void put_value(struct buf *b, yyjson_val *v)
{
    char text[40];
    if (yyjson_is_str(v))
        put_text(b, json_str(v));
    else if (yyjson_is_int(v))
        buf_add(b, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)yyjson_get_sint(v)));
    else if (yyjson_is_num(v))
        buf_add(b, text, (size_t)snprintf(text, sizeof text, "%.6g", yyjson_get_num(v)));
}

static void put_head(struct buf *b, const char *section, const char *const *columns)
{
    buf_z(b, section);
    for (size_t k = 0; columns[k]; k++) {
        buf_char(b, ',');
        buf_z(b, columns[k]);
    }
    buf_z(b, "\r\n");
}

/* zh: the language of titles, the only thing here that is not the same in both. */
static void put_row(struct buf *b, const char *section, yyjson_val *row, const char *const *columns, bool zh)
{
    buf_z(b, section);
    for (size_t k = 0; columns[k]; k++) {
        const struct figure_title *f =
            strcmp(columns[k], "title") == 0 ? figure_title(json_str(yyjson_obj_get(row, "name"))) : NULL;
        buf_char(b, ',');
        if (f)
            put_text(b, str_of(zh ? f->zh : f->en));
        else
            put_value(b, yyjson_obj_get(row, columns[k]));
    }
    buf_z(b, "\r\n");
}

static void put_rows(struct buf *b, const char *section, yyjson_val *rows, const char *const *columns,
                     bool zh)
{
    size_t i, max;
    yyjson_val *row;
    if (yyjson_arr_size(rows) == 0)
        return;
    put_head(b, section, columns);
    yyjson_arr_foreach(rows, i, max, row) put_row(b, section, row, columns, zh);
}

void evaluation_csv(yyjson_val *report, const struct object *o, const char *lang, struct buf *out)
{
    static const char *const figures[] = {"name", "value", "low", "high", "title", NULL};
    static const char *const took[] = {"p50",       "p95",  "samples", "at_a_time",
                                       "processor", "node", "cpus",    NULL};
    static const char *const labels[] = {"label",     "truths", "hits", "mistakes", "missed",
                                         "precision", "recall", "f1",   "AP",       "AP50",
                                         "IoU",       "AUC",    NULL};
    static const char *const cells[] = {"truth", "found", "count", NULL};
    static const char *const sizes[] = {"size", "truths", "hits", "recall", NULL};
    bool zh = strcmp(lang, "zh") == 0;
    auto_arena struct arena a;
    arena_init(&a);
    put_rows(out, "figure", yyjson_obj_get(report, "figures"), figures, zh);
    yyjson_val *latency = evaluation_latency(o, &a);
    if (latency) {
        put_head(out, "latency", took);
        put_row(out, "latency", latency, took, zh);
    }
    put_rows(out, "label", yyjson_obj_get(report, "labels"), labels, zh);
    put_rows(out, "cell", yyjson_obj_get(report, "cells"), cells, zh);
    put_rows(out, "size", yyjson_obj_get(report, "sizes"), sizes, zh);
}
