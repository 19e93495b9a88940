/* Numbers out of lines of logs, and the series that come of them. */
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
    {"loss=nan", ""},
    {"step=1 loss=inf", "1"},
    {"step=1 loss=1e999", "1"},
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

static void add(struct metric_book *b, const char *line, int64_t at)
{
    auto_arena struct arena a;
    struct metric_line l;
    arena_init(&a);
    if (metric_parse(&a, str_of(line), &l))
        metric_book_add(b, &l, at);
}

static void test_the_last_step_counts(unused_ok void **state)
{
    struct metric_book b = {0};
    auto_buf struct buf out = {0};
    add(&b, "Epoch 1/10", 1);
    add(&b, "loss: 0.5 - accuracy: 0.25", 2);
    add(&b, "Epoch 2/10", 3);
    add(&b, "loss: 0.125", 4);
    metric_book_write(&b, &out);
    assert_string_equal(out.p, "{\"series\":[{\"name\":\"accuracy\",\"points\":[[1,2,0.25]]},"
                               "{\"name\":\"loss\",\"points\":[[1,2,0.5],[2,4,0.125]]}]}");
    metric_book_release(&b);
}

static void test_without_steps_points_are_counted(unused_ok void **state)
{
    struct metric_book b = {0};
    for (int i = 0; i < 3; i++)
        add(&b, "loss=1", i);
    assert_int_equal(b.n, 1);
    assert_true(b.series[0]->point[2].step == 2);
    metric_book_release(&b);
}

static void test_series_are_bounded(unused_ok void **state)
{
    struct metric_book b = {0};
    char line[64];
    const int all = 12345;
    for (int i = 0; i < all; i++) {
        snprintf(line, sizeof line, "step=%d loss=%d", i, i);
        add(&b, line, i);
    }
    struct metric_series *s = b.series[0];
    assert_true(s->n <= METRIC_POINTS + 1 && s->n > METRIC_POINTS / 2);
    assert_true(s->seen == all);
    assert_true(s->point[0].step == 0);
    assert_true(s->point[s->n - 1].step == all - 1);
    for (size_t i = 0; i + 1 < s->n; i++)
        assert_true(s->point[i].step == (double)((int64_t)i * s->stride));
    for (int i = 0; i < 2 * METRIC_SERIES; i++) {
        snprintf(line, sizeof line, "step=1 name%d=2", i);
        add(&b, line, 0);
    }
    assert_int_equal(b.n, METRIC_SERIES);
    metric_book_release(&b);
}

static void test_a_series_reads_back(unused_ok void **state)
{
    auto_arena struct arena a;
    auto_buf struct buf text = {0}, again = {0};
    struct metric_book b = {0}, c = {0};
    struct err err = {0};
    arena_init(&a);
    add(&b, "step=1 loss=0.1", 5);
    metric_series_write(b.series[0], &text);
    assert_true(metric_series_read(&c, &a, STR("loss"), buf_view(&text), &err));
    metric_series_write(c.series[0], &again);
    assert_string_equal(text.p, again.p);
    assert_false(metric_series_read(&c, &a, STR("x"), STR("{\"stride\":0,\"seen\":1,\"points\":[]}"), &err));
    assert_false(metric_series_read(&c, &a, STR("x"), STR("[]"), &err));
    metric_book_release(&b);
    metric_book_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_the_last_step_counts),
        cmocka_unit_test(test_without_steps_points_are_counted),
        cmocka_unit_test(test_series_are_bounded),
        cmocka_unit_test(test_a_series_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
