/* Lines of logs: whatever comes, names are short and inside, numbers finite, and a book stays bounded and
 * reads back what it wrote. */
#include "base/json.h"
#include "core/training/metric.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_line(const struct metric_line *l)
{
    if (l->n > METRIC_LINE || (l->has_step && !isfinite(l->step)))
        abort();
    for (size_t i = 0; i < l->n; i++)
        if (!isfinite(l->value[i].value) || l->value[i].name.n == 0 || l->value[i].name.n > METRIC_NAME)
            abort();
}

static void check_book(struct arena *a, struct metric_book *b)
{
    for (size_t i = 0; i < b->n; i++) {
        auto_buf struct buf once = {0}, twice = {0};
        struct metric_book copy = {0};
        struct err err = {0};
        metric_series_write(b->series[i], &once);
        if (b->series[i]->n > METRIC_POINTS + 1 ||
            !metric_series_read(&copy, a, str_of(b->series[i]->name), buf_view(&once), &err))
            abort();
        metric_series_write(copy.series[0], &twice);
        if (!str_eq(buf_view(&once), buf_view(&twice)))
            abort();
        metric_book_release(&copy);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena struct arena a;
    struct metric_book book = {0};
    struct str rest = {(const char *)data, size};
    arena_init(&a);
    for (int64_t at = 0; rest.p; at++) {
        struct metric_line line;
        if (metric_parse(&a, str_cut(rest, '\n', &rest), &line)) {
            check_line(&line);
            metric_book_add(&book, &line, at);
        }
    }
    check_book(&a, &book);
    metric_book_release(&book);
    return 0;
}
