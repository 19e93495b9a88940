/* A report in plain words. */
#include "base/messages_evaluate.h"
#include "core/evaluate/report.h"
#include "core/task/task.h"
#include "metric/titles.h"

#include <math.h>

#define FEW          50 /* samples */
#define LEAST_TRUTHS 5  /* of a label that something is said of */
#define SLICE_LEAST  10 /* samples of a slice that something is said of */
#define SLICE_WORSE  0.1

struct telling {
    yyjson_val *report;
    struct arena *a;
    struct json_out *o;
};

static void say(struct telling *t, struct words w)
{
    json_object(t->o);
    json_kz(t->o, "en", w.en);
    json_kz(t->o, "zh", w.zh);
    json_object_end(t->o);
}

static double number(yyjson_val *v, const char *key)
{
    yyjson_val *n = yyjson_obj_get(v, key);
    return yyjson_is_num(n) ? yyjson_get_num(n) : NAN;
}

static yyjson_val *figure(const struct telling *t, const char *name)
{
    size_t i, max;
    yyjson_val *row;
    yyjson_arr_foreach(yyjson_obj_get(t->report, "figures"), i, max, row)
    {
        if (str_is(json_str(yyjson_obj_get(row, "name")), name) && !isnan(number(row, "value")))
            return row;
    }
    return NULL;
}

static void say_head(struct telling *t)
{
    yyjson_val *right = figure(t, "accuracy"), *text = figure(t, "CER"),
               *total = yyjson_obj_get(t->report, "total");
    if (right)
        say(t, task_name(t->a, MESSAGE_WORDS_RIGHT, number(right, "value") * 100,
                         fmax(0, number(right, "low")) * 100, number(right, "high") * 100));
    else if (text)
        say(t, task_name(t->a, MESSAGE_WORDS_TEXT, number(text, "value") * 100));
    else if (!isnan(number(total, "recall")) && !isnan(number(total, "precision")))
        say(t, task_name(t->a, MESSAGE_WORDS_FINDS, number(total, "recall") * 10,
                         number(total, "precision") * 10, number(t->report, "score")));
}

/* The best and the worst label, unless that many of 10 would be the same. */
static void say_labels(struct telling *t)
{
    size_t i, max;
    yyjson_val *row, *best = NULL, *worst = NULL;
    yyjson_arr_foreach(yyjson_obj_get(t->report, "labels"), i, max, row)
    {
        if (yyjson_get_uint(yyjson_obj_get(row, "truths")) < LEAST_TRUTHS || isnan(number(row, "recall")))
            continue;
        if (!best || number(row, "f1") > number(best, "f1"))
            best = row;
        if (!worst || number(row, "f1") < number(worst, "f1"))
            worst = row;
    }
    if (!best || best == worst || number(best, "f1") <= number(worst, "f1") ||
        round(number(best, "recall") * 10) == round(number(worst, "recall") * 10))
        return;
    struct str b = json_str(yyjson_obj_get(best, "label")), w = json_str(yyjson_obj_get(worst, "label"));
    say(t, task_name(t->a, MESSAGE_WORDS_BEST, STR_ARG(b), number(best, "recall") * 10));
    say(t, task_name(t->a, MESSAGE_WORDS_WORST, STR_ARG(w), number(worst, "recall") * 10));
}

/* The largest cell of each sort of mistake; cells come by their size. */
static void say_cells(struct telling *t)
{
    size_t i, max;
    yyjson_val *cell;
    bool takes = false, misses = false, invents = false;
    yyjson_arr_foreach(yyjson_obj_get(t->report, "cells"), i, max, cell)
    {
        struct str truth = json_str(yyjson_obj_get(cell, "truth")),
                   found = json_str(yyjson_obj_get(cell, "found"));
        long long n = (long long)yyjson_get_uint(yyjson_obj_get(cell, "count"));
        if (truth.p && found.p && !str_eq(truth, found) && !takes) {
            takes = true;
            say(t, task_name(t->a, MESSAGE_WORDS_TAKES, STR_ARG(truth), STR_ARG(found), n));
        } else if (truth.p && !found.p && !misses) {
            misses = true;
            say(t, task_name(t->a, MESSAGE_WORDS_MISSES, STR_ARG(truth), n));
        } else if (!truth.p && found.p && !invents) {
            invents = true;
            say(t, task_name(t->a, MESSAGE_WORDS_INVENTS, STR_ARG(found), n));
        }
    }
}

