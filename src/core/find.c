#include "core/find.h"

#include "base/clock.h"
#include "core/access.h"
#include "core/kinds.h"
#include "core/list_own.h"
#include "core/row.h"

#include <stdlib.h>

struct found {
    const struct object *object;
    int64_t order; /* list_best's */
};

struct finding {
    struct core *core;
    const struct caller *caller;
    const struct find_query *q;
    struct search_words words;
    struct arena *arena;
    struct db_conn *conn;
    struct found *found;
    size_t n, cap;
};

/* Those with a page of their own. */
static bool is_searched(const struct kind *k, int64_t project)
{
    size_t field[SEARCH_FIELDS_MAX];
    bool scope = k->scope == SCOPE_PLATFORM || (k->scope == SCOPE_PROJECT && project);
    return scope && k->menu && !k->audit_reads_only && search_fields(k, field);
}

static bool is_known(const struct finding *f, const struct object *o)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->found[i].object->kind == o->kind && f->found[i].object->id == o->id)
            return true;
    return false;
}

static void add(struct finding *f, const struct object *o, int64_t order)
{
    if (f->n < f->cap && !is_known(f, o))
        f->found[f->n++] = (struct found){o, order};
}

/* *ret false: the caller may not list the kind. */
static bool listing_of(struct finding *f, const struct kind *k, struct listing *l, struct sql *where,
                       bool *ret, struct err *err)
{
    struct list_query q = {.project = k->scope == SCOPE_PROJECT ? f->q->project : 0};
    struct err why = {0};
    l->kind = k;
    l->arena = f->arena;
    l->words = f->words;
    *ret = list_conditions(f->core, f->caller, k, &q, f->arena, l, where, &why);
    if (*ret || why.code == ERR_FORBIDDEN || why.code == ERR_NOT_FOUND)
        return true;
    *err = why;
    return false;
}

static bool find_words(struct finding *f, const struct kind *k, struct err *err)
{
    static const struct order best = {.column = "updated_at", .never_null = true, .best = true};
    struct listing l = {.order = &best};
    struct page page = {0};
    auto_sql struct sql where;
    bool may;
    sql_init(&where);
    if (!listing_of(f, k, &l, &where, &may, err))
        return false;
    if (may && !list_search(f->conn, &l, NULL, false, (size_t)f->q->limit, &page, err))
        return false;
    for (size_t i = 0; i < page.n; i++)
        add(f, &page.objects[i], page.value[i].i);
    return true;
}

static bool find_loosely(struct finding *f, const struct kind *k, struct err *err)
{
    struct listing l = {0};
    struct db_rows rows;
    auto_sql struct sql where, s;
    bool may;
    sql_init(&where);
    sql_init(&s);
    if (!listing_of(f, k, &l, &where, &may, err) || !may)
        return !err->code;
    row_select(&s, k);
    s.text.n -= strlen(" WHERE "); /* the conditions begin with it */
    sql_append(&s, &where);
    sql_and(&s);
    sql_add(&s, "\"id\">0 ORDER BY \"id\" DESC LIMIT ");
    sql_arg(&s, db_int(FIND_LOOSE));
    if (!conn_query(f->conn, f->arena, s.text.p, sql_args(&s), &rows, err))
        return false;
    for (size_t i = 0, taken = 0; i < rows.n && taken < (size_t)f->q->limit; i++) {
        struct object *o = arena_new(f->arena, struct object);
        *o = row_read(f->arena, k, &rows.row[i]);
        struct search_text name = search_text_of(f->arena, o->values[0].s);
        if (search_loosely(&name, &f->words)) {
            add(f, o, list_best(SEARCH_LOOSE, o->updated_at).i);
            taken++;
        }
    }
    return true;
}

static int in_order(const void *x, const void *y)
{
    const struct found *a = x, *b = y;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return (a->object->id < b->object->id) - (a->object->id > b->object->id);
}

static bool find_all(struct finding *f, struct err *err)
{
    f->cap = 2 * kind_count * (size_t)f->q->limit;
    f->found = arena_array(f->arena, struct found, f->cap);
    for (size_t i = 0; i < kind_count; i++)
        if (is_searched(kinds[i], f->q->project) && !find_words(f, kinds[i], err))
            return false;
    for (size_t i = 0; f->n < (size_t)f->q->limit && i < kind_count; i++)
        if (is_searched(kinds[i], f->q->project) && !find_loosely(f, kinds[i], err))
            return false;
    if (f->n)
        qsort(f->found, f->n, sizeof *f->found, in_order);
    return true;
}

/* --- the answer --- */

static void write_one(const struct finding *f, const struct object *o, struct json_out *out)
{
    size_t field[SEARCH_FIELDS_MAX], n = search_fields(o->kind, field);
    struct search_named texts[SEARCH_FIELDS_MAX] = {{0}};
    struct str about = STR_NULL;
    for (size_t i = 0; i < n; i++) {
        texts[i] = (struct search_named){o->kind->fields[field[i]].name, o->values[field[i]].s};
        if (i && !about.n && search_rank(f->arena, &f->words, texts[0].text) == SEARCH_ELSEWHERE &&
            search_rank(f->arena, &f->words, texts[i].text) != SEARCH_ELSEWHERE)
            about = texts[i].text;
    }
    char at[CLOCK_TEXT_MAX];
    json_object(out);
    json_kz(out, "kind", o->kind->name);
    json_kint(out, "id", o->id);
    json_kstr(out, "name", texts[0].text);
    json_kz(out, "updated_at", clock_format(o->updated_at, at));
    json_kstr(out, "about", about);
    json_key(out, "matches");
    search_show(f->arena, &f->words, texts, n, out);
    json_object_end(out);
}

bool find_write(struct core *core, const struct caller *c, const struct find_query *q, struct arena *a,
                struct buf *text, struct err *err)
{
    struct finding f = {.core = core, .caller = c, .q = q, .arena = a};
    struct json_out out;
    if (!access_signed_in(c, err) || !list_words(NULL, q->q, a, &f.words, err))
        return false;
    if (q->project && !caller_in_project(c, q->project))
        return access_missing(kind_by_name(STR("project")), q->project, err);
    f.conn = db_read_begin(core->db, err);
    if (!f.conn)
        return false;
    bool ok = !f.words.n || find_all(&f, err);
    db_read_end(core->db, f.conn);
    if (!ok)
        return false;
    json_begin(&out, text);
    json_object(&out);
    json_key(&out, "items");
    json_array(&out);
    for (size_t i = 0; i < f.n && i < (size_t)q->limit; i++)
        write_one(&f, f.found[i].object, &out);
    json_array_end(&out);
    json_object_end(&out);
    return true;
}
