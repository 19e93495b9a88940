#include "core/evaluate/latency.h"

#include "base/buf.h"
#include "core/evaluate/evaluate.h"
#include "core/job/job.h"
#include "core/job/placed.h"

void latency_add(struct latency *l, int64_t us)
{
    if (us <= 0)
        return;
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 1024;
        l->us = base_realloc(l->us, l->cap * sizeof *l->us);
    }
    l->us[l->n++] = us;
}

void latency_release(struct latency *l)
{
    free(l->us);
    *l = (struct latency){0};
}

static int upwards(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

/* Milliseconds that so many of hundred samples take at most. */
static double at_most(const struct latency *l, size_t percent)
{
    size_t i = (l->n * percent + 99) / 100;
    return (double)l->us[i ? i - 1 : 0] / 1000;
}

yyjson_val *evaluation_latency(const struct object *o, struct arena *a)
{
    struct err ignored = {0};
    struct str text = object_text(o, "latency");
    yyjson_val *v = text.n ? json_parse(a, text, &ignored) : NULL;
    return yyjson_is_num(yyjson_obj_get(v, "p50")) ? v : NULL;
}

bool latency_write(struct latency *l, const struct found *f, struct op *op, int64_t job, struct str *ret,
                   struct err *err)
{
    struct object o;
    bool found = false;
    auto_buf struct buf text = {0};
    struct json_out out;
    struct str processor;
    *ret = STR_NULL;
    if (!l->n)
        return true;
    if (job && !engine_load_row(op, &kind_job, job, &o, &found, err))
        return false;
    int64_t threads = found_made_with(f, &processor);
    struct placed p = found ? placed_rank(op->arena, object_text(&o, "placement"), 0) : (struct placed){0};
    qsort(l->us, l->n, sizeof *l->us, upwards);
    json_begin(&out, &text);
    json_object(&out);
    json_key(&out, "p50");
    json_real(&out, at_most(l, 50));
    json_key(&out, "p95");
    json_real(&out, at_most(l, 95));
    json_kint(&out, "samples", (int64_t)l->n);
    json_kint(&out, "at_a_time", threads ? threads : 1);
    json_kstr(&out, "processor", processor.n ? processor : STR_NULL);
    json_kz(&out, "node", p.node);
    if (p.known) {
        json_key(&out, "cpus");
        json_real(&out, p.cpus);
    }
    json_object_end(&out);
    *ret = arena_str(op->arena, buf_view(&text));
    return true;
}