struct words report_figure(struct str name, struct arena *a)
{
    const struct figure_title *f = figure_title(name);
    const char *as_it_is = f ? NULL : arena_printf(a, "%.*s", STR_ARG(name));
    return f ? (struct words){f->en, f->zh} : (struct words){as_it_is, as_it_is};
}

const struct words *report_word(struct str name)
{
    static const struct {
        const char *name;
        struct words words;
    } table[] = {
        {"split", {"Split", "划分"}}, {"folder", {"Folder", "文件夹"}}, {"attribute", {"Attribute", "属性"}},
        {"small", {"Small", "小"}},   {"medium", {"Medium", "中"}},     {"large", {"Large", "大"}},
    };
    for (size_t i = 0; i < countof(table); i++)
        if (str_is(name, table[i].name))
            return &table[i].words;
    return NULL;
}

/* The part of the samples on which the first main figure is worst. */
static void say_slice(struct telling *t)
{
    static const char *const looked_at[] = {"accuracy", "mAP50", "mAP", "f1"};
    const char *name = NULL;
    size_t i, max;
    yyjson_val *row, *worst = NULL;
    for (size_t k = 0; !name && k < countof(looked_at); k++)
        name = figure(t, looked_at[k]) ? looked_at[k] : NULL;
    if (!name)
        return;
    double all = number(figure(t, name), "value"), least = all - SLICE_WORSE;
    yyjson_arr_foreach(yyjson_obj_get(t->report, "slices"), i, max, row)
    {
        double v = number(yyjson_obj_get(row, "figures"), name);
        if (yyjson_get_uint(yyjson_obj_get(row, "samples")) < SLICE_LEAST || isnan(v) || v > least)
            continue;
        least = v;
        worst = row;
    }
    if (!worst)
        return;
    struct str by = json_str(yyjson_obj_get(worst, "name")), value = json_str(yyjson_obj_get(worst, "value"));
    const struct words *part = by.n ? NULL : report_word(json_str(yyjson_obj_get(worst, "by")));
    if (!by.n)
        by = json_str(yyjson_obj_get(worst, "by"));
    struct str by_zh = part ? str_of(part->zh) : by;
    struct words title = report_figure(str_of(name), t->a);
    struct str en = str_of(title.en), zh = str_of(title.zh);
    say(t, (struct words){
               task_name(t->a, MESSAGE_WORDS_SLICE, STR_ARG(by), STR_ARG(value), STR_ARG(en), least, all).en,
               task_name(t->a, MESSAGE_WORDS_SLICE, STR_ARG(by_zh), STR_ARG(value), STR_ARG(zh), least, all)
                   .zh});
}

void report_words(yyjson_val *report, struct arena *a, struct json_out *o)
{
    struct telling t = {report, a, o};
    long long samples = (long long)yyjson_get_uint(yyjson_obj_get(report, "samples"));
    long long failed = (long long)yyjson_get_uint(yyjson_obj_get(report, "failed"));
    size_t i, max;
    yyjson_val *label;
    json_array(o);
    say_head(&t);
    say_labels(&t);
    say_cells(&t);
    say_slice(&t);
    yyjson_arr_foreach(yyjson_obj_get(yyjson_obj_get(report, "unmatched"), "truth"), i, max, label)
    {
        struct str name = json_str(label);
        if (i < 3)
            say(&t, task_name(a, MESSAGE_WORDS_UNKNOWN, STR_ARG(name)));
    }
    if (failed)
        say(&t, task_name(a, MESSAGE_WORDS_FAILED, failed));
    if (samples < FEW)
        say(&t, task_name(a, MESSAGE_WORDS_FEW, samples));
    json_array_end(o);
}
