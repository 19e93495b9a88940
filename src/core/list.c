#include "core/access.h"
#include "core/filter.h"
#include "core/list_own.h"
#include "core/row.h"
#include "core/rule.h"
#include "core/show.h"

#include <inttypes.h>
#include <stdio.h>

#define LIMIT_DEFAULT 20
#define LIMIT_MAX     200
#define Q_MAX         200 /* characters */

static const struct field updated_at = {.name = "updated_at", .type = FIELD_TIME};

static bool not_sortable(struct str name, struct err *err)
{
    char shown[RULE_SHORT];
    return err_set(err, ERR_INVALID, "sort", "sort: %s is not a field to sort by",
                   rule_short(utf8_valid(name) ? name : STR("?"), shown));
}

static const struct field *search_field(const struct kind *k)
{
    size_t field[SEARCH_FIELDS_MAX];
    return search_fields(k, field) ? &k->fields[field[0]] : NULL;
}

static bool side_order(const struct kind *k, const struct list_query *q, struct str name, struct arena *a,
                       struct order *o)
{
    static const struct field number = {.name = "number", .type = FIELD_REAL},
                              text = {.name = "text", .type = FIELD_TEXT};
    struct side *s = arena_new(a, struct side);
    *s = (struct side){.kind = k, .project = q->project, .parent = q->parent};
    s->of = side_of(k, name, &s->name);
    if (!s->of)
        return false;
    o->side = s;
    o->column = side_column(s->of);
    o->field = s->of->number ? &number : &text;
    return true;
}

static bool parse_order(const struct kind *k, const struct list_query *q, bool search, struct arena *a,
                        struct order *ret, struct err *err)
{
    struct order o = {.text = q->sort};
    if (!q->sort.n) {
        const struct field *searched = search ? search_field(k) : NULL;
        o.text = searched ? str_of(searched->name) : STR("-id");
    }
    struct str name = o.text;
    if (name.p[0] == '-') {
        o.down = true;
        name = (struct str){name.p + 1, name.n - 1};
    }
    /* Objects get their id and created_at in one go: both orders are the same, and one index does. */
    if (str_is(name, "id") || str_is(name, "created_at")) {
        o.never_null = true;
    } else if (str_is(name, "updated_at")) {
        o.column = "updated_at";
        o.field = &updated_at;
        o.never_null = true;
    } else if (!side_order(k, q, name, a, &o)) {
        o.field = kind_field(k, name, NULL);
        bool sortable = o.field && o.field->flags & FIELD_SORT && !(o.field->flags & FIELD_VIRTUAL);
        /* Without sort=, the first searched field orders, sortable or not: few matches are sorted here. */
        if (!o.field || (!sortable && q->sort.n))
            return not_sortable(name, err);
        o.column = o.field->name;
    }
    *ret = o;
    return true;
}

bool list_conditions(struct core *core, const struct caller *c, const struct kind *k,
                     const struct list_query *q, struct arena *a, struct listing *ret, struct sql *out,
                     struct err *err)
{
    sql_add(out, " WHERE ");
    if (!access_list(core, c, k, q, a, out, err))
        return false;
    ret->where = out;
    ret->scope_text = out->text.n;
    ret->scope_args = out->n;
    if (q->mine && k->scope != SCOPE_OWN) {
        sql_and(out);
        sql_add(out, "\"created_by\"=");
        sql_arg(out, db_int(c->user));
    }
    if (k->listed && str_find(q->filter, str_of(k->listed_by)) < 0) {
        sql_and(out);
        sql_add(out, k->listed(a));
    }
    return !q->filter.n || filter_parse(a, k, q->filter, out, err);
}

bool list_words(const struct kind *k, struct str q, struct arena *a, struct search_words *ret,
                struct err *err)
{
    if (!q.n)
        return true;
    if (k && !search_field(k))
        return err_set(err, ERR_INVALID, "q", "q: a %s cannot be searched by text", k->title.en);
    if (!utf8_valid(q) || memchr(q.p, 0, q.n))
        return err_set(err, ERR_INVALID, "q", "q: is not valid UTF-8");
    if (utf8_count(q) > Q_MAX)
        return err_set(err, ERR_INVALID, "q", "q: has %zu characters; it may have %d", utf8_count(q), Q_MAX);
    *ret = search_words_of(a, q);
    return !ret->too_many || err_set(err, ERR_INVALID, "q", "q: has more than %d words", SEARCH_WORDS_MAX);
}

