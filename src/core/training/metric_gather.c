/* Points by name, bounded. */
#include "core/training/metric.h"

void metric_gathering_release(struct metric_gathering *g)
{
    for (size_t i = 0; i < g->n; i++) {
        free(g->series[i]->name);
        free(g->series[i]->point);
        free(g->series[i]);
    }
    free(g->series);
    if (g->by_name)
        map_free(g->by_name);
    *g = (struct metric_gathering){0};
}

/* NULL when there are too many. */
static struct metric_series *series_of(struct metric_gathering *g, struct str name)
{
    if (!g->by_name)
        g->by_name = map_new();
    struct metric_series *s = map_get(g->by_name, name);
    if (s || g->n == METRIC_SERIES || name.n == 0 || name.n > METRIC_NAME)
        return s;
    if (g->n == g->room) {
        g->room = g->room ? g->room * 2 : 16;
        g->series = base_realloc(g->series, g->room * sizeof *g->series);
    }
    s = base_zalloc(sizeof *s);
    s->name = base_zalloc(name.n + 1);
    memcpy(s->name, name.p, name.n);
    map_set(g->by_name, name, s);
    return g->series[g->n++] = s;
}

void metric_gathering_know(struct metric_gathering *g, struct str name, int64_t points)
{
    struct metric_series *s = series_of(g, name);
    if (!s)
        return;
    s->before = points;
    g->points += points;
}

static void add(struct metric_gathering *g, struct metric_series *s, struct series_point p)
{
    if (g->points >= METRIC_POINTS) {
        g->left[METRIC_TOO_MANY]++;
        return;
    }
    if (s->n == s->room) {
        s->room = s->room ? s->room * 2 : 16;
        s->point = base_realloc(s->point, s->room * sizeof *s->point);
    }
    s->point[s->n++] = p;
    g->points++;
    g->fresh++;
}

void metric_gathering_add(struct metric_gathering *g, const struct metric_line *line, int64_t at)
{
    g->left[METRIC_NOT_FINITE] += line->not_finite;
    g->left[METRIC_LONG_NAME] += line->long_names;
    if (line->has_step) {
        g->left[METRIC_STEP_BACK] += g->has_step && line->step < g->step;
        g->has_step = true;
        g->step = line->step;
    }
    for (size_t i = 0; i < line->n; i++) {
        struct metric_series *s = series_of(g, line->value[i].name);
        if (!s) {
            g->left[METRIC_TOO_MANY]++;
            continue;
        }
        double step = g->has_step ? g->step : (double)(s->before + (int64_t)s->n);
        add(g, s, (struct series_point){at, step, line->value[i].value});
    }
}

void metric_gathering_clear(struct metric_gathering *g)
{
    for (size_t i = 0; i < g->n; i++) {
        g->series[i]->before += (int64_t)g->series[i]->n;
        g->series[i]->n = 0;
    }
    g->fresh = 0;
    memset(g->left, 0, sizeof g->left);
}
