/* Series of points, bounded. */
#include "base/json.h"
#include "core/training/metric.h"

#include <math.h>
#include <stdio.h>

void metric_book_release(struct metric_book *b)
{
    for (size_t i = 0; i < b->n; i++)
        free(b->series[i]);
    *b = (struct metric_book){0};
}

/* NULL when there are too many. */
static struct metric_series *series_of(struct metric_book *b, struct str name)
{
    for (size_t i = 0; i < b->n; i++)
        if (str_is(name, b->series[i]->name))
            return b->series[i];
    if (b->n == METRIC_SERIES || name.n == 0 || name.n > METRIC_NAME)
        return NULL;
    struct metric_series *s = base_zalloc(sizeof *s);
    memcpy(s->name, name.p, name.n);
    s->stride = 1;
    return b->series[b->n++] = s;
}

/* Every stride-th point stays; the newest is there until the next one comes. */
static void series_add(struct metric_series *s, const struct metric_point *p)
{
    bool passing = s->n > 0 && (s->seen - 1) % s->stride != 0;
    if (passing)
        s->n--;
    if (s->n == METRIC_POINTS) {
        for (size_t i = 0; i < METRIC_POINTS / 2; i++)
            s->point[i] = s->point[i * 2];
        s->n = METRIC_POINTS / 2;
        s->stride *= 2;
    }
    s->point[s->n++] = *p;
    s->seen++;
    s->changed = true;
}

void metric_book_add(struct metric_book *b, const struct metric_line *line, int64_t at)
{
    if (line->has_step) {
        b->has_step = true;
        b->step = line->step;
    }
    for (size_t i = 0; i < line->n; i++) {
        struct metric_series *s = series_of(b, line->value[i].name);
        if (!s)
            continue;
        double step = b->has_step ? b->step : (double)s->seen;
        series_add(s, &(struct metric_point){step, at, line->value[i].value});
    }
}

static void write_points(struct json_out *o, const struct metric_series *s)
{
    json_key(o, "points");
    json_array(o);
    for (size_t i = 0; i < s->n; i++) {
        json_array(o);
        json_real(o, s->point[i].step);
        json_int(o, s->point[i].at);
        json_real(o, s->point[i].value);
        json_array_end(o);
    }
    json_array_end(o);
}

void metric_series_write(const struct metric_series *s, struct buf *out)
{
    struct json_out o;
    json_begin(&o, out);
    json_object(&o);
    json_kint(&o, "stride", s->stride);
    json_kint(&o, "seen", s->seen);
    write_points(&o, s);
    json_object_end(&o);
}

bool metric_series_read(struct metric_book *b, struct arena *a, struct str name, struct str json,
                        struct err *err)
{
    yyjson_val *doc = json_parse(a, json, err), *points = yyjson_obj_get(doc, "points"), *p;
    size_t i, max;
    if (!doc)
        return false;
    int64_t stride = yyjson_get_sint(yyjson_obj_get(doc, "stride")),
            seen = yyjson_get_sint(yyjson_obj_get(doc, "seen"));
    struct metric_series *s = series_of(b, name);
    if (!s || stride < 1 || stride > INT64_MAX / 2 || seen < 0 || !yyjson_is_arr(points) ||
        yyjson_arr_size(points) > METRIC_POINTS + 1)
        return err_set(err, ERR_MALFORMED, NULL, "the series " STR_FMT " is broken", STR_ARG(name));
    s->stride = stride;
    s->seen = seen;
    s->n = 0;
    yyjson_arr_foreach(points, i, max, p) s->point[s->n++] =
        (struct metric_point){yyjson_get_num(yyjson_arr_get(p, 0)), yyjson_get_sint(yyjson_arr_get(p, 1)),
                              yyjson_get_num(yyjson_arr_get(p, 2))};
    return true;
}

static int by_name(const void *x, const void *y)
{
    return strcmp((*(struct metric_series *const *)x)->name, (*(struct metric_series *const *)y)->name);
}

void metric_book_write(const struct metric_book *b, struct buf *out)
{
    struct metric_series *order[METRIC_SERIES];
    struct json_out o;
    memcpy(order, b->series, sizeof order);
    if (b->n > 1)
        qsort(order, b->n, sizeof order[0], by_name);
    json_begin(&o, out);
    json_object(&o);
    json_key(&o, "series");
    json_array(&o);
    for (size_t i = 0; i < b->n; i++) {
        json_object(&o);
        json_kz(&o, "name", order[i]->name);
        write_points(&o, order[i]);
        json_object_end(&o);
    }
    json_array_end(&o);
    json_object_end(&o);
}