static size_t parts_of(const struct order *o, const struct cursor *after, struct part ret[2])
{
    if (!o->column || o->never_null) {
        ret[0] = (struct part){false, after};
        return 1;
    }
    bool in_nulls = after && after->value.type == DB_NULL;
    /* Upwards null comes first, downwards last; an object without the other table's value is always last: the
     * least loss is looked for among the runs that have one. */
    bool last = o->down || o->side;
    if (!after) {
        ret[0] = (struct part){!last, NULL};
        ret[1] = (struct part){last, NULL};
        return 2;
    }
    ret[0] = (struct part){in_nulls, after};
    ret[1] = (struct part){!in_nulls, NULL};
    return in_nulls == last ? 1 : 2;
}

static void without_empty_where(struct sql *s)
{
    if (!str_ends(buf_view(&s->text), " WHERE "))
        return;
    s->text.n -= strlen(" WHERE ");
    s->text.p[s->text.n] = 0;
}

void list_range(const struct order *o, const struct part *p, struct sql *s)
{
    const char *than = o->down ? "<" : ">", *id = o->side && !p->nulls ? o->side->of->object : "id";
    if (o->side && p->nulls) {
        side_without(o->side, s);
    } else if (o->column && !o->never_null) {
        sql_and(s);
        buf_printf(&s->text, "\"%s\" IS%s NULL", o->column, p->nulls ? "" : " NOT");
    }
    if (p->after) {
        sql_and(s);
        if (o->column && !p->nulls) {
            buf_printf(&s->text, "(\"%s\",\"%s\")%s(", o->column, id, than);
            sql_arg(s, p->after->value);
            sql_add(s, ",");
            sql_arg(s, db_int(p->after->id));
            sql_add(s, ")");
        } else {
            buf_printf(&s->text, "\"id\"%s", than);
            sql_arg(s, db_int(p->after->id));
        }
    }
    without_empty_where(s);
}

void list_order(const struct order *o, const struct part *p, int64_t limit, struct sql *s)
{
    const char *dir = o->down ? " DESC" : "";
    if (o->column && !p->nulls)
        buf_printf(&s->text, " ORDER BY \"%s\"%s,\"%s\"%s", o->column, dir,
                   o->side ? o->side->of->object : "id", dir);
    else
        buf_printf(&s->text, " ORDER BY \"id\"%s", dir);
    sql_add(s, " LIMIT ");
    sql_arg(s, db_int(limit));
}

static void part_sql(const struct listing *l, const struct part *p, int64_t limit, struct sql *s)
{
    if (l->order->side && !p->nulls) {
        row_columns(s, l->kind);
        buf_printf(&s->text, ",\"%s\"", l->order->column);
        side_from(l->order->side, s);
    } else {
        row_select(s, l->kind);
        without_empty_where(s);
    }
    sql_append(s, l->where);
    list_range(l->order, p, s);
    list_order(l->order, p, limit, s);
}

static bool read_part(struct db_conn *conn, const struct listing *l, const struct part *p, size_t limit,
                      struct db_rows *ret, struct err *err)
{
    auto_sql struct sql s;
    sql_init(&s);
    part_sql(l, p, (int64_t)limit, &s);
    return conn_query(conn, l->arena, s.text.p, sql_args(&s), ret, err);
}

static bool read_page(struct db_conn *conn, const struct listing *l, const struct cursor *after, size_t limit,
                      struct page *ret, struct err *err)
{
    struct part parts[2];
    size_t count = parts_of(l->order, after, parts);
    ret->objects = arena_array(l->arena, struct object, limit + 1);
    ret->value = arena_array(l->arena, struct db_value, limit + 1);
    for (size_t i = 0; i < count && ret->n <= limit; i++) {
        struct db_rows rows;
        if (!read_part(conn, l, &parts[i], limit + 1 - ret->n, &rows, err))
            return false;
        for (size_t r = 0; r < rows.n; r++) {
            const struct db_row *row = &rows.row[r];
            ret->value[ret->n] = l->order->side && !parts[i].nulls ? row->v[rows.columns - 1] : db_null();
            ret->objects[ret->n++] = row_read(l->arena, l->kind, row);
        }
    }
    ret->more = ret->n > limit;
    if (ret->more)
        ret->n = limit;
    return true;
}

static bool read_total(struct db_conn *conn, const struct listing *l, struct page *ret, struct err *err)
{
    auto_sql struct sql s;
    sql_init(&s);
    buf_printf(&s.text, "SELECT count(*) FROM \"%s\"", l->kind->table);
    sql_append(&s, l->where);
    without_empty_where(&s);
    struct db_row row;
    bool found;
    if (!conn_query_one(conn, l->arena, s.text.p, sql_args(&s), &row, &found, err))
        return false;
    ret->total = found ? row.v[0].i : 0;
    return true;
}

