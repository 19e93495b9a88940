#include "cli/table.h"

#include <ctype.h>

#define BOLD  "\033[1m"
#define FAINT "\033[2m"
#define PLAIN "\033[0m"

void table_begin(struct table *t, struct arena *a, const char **titles, size_t columns, size_t max_width)
{
    *t = (struct table){.arena = a, .columns = columns, .titles = titles, .max_width = max_width};
    t->widths = arena_array(a, size_t, columns);
    for (size_t i = 0; i < columns; i++)
        t->widths[i] = table_width(str_of(titles[i]));
}

/* What must not reach a terminal: control characters, and those that turn the writing direction round. */
static bool harmful(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

static struct str clean(struct arena *a, struct str s)
{
    if (!utf8_valid(s))
        return STR("(no UTF-8)");
    char *out = arena_alloc(a, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n;) {
        size_t from = i;
        uint32_t c = utf8_next(s, &i);
        if (harmful(c)) {
            out[n++] = c == '\n' || c == '\t' ? ' ' : '?';
            continue;
        }
        memcpy(out + n, s.p + from, i - from);
        n += i - from;
    }
    out[n] = 0;
    return (struct str){out, n};
}

static struct str shorten(struct arena *a, struct str s, size_t max)
{
    if (!max || table_width(s) <= max)
        return s;
    size_t end = 0, width = 0;
    for (size_t i = 0; i < s.n;) {
        size_t from = i;
        utf8_next(s, &i);
        size_t w = table_width((struct str){s.p + from, i - from});
        if (width + w > max - 1)
            break;
        width += w;
        end = i;
    }
    char *z = arena_printf(a, "%.*s\u2026", (int)end, s.p);
    return str_of(z);
}

void table_cell(struct table *t, struct str text)
{
    if (t->count == t->cap) {
        size_t more = t->cap ? t->cap * 2 : 64;
        t->cells = arena_grow(t->arena, t->cells, t->cap * sizeof(struct str), more * sizeof(struct str));
        t->cap = more;
    }
    struct str s = shorten(t->arena, clean(t->arena, text), t->max_width);
    size_t column = t->count % t->columns, width = table_width(s);
    if (width > t->widths[column])
        t->widths[column] = width;
    t->cells[t->count++] = s;
}

static void pad(FILE *out, struct str s, size_t width, bool last)
{
    fwrite(s.p, 1, s.n, out);
    for (size_t w = table_width(s); !last && w < width + 2; w++)
        fputc(' ', out);
}

void table_print(struct table *t, FILE *out, bool header, bool colour)
{
    if (header) {
        fputs(colour ? BOLD : "", out);
        for (size_t i = 0; i < t->columns; i++)
            pad(out, str_of(t->titles[i]), t->widths[i], i + 1 == t->columns);
        fputs(colour ? PLAIN "\n" : "\n", out);
    }
    for (size_t i = 0, column = 0; i < t->count; i++) {
        bool last = column + 1 == t->columns;
        pad(out, t->cells[i], t->widths[column], last);
        if (last)
            fputc('\n', out);
        column = last ? 0 : column + 1;
    }
    t->count = 0;
}

static struct str bytes_text(struct arena *a, double v)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t u = 0;
    while (v >= 1024 && u + 1 < countof(units)) {
        v /= 1024;
        u++;
    }
    return str_of(arena_printf(a, v == (double)(int64_t)v ? "%.0f %s" : "%.1f %s", v, units[u]));
}

/* 2026-11-16T09:51:30.123456Z as 2026-11-16 09:51:30. */
static struct str time_text(struct arena *a, struct str s)
{
    if (s.n < 20 || s.p[10] != 'T' || s.p[s.n - 1] != 'Z')
        return s;
    return str_of(arena_printf(a, "%.10s %.8s", s.p, s.p + 11));
}

/* As the API writes times: 2026-11-16T09:51:30.123456Z. */
static bool is_time_text(struct str s)
{
    return s.n == 27 && s.p[4] == '-' && s.p[10] == 'T' && s.p[19] == '.' && s.p[26] == 'Z';
}

