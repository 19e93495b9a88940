#include "infer/figures.h"

#include "base/clock.h"

#include <stdio.h>

const char *const stage_names[STAGE_COUNT] = {"queue", "prepare", "run", "read"};

/* Small graphs run in microseconds: finer than base/metric.h. */
static const struct {
    uint64_t ns;
    const char *text;
} bounds[FIGURES_BOUNDS] = {
    {10000, "0.00001"},  {25000, "0.000025"}, {50000, "0.00005"},  {100000, "0.0001"},
    {250000, "0.00025"}, {500000, "0.0005"},  {1000000, "0.001"},  {2500000, "0.0025"},
    {5000000, "0.005"},  {10000000, "0.01"},  {25000000, "0.025"}, {50000000, "0.05"},
    {100000000, "0.1"},  {500000000, "0.5"},  {2000000000, "2.0"}, {10000000000, "10.0"},
};

void figures_add(struct figures *f, bool ok, uint64_t whole_ns, const uint64_t stages[STAGE_COUNT])
{
    metric_add(&f->count[ok], 1);
    metric_add(&f->ns[ok], whole_ns);
    atomic_store_explicit(&f->last_ms, (uint64_t)clock_now() / 1000, memory_order_relaxed);
    if (!ok)
        return;
    for (size_t s = 0; s < STAGE_COUNT; s++) {
        size_t i = 0;
        while (i < FIGURES_BOUNDS && stages[s] > bounds[i].ns)
            i++;
        metric_add(&f->bucket[s][i], 1);
        metric_add(&f->stage_ns[s], stages[s]);
    }
}

void figures_write_stage(struct buf *out, const char *name, const char *const *labels,
                         const struct figures *f, enum stage s)
{
    const char *with[16];
    uint64_t count = 0;
    size_t n = 0;
    while (n < countof(with) - 5 && labels[n]) {
        with[n] = labels[n];
        n++;
    }
    with[n] = "stage";
    with[n + 1] = stage_names[s];
    with[n + 2] = NULL;
    with[n + 4] = NULL;
    for (size_t i = 0; i <= FIGURES_BOUNDS; i++) {
        count += metric_read(&f->bucket[s][i]);
        with[n + 2] = "le";
        with[n + 3] = i < FIGURES_BOUNDS ? bounds[i].text : "+Inf";
        metric_value(out, name, "_bucket", with, (double)count);
    }
    with[n + 2] = NULL;
    metric_value(out, name, "_count", with, (double)count);
    metric_value(out, name, "_sum", with, (double)metric_read(&f->stage_ns[s]) / 1e9);
}
