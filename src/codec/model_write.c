#include "base/json.h"
#include "codec/model.h"

#include <math.h>
#include <stdio.h>

enum { NUMBER_MAX = 32 }; /* bytes of a number's text */

/* n / 10^decimals, without zeros at the end of the fraction. */
static char *put_digits(char *out, uint64_t n, int decimals)
{
    char text[NUMBER_MAX];
    char *end = text + sizeof text, *p = end;
    while (decimals && n % 10 == 0) {
        n /= 10;
        decimals--;
    }
    for (int i = 0; n || i <= decimals; i++) {
        if (i == decimals && decimals)
            *--p = '.';
        *--p = (char)('0' + n % 10);
        n /= 10;
    }
    memcpy(out, p, (size_t)(end - p));
    return out + (end - p);
}

/* Most coordinates have two decimals or few more: n / 10^k is the value exactly when the division, which IEEE
 * 754 rounds as reading the decimal text would, gives it back. The rest is tried with 15 to 17 digits. */
static char *put_real(char *out, double v)
{
    double size = v < 0 ? -v : v;
    if (size < 1e9) {
        for (int k = 2; k <= 6; k += 4) {
            double power = k == 2 ? 1e2 : 1e6;
            uint64_t n = (uint64_t)(size * power + 0.5);
            if ((double)n / power != size)
                continue;
            if (v < 0)
                *out++ = '-';
            return put_digits(out, n, k);
        }
    }
    for (int digits = 15; isfinite(v) && digits <= 17; digits++) {
        snprintf(out, NUMBER_MAX, "%.*g", digits, v);
        if (strtod(out, NULL) == v)
            return out + strlen(out);
    }
    memcpy(out, "null", 4);
    return out + 4;
}

void model_write_number(struct buf *b, double v)
{
    char text[NUMBER_MAX + 1];
    buf_add(b, text, (size_t)(put_real(text, v) - text));
}

/* [1,2,3]: room is made once. */
static void write_numbers(struct buf *b, const double *v, size_t n)
{
    buf_reserve(b, (n + 1) * (NUMBER_MAX + 2));
    char *p = b->p + b->n;
    *p++ = '[';
    for (size_t i = 0; i < n; i++) {
        if (i)
            *p++ = ',';
        p = put_real(p, v[i]);
    }
    *p++ = ']';
    *p = 0;
    b->n = (size_t)(p - b->p);
}

void model_write_string(struct buf *b, struct str s)
{
    struct json_out o;
    json_begin(&o, b);
    json_string(&o, s.p ? s : STR(""));
}

static int by_bytes(struct str x, struct str y)
{
    size_t n = x.n < y.n ? x.n : y.n;
    int c = n ? memcmp(x.p, y.p, n) : 0;
    return c ? c : x.n < y.n ? -1 : x.n > y.n;
}

struct member {
    struct str key;
    yyjson_val *value;
};

static int by_key(const void *x, const void *y)
{
    const struct member *a = x, *b = y;
    int c = by_bytes(a->key, b->key);
    return c ? c : a->value < b->value ? -1 : a->value > b->value; /* as they stand in the file */
}

static bool write_object(struct buf *b, yyjson_val *v)
{
    size_t n = yyjson_obj_size(v), i, max;
    auto_free struct member *members = base_alloc((n + 1) * sizeof *members);
    yyjson_val *key, *item;
    yyjson_obj_foreach(v, i, max, key, item) members[i] = (struct member){json_str(key), item};
    qsort(members, n, sizeof *members, by_key);
    bool ok = true;
    buf_char(b, '{');
    for (i = 0; i < n; i++) {
        if (i && str_eq(members[i].key, members[i - 1].key)) {
            ok = false;
            continue;
        }
        if (i)
            buf_char(b, ',');
        model_write_string(b, members[i].key);
        buf_char(b, ':');
        ok = model_write_value(b, members[i].value) && ok;
    }
    buf_char(b, '}');
    return ok;
}

/* The depth is limited by the parser: 64 levels at most. */
bool model_write_value(struct buf *b, yyjson_val *v)
{
    size_t i, max;
    yyjson_val *item;
    bool ok = true;
    if (yyjson_is_obj(v)) {
        return write_object(b, v);
    } else if (yyjson_is_arr(v)) {
        buf_char(b, '[');
        yyjson_arr_foreach(v, i, max, item)
        {
            if (i)
                buf_char(b, ',');
            ok = model_write_value(b, item) && ok;
        }
        buf_char(b, ']');
    } else if (yyjson_is_str(v)) {
        model_write_string(b, json_str(v));
    } else if (yyjson_is_int(v)) {
        struct json_out o;
        json_begin(&o, b);
        json_value(&o, v); /* beyond 2^53 an integer is more than a real */
    } else if (yyjson_is_num(v)) {
        model_write_number(b, yyjson_get_num(v));
    } else {
        buf_z(b, yyjson_is_true(v) ? "true" : yyjson_is_false(v) ? "false" : "null");
    }
    return ok;
}

/* Members of an object in the order of their keys; `first` tracks the comma. */
struct members {
    struct buf *b;
    bool first;
};

static struct members object_begin(struct buf *b)
{
    buf_char(b, '{');
    return (struct members){b, true};
}

static void put_key(struct members *m, const char *key)
{
    if (!m->first)
        buf_char(m->b, ',');
    m->first = false;
    buf_char(m->b, '"');
    buf_z(m->b, key);
    buf_add(m->b, "\":", 2);
}

static void put_number(struct members *m, const char *key, double v)
{
    put_key(m, key);
    model_write_number(m->b, v);
}

