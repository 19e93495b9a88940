#include "core/serve/traffic_past.h"

#include "base/clock.h"

#define SECONDS   7200
#define SECOND_US 1000000

/* A second in which something happened. */
struct second {
    int64_t at;
    uint32_t class[SERVE_CLASSES];
    uint32_t p50, p95, p99; /* us */
};

struct traffic_past {
    struct traffic_total last;
    struct second *ring;
    size_t cap, first, n;
};

struct traffic_past *traffic_past_new(void)
{
    return base_zalloc(sizeof(struct traffic_past));
}

void traffic_past_free(struct traffic_past *p)
{
    if (p)
        free(p->ring);
    free(p);
}

static const struct second *second_at(const struct traffic_past *p, size_t i)
{
    return &p->ring[(p->first + i) % p->cap];
}

/* Grows by need up to SECONDS, then the oldest goes. */
static struct second *next_second(struct traffic_past *p)
{
    if (p->n == p->cap && p->cap < SECONDS) {
        /* first is 0 as long as it grows */
        p->cap = p->cap ? p->cap * 2 : 64;
        p->cap = p->cap > SECONDS ? SECONDS : p->cap;
        p->ring = base_realloc(p->ring, p->cap * sizeof *p->ring);
    } else if (p->n == p->cap) {
        p->first = (p->first + 1) % p->cap;
        p->n--;
    }
    return &p->ring[(p->first + p->n++) % p->cap];
}

void traffic_past_roll(struct traffic_past *p, const struct traffic_total *t, int64_t now)
{
    struct judge_side d;
    uint64_t any = 0;
    for (int c = 0; c < SERVE_CLASSES; c++)
        any |= t->class[c] - p->last.class[c];
    if (!any)
        return;
    judge_minus(&t->side, &p->last.side, &d);
    struct second *s = next_second(p);
    *s = (struct second){.at = now,
                         .p50 = (uint32_t)judge_quantile(&d, 0.5),
                         .p95 = (uint32_t)judge_quantile(&d, 0.95),
                         .p99 = (uint32_t)judge_quantile(&d, 0.99)};
    for (int c = 0; c < SERVE_CLASSES; c++)
        s->class[c] = (uint32_t)(t->class[c] - p->last.class[c]);
    p->last = *t;
}

/* --- drawing --- */

struct step {
    int64_t at;
    uint64_t class[SERVE_CLASSES], requests;
    double p50, p95, p99; /* sums, weighted by requests */
};

static void add_second(struct step *t, const struct second *s)
{
    uint64_t n = 0;
    for (int c = 0; c < SERVE_CLASSES; c++) {
        t->class[c] += s->class[c];
        n += s->class[c];
    }
    t->requests += n;
    t->p50 += (double)s->p50 * (double)n;
    t->p95 += (double)s->p95 * (double)n;
    t->p99 += (double)s->p99 * (double)n;
}

static void write_step(const struct step *t, struct json_out *o)
{
    char text[CLOCK_TEXT_MAX];
    double n = (double)t->requests * 1000; /* to ms */
    if (!t->requests)
        return;
    json_object(o);
    json_kz(o, "at", clock_format(t->at, text));
    json_kint(o, "requests", (int64_t)t->requests);
    json_key(o, "classes");
    json_object(o);
    for (int c = 0; c < SERVE_CLASSES; c++)
        json_kint(o, serve_class_names[c], (int64_t)t->class[c]);
    json_object_end(o);
    json_key(o, "p50_ms");
    json_real(o, t->p50 / n);
    json_key(o, "p95_ms");
    json_real(o, t->p95 / n);
    json_key(o, "p99_ms");
    json_real(o, t->p99 / n);
    json_object_end(o);
}

void traffic_past_write(const struct traffic_past *p, int64_t from, int64_t to, int64_t points,
                        struct json_out *o)
{
    int64_t width = ((to - from) / points / SECOND_US + 1) * SECOND_US;
    struct step t = {0};
    json_array(o);
    for (size_t i = 0; i < p->n; i++) {
        const struct second *s = second_at(p, i);
        int64_t at = from + (s->at - from) / width * width;
        if (s->at < from || s->at > to)
            continue;
        if (t.at != at) {
            write_step(&t, o);
            t = (struct step){.at = at};
        }
        add_second(&t, s);
    }
    write_step(&t, o);
    json_array_end(o);
}
