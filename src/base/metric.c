#include "base/metric.h"

#include "base/str.h"

#include <math.h>

const struct metric_bound metric_bounds[METRIC_BOUNDS] = {
    {1000, "0.001"},  {2500, "0.0025"}, {5000, "0.005"},    {10000, "0.01"},    {25000, "0.025"},
    {50000, "0.05"},  {100000, "0.1"},  {250000, "0.25"},   {500000, "0.5"},    {1000000, "1.0"},
    {2500000, "2.5"}, {5000000, "5.0"}, {10000000, "10.0"}, {30000000, "30.0"},
};

unsigned metric_shard(void)
{
    static atomic_uint threads;
    static _Thread_local unsigned own; /* 1 and up */
    if (!own)
        own = atomic_fetch_add(&threads, 1) % METRIC_SHARDS + 1;
    return own - 1;
}

void metric_took(struct metric_times *m, uint64_t us)
{
    size_t i = 0;
    while (i < METRIC_BOUNDS && us > metric_bounds[i].us)
        i++;
    unsigned s = metric_shard();
    metric_add(&m->shard[s].bucket[i], 1);
    metric_add(&m->shard[s].sum_us, us);
}

/* --- as OpenMetrics text --- */

void metric_family(struct buf *out, const char *name, const char *type, const char *unit, const char *help)
{
    buf_printf(out, "# TYPE %s %s\n", name, type);
    if (unit)
        buf_printf(out, "# UNIT %s %s\n", name, unit);
    buf_printf(out, "# HELP %s %s\n", name, help);
}

static void add_escaped(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n') {
            buf_z(out, "\\n");
            continue;
        }
        if (*text == '"' || *text == '\\')
            buf_char(out, '\\');
        buf_char(out, *text);
    }
}

/* le: the label of a histogram's bucket, or NULL. */
static void add_labels(struct buf *out, const char *const *labels, const char *le)
{
    char between = '{';
    for (; labels && labels[0]; labels += 2) {
        buf_char(out, between);
        buf_z(out, labels[0]);
        buf_z(out, "=\"");
        add_escaped(out, labels[1]);
        buf_char(out, '"');
        between = ',';
    }
    if (le) {
        buf_printf(out, "%cle=\"%s\"", between, le);
        between = ',';
    }
    if (between == ',')
        buf_char(out, '}');
}

static void add_number(struct buf *out, double v)
{
    buf_printf(out, v == floor(v) && fabs(v) < 1e15 ? " %.0f\n" : " %.17g\n", v);
}

void metric_value(struct buf *out, const char *name, const char *suffix, const char *const *labels, double v)
{
    buf_z(out, name);
    buf_z(out, suffix);
    add_labels(out, labels, NULL);
    add_number(out, v);
}

void metric_times_write(struct buf *out, const char *name, const char *const *labels,
                        const struct metric_times *m)
{
    uint64_t count = 0, sum = 0;
    for (size_t i = 0; i <= METRIC_BOUNDS; i++) {
        for (size_t s = 0; s < METRIC_SHARDS; s++)
            count += metric_read(&m->shard[s].bucket[i]);
        buf_printf(out, "%s_bucket", name);
        add_labels(out, labels, i < METRIC_BOUNDS ? metric_bounds[i].text : "+Inf");
        add_number(out, (double)count);
    }
    for (size_t s = 0; s < METRIC_SHARDS; s++)
        sum += metric_read(&m->shard[s].sum_us);
    metric_value(out, name, "_count", labels, (double)count);
    metric_value(out, name, "_sum", labels, (double)sum / 1e6);
}