static void put_string(struct members *m, const char *key, struct str s)
{
    if (!s.n)
        return;
    put_key(m, key);
    model_write_string(m->b, s);
}

static void put_raw(struct members *m, const char *key, struct str json)
{
    if (!json.n)
        return;
    put_key(m, key);
    buf_str(m->b, json);
}

static void put_numbers(struct members *m, const char *key, const double *v, size_t n)
{
    put_key(m, key);
    write_numbers(m->b, v, n);
}

static void put_points(struct members *m, const struct shape *s)
{
    put_key(m, "points");
    for (uint32_t i = 0; i < s->point_count; i++) {
        buf_char(m->b, i ? ',' : '[');
        write_numbers(m->b, s->points[i], 3);
    }
    buf_char(m->b, ']');
}

static void put_rings(struct members *m, const struct shape *s)
{
    put_key(m, "rings");
    for (uint32_t i = 0; i < s->ring_count; i++) {
        buf_char(m->b, i ? ',' : '[');
        write_numbers(m->b, s->rings[i].xy, (size_t)s->rings[i].count * 2);
    }
    buf_char(m->b, ']');
}

void model_write_shape(struct buf *b, const struct shape *s)
{
    bool box = s->kind == SHAPE_BOX;
    struct members m = object_begin(b);
    if (box && s->angle != 0)
        put_number(&m, "angle", s->angle);
    if (s->has_area)
        put_number(&m, "area", s->area);
    put_raw(&m, "attributes", s->attributes);
    if (s->has_box)
        put_numbers(&m, "box", s->box, 4);
    put_string(&m, "counts", s->counts);
    if (s->crowd)
        put_raw(&m, "crowd", STR("true"));
    if (box)
        put_number(&m, "h", s->h);
    put_string(&m, "id", s->id);
    put_string(&m, "label", s->label);
    if (s->kind == SHAPE_KEYPOINTS)
        put_points(&m, s);
    if (s->ring_count)
        put_rings(&m, s);
    if (s->has_score)
        put_number(&m, "score", s->score);
    if (s->counts.n)
        put_numbers(&m, "size", (double[]){s->size[0], s->size[1]}, 2);
    put_string(&m, "skeleton", s->skeleton);
    put_string(&m, "text", s->text);
    put_string(&m, "type", str_of(shape_kind_names[s->kind]));
    if (box) {
        put_number(&m, "w", s->w);
        put_number(&m, "x", s->x);
        put_number(&m, "y", s->y);
    }
    buf_char(b, '}');
}

void model_write_part(struct buf *b, const struct part *p)
{
    struct members m = object_begin(b);
    put_raw(&m, "attributes", p->attributes);
    put_number(&m, "end", p->end);
    put_string(&m, "id", p->id);
    put_string(&m, "label", p->label);
    if (p->has_score)
        put_number(&m, "score", p->score);
    put_number(&m, "start", p->start);
    put_string(&m, "text", p->text);
    buf_char(b, '}');
}

static void put_parts(struct members *m, const char *key, const struct part *parts, uint32_t count)
{
    if (!count)
        return;
    put_key(m, key);
    for (uint32_t i = 0; i < count; i++) {
        buf_char(m->b, i ? ',' : '[');
        model_write_part(m->b, &parts[i]);
    }
    buf_char(m->b, ']');
}

/* Labels are a set: an insertion sort, moving their scores along. */
static void sort_labels(struct annotation *n)
{
    for (uint32_t i = 1; i < n->label_count; i++) {
        struct str label = n->labels[i];
        double score = n->scores ? n->scores[i] : 0;
        uint32_t k = i;
        for (; k && by_bytes(n->labels[k - 1], label) > 0; k--) {
            n->labels[k] = n->labels[k - 1];
            if (n->scores)
                n->scores[k] = n->scores[k - 1];
        }
        n->labels[k] = label;
        if (n->scores)
            n->scores[k] = score;
    }
}

static void put_labels(struct members *m, const struct annotation *n)
{
    if (!n->label_count)
        return;
    put_key(m, "labels");
    for (uint32_t i = 0; i < n->label_count; i++) {
        buf_char(m->b, i ? ',' : '[');
        model_write_string(m->b, n->labels[i]);
    }
    buf_char(m->b, ']');
}

static void put_scores(struct members *m, const struct annotation *n)
{
    bool any = false;
    for (uint32_t i = 0; n->scores && i < n->label_count; i++) {
        if (isnan(n->scores[i]))
            continue;
        if (!any)
            put_key(m, "scores");
        buf_char(m->b, any ? ',' : '{');
        any = true;
        model_write_string(m->b, n->labels[i]);
        buf_char(m->b, ':');
        model_write_number(m->b, n->scores[i]);
    }
    if (any)
        buf_char(m->b, '}');
}

void model_write(struct buf *b, struct annotation *n)
{
    sort_labels(n);
    struct members m = object_begin(b);
    put_raw(&m, "attributes", n->attributes);
    put_labels(&m, n);
    put_scores(&m, n);
    put_parts(&m, "segments", n->segments, n->segment_count);
    if (n->shape_count) {
        put_key(&m, "shapes");
        for (uint32_t i = 0; i < n->shape_count; i++) {
            buf_char(b, i ? ',' : '[');
            model_write_shape(b, &n->shapes[i]);
        }
        buf_char(b, ']');
    }
    put_parts(&m, "spans", n->spans, n->span_count);
    put_string(&m, "text", n->text);
    buf_char(b, '}');
}

struct str model_text(struct arena *a, struct annotation *n)
{
    auto_buf struct buf b = {0};
    model_write(&b, n);
    return arena_str(a, buf_view(&b));
}