/* What a cursor must say again: the order, and what is searched for. */
static struct str cursor_order(struct arena *a, const struct order *o, struct str q, bool unsorted)
{
    if (!q.n)
        return o->text;
    return str_of(arena_printf(a, STR_FMT "?" STR_FMT, STR_ARG(unsorted ? STR("~") : o->text), STR_ARG(q)));
}

/* A search may have been answered unsorted before. */
static bool read_cursor(const struct list_query *q, const struct order *o, struct arena *a,
                        struct cursor *ret, bool *ret_unsorted, struct err *err)
{
    struct err ignored = {0};
    *ret_unsorted = q->q.n && cursor_parse(a, q->cursor, cursor_order(a, o, q->q, true), NULL, ret, &ignored);
    return *ret_unsorted ||
           cursor_parse(a, q->cursor, cursor_order(a, o, q->q, false), o->column ? o->field : NULL, ret, err);
}

static const char *next_cursor(struct arena *a, const struct order *o, struct str q, const struct page *p)
{
    if (!p->more)
        return NULL;
    const struct object *last = &p->objects[p->n - 1];
    struct cursor c = {.sort = cursor_order(a, o, q, p->unsorted), .id = last->id};
    if (p->unsorted)
        return cursor_text(a, &c);
    if (o->side)
        c.value = p->value[p->n - 1];
    else if (o->column)
        c.value = o->field == &updated_at ? db_int(last->updated_at) : *object_value(last, o->column);
    return cursor_text(a, &c);
}

/* What was found in each object of the page. */
static void write_matches(const struct listing *l, const struct page *p, struct json_out *json)
{
    size_t field[SEARCH_FIELDS_MAX], n = search_fields(l->kind, field);
    struct search_named texts[SEARCH_FIELDS_MAX];
    json_kbool(json, "sorted", !p->unsorted);
    json_key(json, "matches");
    json_array(json);
    for (size_t i = 0; i < p->n; i++) {
        for (size_t f = 0; f < n; f++)
            texts[f] =
                (struct search_named){l->kind->fields[field[f]].name, p->objects[i].values[field[f]].s};
        search_show(l->arena, &l->words, texts, n, json);
    }
    json_array_end(json);
}

static bool write_page(struct core *core, const struct caller *c, const struct listing *l, struct str q,
                       const struct page *p, bool count, struct buf *out, struct err *err)
{
    struct json_out json;
    json_begin(&json, out);
    json_object(&json);
    json_key(&json, "items");
    json_array(&json);
    if (!show_objects(core, c, p->objects, p->n, l->arena, &json, err))
        return false;
    json_array_end(&json);
    json_kz(&json, "next", next_cursor(l->arena, l->order, q, p));
    if (count && p->total >= 0)
        json_kint(&json, "total", p->total);
    else if (count)
        json_kz(&json, "total", NULL);
    if (l->words.n)
        write_matches(l, p, &json);
    json_object_end(&json);
    return true;
}

bool engine_list(struct core *core, const struct caller *c, const struct kind *k, const struct list_query *q,
                 struct arena *a, struct buf *out, struct err *err)
{
    struct order order;
    struct cursor at = {0}, *after = q->cursor.n ? &at : NULL;
    int64_t limit = q->limit ? q->limit : LIMIT_DEFAULT;
    bool unsorted = false;
    auto_sql struct sql where;
    struct listing l = {.kind = k, .order = &order, .count = q->count, .arena = a};
    if (limit < 1 || limit > LIMIT_MAX)
        return err_set(err, ERR_INVALID, "limit", "limit: %" PRId64 " is not in 1 to %d", limit, LIMIT_MAX);
    sql_init(&where);
    if (!list_words(k, q->q, a, &l.words, err) || !parse_order(k, q, l.words.n > 0, a, &order, err) ||
        (after && !read_cursor(q, &order, a, &at, &unsorted, err)) ||
        !list_conditions(core, c, k, q, a, &l, &where, err))
        return false;
    struct db_conn *conn = db_read_begin(core->db, err);
    if (!conn)
        return false;
    struct page page = {0};
    bool ok = l.words.n ? list_search(conn, &l, after, unsorted, (size_t)limit, &page, err)
                        : read_page(conn, &l, after, (size_t)limit, &page, err) &&
                              (!q->count || read_total(conn, &l, &page, err));
    db_read_end(core->db, conn);
    return ok && write_page(core, c, &l, q->q, &page, q->count, out, err);
}
