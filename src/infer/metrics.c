/* GET /metrics: Prometheus' text. */
#include "infer/call.h"

#include <stdio.h>

struct listing {
    struct buf *out;
    struct served **all;
    size_t n;
};

/* One family over all models: value gives the number, of a part where there are several. */
static void family(const struct listing *l, const char *name, const char *type, const char *help,
                   double (*value)(const struct served_part *p))
{
    bool counter = strcmp(type, "counter") == 0;
    metric_family(l->out, name, type, NULL, help);
    for (size_t i = 0; i < l->n; i++)
        for (size_t k = 0; k < l->all[i]->n_parts; k++) {
            const struct served_part *p = &l->all[i]->parts[k];
            const char *labels[] = {"model", p->model, "version", l->all[i]->version, NULL};
            metric_value(l->out, name, counter ? "_total" : "", labels, value(p));
        }
}

static double runs(const struct served_part *p)
{
    return (double)metric_read(&batcher_figures(p->batcher)->runs);
}

static double rows(const struct served_part *p)
{
    return (double)metric_read(&batcher_figures(p->batcher)->rows);
}

static double refused(const struct served_part *p)
{
    return (double)metric_read(&batcher_figures(p->batcher)->refused);
}

static double expired(const struct served_part *p)
{
    return (double)metric_read(&batcher_figures(p->batcher)->expired);
}

static double waiting(const struct served_part *p)
{
    return batcher_waiting(p->batcher);
}

static double shared(const struct served_part *p)
{
    struct gain_figures gain;
    batcher_gain(p->batcher, &gain);
    return (double)gain.rows;
}

/* Of parts whose requests may share runs: what a row costs by the size of the run it is in. */
static void row_times(const struct listing *l)
{
    metric_family(l->out, "ingot_infer_row_seconds", "gauge", "seconds",
                  "Time per row of a run, by up to how many rows it has.");
    for (size_t i = 0; i < l->n; i++)
        for (size_t k = 0; k < l->all[i]->n_parts; k++) {
            const struct served_part *p = &l->all[i]->parts[k];
            struct gain_figures gain;
            batcher_gain(p->batcher, &gain);
            for (size_t s = 0; s < GAIN_SIZES; s++) {
                char rows[8];
                snprintf(rows, sizeof rows, "%zu", (size_t)1 << s);
                const char *labels[] = {"model", p->model, "version", l->all[i]->version, "rows", rows, NULL};
                if (gain.ns[s] > 0)
                    metric_value(l->out, "ingot_infer_row_seconds", "", labels, gain.ns[s] / 1e9);
            }
        }
}

static void requests(const struct listing *l)
{
    static const char *const outcomes[] = {"failure", "success"};
    metric_family(l->out, "ingot_infer_requests", "counter", NULL, "Requests by outcome.");
    for (size_t i = 0; i < l->n; i++)
        for (size_t k = 0; k < countof(outcomes); k++) {
            const char *labels[] = {"model",   l->all[i]->name, "version", l->all[i]->version,
                                    "outcome", outcomes[k],     NULL};
            metric_value(l->out, "ingot_infer_requests", "_total", labels,
                         (double)metric_read(&l->all[i]->figures.count[k]));
        }
}

static void stages(const struct listing *l)
{
    metric_family(l->out, "ingot_infer_stage_seconds", "histogram", "seconds",
                  "How long requests waited, were prepared, run and read.");
    for (size_t i = 0; i < l->n; i++)
        for (size_t s = 0; s < STAGE_COUNT; s++) {
            const char *labels[] = {"model", l->all[i]->name, "version", l->all[i]->version, NULL};
            figures_write_stage(l->out, "ingot_infer_stage_seconds", labels, &l->all[i]->figures,
                                (enum stage)s);
        }
}

static void answers(const struct call *c, struct buf *out)
{
    metric_family(out, "ingot_infer_http_answers", "counter", NULL, "Answers by the class of their status.");
    for (unsigned i = 2; i < countof(c->server->answers); i++) {
        char class[] = {(char)('0' + i), 'x', 'x', 0};
        const char *labels[] = {"status", class, NULL};
        metric_value(out, "ingot_infer_http_answers", "_total", labels,
                     (double)metric_read(&c->server->answers[i]));
    }
}

static void memory(struct buf *out)
{
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    bool known = f && fscanf(f, "%*u %llu", &pages) == 1;
    if (f)
        fclose(f);
    if (!known)
        return;
    metric_family(out, "process_resident_memory_bytes", "gauge", "bytes", "Memory in use.");
    metric_value(out, "process_resident_memory_bytes", "", (const char *const[]){NULL},
                 (double)pages * (double)sysconf(_SC_PAGESIZE));
}

void metrics_serve(struct call *c)
{
    static const struct header type = {{"Content-Type", 12},
                                       {"application/openmetrics-text; version=1.0.0; charset=utf-8", 58}};
    auto_buf struct buf out = {0};
    struct listing l = {.out = &out};
    l.all = models_all(c->server->o.models, c->arena, &l.n);
    requests(&l);
    stages(&l);
    family(&l, "ingot_infer_runs", "counter", "Runs of the graph.", runs);
    family(&l, "ingot_infer_rows", "counter", "Rows that were run.", rows);
    family(&l, "ingot_infer_refused", "counter", "Requests refused as the queue was full.", refused);
    family(&l, "ingot_infer_expired", "counter", "Requests that waited too long.", expired);
    family(&l, "ingot_infer_waiting", "gauge", "Requests in the queue.", waiting);
    family(&l, "ingot_infer_shared_rows", "gauge", "Rows that share a run while that gains; 1: none do.",
           shared);
    row_times(&l);
    for (size_t i = 0; i < l.n; i++)
        models_drop(c->server->o.models, l.all[i]);
    answers(c, &out);
    memory(&out);
    buf_z(&out, "# EOF\n");
    call_answer(c, 200, &type, 1, buf_view(&out));
}