static bool is_time(const struct field *f, struct str key)
{
    return f ? f->type == FIELD_TIME : str_is(key, "created_at") || str_is(key, "updated_at");
}

static struct str list_text(struct arena *a, yyjson_val *v)
{
    auto_buf struct buf b = {0};
    size_t i, n;
    yyjson_val *item;
    yyjson_arr_foreach(v, i, n, item)
    {
        if (i)
            buf_z(&b, ", ");
        buf_str(&b, json_str(item));
    }
    return arena_str(a, buf_view(&b));
}

static bool all_texts(yyjson_val *v)
{
    size_t i, n;
    yyjson_val *item;
    yyjson_arr_foreach(v, i, n, item)
    {
        if (!yyjson_is_str(item))
            return false;
    }
    return true;
}

struct str table_value(struct arena *a, yyjson_val *v, const struct field *field)
{
    if (!v || yyjson_is_null(v))
        return STR("-");
    if (yyjson_is_bool(v))
        return yyjson_get_bool(v) ? STR("yes") : STR("no");
    if (yyjson_is_str(v))
        return is_time(field, STR_NULL) ? time_text(a, json_str(v)) : json_str(v);
    if (yyjson_is_num(v) && field && field->unit && strcmp(field->unit, "bytes") == 0)
        return bytes_text(a, yyjson_get_num(v));
    yyjson_val *name = yyjson_is_obj(v) ? yyjson_obj_get(v, "name") : NULL;
    if (name && yyjson_obj_get(v, "id") && yyjson_is_str(name))
        return json_str(name);
    if (yyjson_is_arr(v) && all_texts(v))
        return yyjson_arr_size(v) ? list_text(a, v) : STR("-");
    auto_buf struct buf b = {0};
    struct json_out o;
    json_begin(&o, &b);
    json_value(&o, v);
    return arena_str(a, buf_view(&b));
}

/* "reason_zh" beside "reason". */
static bool is_translation(struct arena *a, yyjson_val *object, struct str key)
{
    return str_ends(key, "_zh") &&
           yyjson_obj_get(object, arena_strz(a, (struct str){key.p, key.n - strlen("_zh")}));
}

void table_items(struct arena *a, FILE *out, yyjson_val *items, bool colour)
{
    yyjson_val *first = yyjson_arr_get_first(items), *key, *v, *row;
    const char **titles = arena_array(a, const char *, yyjson_obj_size(first) + 1);
    struct table t;
    size_t i, n, columns = 0;
    yyjson_obj_foreach(first, i, n, key, v)
    {
        if (!is_translation(a, first, json_str(key)))
            titles[columns++] = arena_strz(a, json_str(key));
    }
    if (columns == 0)
        return;
    table_begin(&t, a, titles, columns, 0);
    yyjson_arr_foreach(items, i, n, row)
    {
        for (size_t k = 0; k < columns; k++) {
            v = yyjson_obj_get(row, titles[k]);
            struct str text = table_value(a, v, NULL);
            table_cell(&t, yyjson_is_str(v) && is_time_text(text) ? time_text(a, text) : text);
        }
    }
    table_print(&t, out, true, colour);
}

void table_object(struct arena *a, FILE *out, yyjson_val *object, const struct kind *kind, bool colour)
{
    size_t i, n, widest = 0;
    yyjson_val *key, *v;
    yyjson_obj_foreach(object, i, n, key, v)
    {
        size_t w = table_width(clean(a, json_str(key)));
        widest = w > widest ? w : widest;
    }
    yyjson_obj_foreach(object, i, n, key, v)
    {
        struct str k = clean(a, json_str(key));
        const struct field *f = kind ? kind_field(kind, k, NULL) : NULL;
        struct str text =
            is_time(f, k) && yyjson_is_str(v) ? time_text(a, json_str(v)) : table_value(a, v, f);
        fputs(colour ? FAINT : "", out);
        pad(out, k, widest, false);
        fputs(colour ? PLAIN : "", out);
        text = clean(a, text);
        fprintf(out, STR_FMT "\n", STR_ARG(text));
    }
}
