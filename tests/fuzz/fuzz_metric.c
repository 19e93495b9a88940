/* Lines of logs: whatever comes, names are short and inside, numbers finite, and what is gathered of them is
 * bounded and can be packed. */
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

static void check_gathering(struct arena *a, const struct metric_gathering *g)
{
    size_t points = 0;
    for (size_t i = 0; i < g->n; i++) {
        const struct metric_series *m = g->series[i];
        struct series_batch b = {.kind = "training_instance",
                                 .owner = 1,
                                 .name = str_of(m->name),
                                 .point = m->point,
                                 .n = m->n < SERIES_CHUNK_POINTS ? m->n : SERIES_CHUNK_POINTS};
        struct err err = {0};
        if (m->n && !series_pack(a, &b, 1, &err))
            abort();
        points += m->n;
    }
    if (g->n > METRIC_SERIES || points != g->fresh)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena struct arena a;
    struct metric_gathering got = {0};
    struct str rest = {(const char *)data, size};
    arena_init(&a);
    for (int64_t at = 0; rest.p; at++) {
        struct metric_line line;
        if (metric_parse(&a, str_cut(rest, '\n', &rest), &line)) {
            check_line(&line);
            metric_gathering_add(&got, &line, at);
        }
    }
    check_gathering(&a, &got);
    metric_gathering_release(&got);
    return 0;
}
