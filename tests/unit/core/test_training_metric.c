/* Numbers out of lines of logs, and the points that come of them. */
#include "core/training/metric.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* What a line says, as text: "12 loss=0.31 acc=0.9"; "-" without a step; "" for nothing. */
static const struct {
    const char *line, *says;
} lines[] = {
    {"step=12 loss=0.31", "12 loss=0.31"},
    {"epoch 3: acc 0.98", "3 acc=0.98"},
    {"{\"step\":4,\"loss\":0.5,\"note\":\"x\",\"ok\":true}", "4 loss=0.5"},
    {"{'loss': 0.5, 'learning_rate': 5e-05, 'epoch': 0.53}", "0.53 loss=0.5 learning_rate=5e-05"},
    {"Epoch 1/10", "1"},
    {"Epoch [2/10], Step [30/600], Loss: 2.19", "30 Loss=2.19"},
    {"32/32 [=====] - 1s 3ms/step - loss: 0.3 - accuracy: 0.9", "- loss=0.3 accuracy=0.9"},
    {"2026-11-16 09:51:30 INFO iter 7 train/loss=1e-3, val_acc: 97.5%", "7 train/loss=0.001 val_acc=97.5"},
    {"global_step: 9 epoch: 2 reward -1.5", "9 reward=-1.5"},
    {"step 5 speed=120 left: 30", "5 speed=120 left=30"},
    {"saved in 3 files at step 100", "100"},
    {"port: 8080", ""},
    {"listening on port 8080, 4 workers", ""},
    {"loss 0.5", ""},
    {"loss=nan", "- (1 not finite)"},
    {"{\"step\": 2, \"loss\": \"NaN\", \"acc\": \"-Infinity\", \"name\": \"x\"}", "2 (2 not finite)"},
    {"status: nan", ""},
    {"loss: nano", ""},
    {"step=1 loss=inf", "1 (1 not finite)"},
    {"step=1 loss=1e999", "1 (1 not finite)"},
    {"loss=0.5x", ""},
    {"loss=0x1f", ""},
    {"a1loss=0.5 step=2", "2 a1loss=0.5"},
    {"", ""},
    {"{}", ""},
    {"{\"loss\":", ""},
    {"[1, 2]", ""},
    {"loss=", ""},
    {"step=", ""},
    {"loss=-.5 f1=+2.", "- loss=-0.5 f1=2"},
};

static void says(struct str line, char *ret, size_t size)
{
    auto_arena struct arena a;
    struct metric_line l;
    arena_init(&a);
    size_t n = 0;
    ret[0] = 0;
    if (metric_parse(&a, line, &l)) {
        n += (size_t)(l.has_step ? snprintf(ret, size, "%g", l.step) : snprintf(ret, size, "-"));
        for (size_t i = 0; i < l.n; i++)
            n += (size_t)snprintf(ret + n, size - n, " " STR_FMT "=%g", STR_ARG(l.value[i].name),
                                  l.value[i].value);
        if (l.not_finite)
            snprintf(ret + n, size - n, " (%u not finite)", l.not_finite);
    }
}

static void test_lines(unused_ok void **state)
{
    char text[512];
    for (size_t i = 0; i < countof(lines); i++) {
        says(str_of(lines[i].line), text, sizeof text);
        if (strcmp(text, lines[i].says) != 0)
            fail_msg("\"%s\" says \"%s\", not \"%s\"", lines[i].line, text, lines[i].says);
    }
}

static void add(struct metric_gathering *g, const char *line, int64_t at)
{
    auto_arena struct arena a;
    struct metric_line l;
    arena_init(&a);
    if (metric_parse(&a, str_of(line), &l))
        metric_gathering_add(g, &l, at);
}

static const struct metric_series *named(const struct metric_gathering *g, const char *name)
{
    const struct metric_series *s = map_get(g->by_name, str_of(name));
    assert_non_null(s);
    return s;
}

static void test_the_last_step_counts(unused_ok void **state)
{
    struct metric_gathering g = {0};
    add(&g, "Epoch 1/10", 1);
    add(&g, "loss: 0.5 - accuracy: 0.25", 2);
    add(&g, "Epoch 2/10", 3);
    add(&g, "loss: 0.125", 4);
    const struct metric_series *loss = named(&g, "loss"), *accuracy = named(&g, "accuracy");
    assert_true(loss->n == 2 && accuracy->n == 1 && g.fresh == 3);
    assert_true(loss->point[0].step == 1 && loss->point[0].at == 2 && loss->point[0].value == 0.5);
    assert_true(loss->point[1].step == 2 && loss->point[1].at == 4 && loss->point[1].value == 0.125);
    assert_true(accuracy->point[0].step == 1 && accuracy->point[0].value == 0.25);
    metric_gathering_release(&g);
}

static void test_without_steps_points_are_counted(unused_ok void **state)
{
    struct metric_gathering g = {0};
    metric_gathering_know(&g, STR("loss"), 5);
    for (int i = 0; i < 3; i++)
        add(&g, "loss=1", i);
    assert_int_equal(g.n, 1);
    assert_true(g.series[0]->point[2].step == 7);
    metric_gathering_clear(&g);
    assert_true(g.fresh == 0 && g.series[0]->n == 0 && g.points == 8);
    add(&g, "loss=1", 3);
    assert_true(g.series[0]->point[0].step == 8);
    metric_gathering_release(&g);
}

static void test_a_gathering_is_bounded(unused_ok void **state)
{
    struct metric_gathering g = {0};
    char line[64];
    for (int i = 0; i < METRIC_SERIES + 100; i++) {
        snprintf(line, sizeof line, "step=1 name%d=2", i);
        add(&g, line, 0);
    }
    assert_int_equal(g.n, METRIC_SERIES);
    g.points = METRIC_POINTS - 1;
    add(&g, "step=2 name1=3", 1);
    add(&g, "step=3 name1=3", 1);
    assert_int_equal(named(&g, "name1")->n, 2);
    metric_gathering_release(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_the_last_step_counts),
        cmocka_unit_test(test_without_steps_points_are_counted),
        cmocka_unit_test(test_a_gathering_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
