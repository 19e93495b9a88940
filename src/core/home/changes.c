/* What people changed last: the lines of the audit about objects that the caller may read, without addresses
 * and details, and without what an action brings about (the job of a training that was started). */
#include "core/home/home_own.h"
#include "core/show.h"

#define LOOKED_AT 300
#define SHOWN     10

struct change {
    const struct kind *kind;
    struct str verb, name;
    int64_t object, by, at, times;
};

static bool same_object(const struct change *a, const struct change *b)
{
    return a->kind == b->kind && a->by == b->by && a->object && a->object == b->object;
}

static bool same_verb(const struct change *a, const struct change *b)
{
    return a->kind == b->kind && a->by == b->by && str_eq(a->verb, b->verb);
}

/* The newest of what one person did in a row to one object, or in the same way to objects of a kind, stands
 * for all of it. */
static size_t gather(const struct home *h, const struct db_rows *rows, struct change *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++) {
        const struct db_value *v = rows->row[i].v;
        struct change c = {.at = v[0].i,
                           .by = v[1].i,
                           .verb = v[2].s,
                           .kind = kind_by_name(v[3].s),
                           .object = v[4].type == DB_INT ? v[4].i : 0,
                           .name = home_text(&v[5]),
                           .times = 1};
        if (!c.kind || !caller_may(h->caller, kind_permission(h->arena, c.kind, "read"), h->project))
            continue;
        if (n && same_object(&ret[n - 1], &c))
            continue;
        if (n && same_verb(&ret[n - 1], &c))
            ret[n - 1].times++;
        else if (n == SHOWN)
            break;
        else
            ret[n++] = c;
    }
    return n;
}

static void write_change(const struct change *c, const struct names *names, struct json_out *out)
{
    bool there = c->object && names_get(names, c->kind, c->object)->name.p;
    json_object(out);
    home_time(out, "at", c->at);
    json_key(out, "by");
    show_ref(names, kind_by_name(STR("user")), c->by, out);
    json_kstr(out, "verb", c->verb);
    json_kz(out, "kind", c->kind->name);
    json_key(out, "object");
    show_ref(names, c->kind, there ? c->object : 0, out);
    json_kstr(out, "name", c->name);
    json_kint(out, "times", c->times);
    json_object_end(out);
}

bool home_changes(struct home *h, struct err *err)
{
    struct change changes[SHOWN];
    struct db_rows rows;
    struct names names;
    if (!db_query(h->core->db, h->arena,
                  "SELECT at, \"user\", verb, kind, object, name FROM (SELECT * FROM audit WHERE project = ?"
                  " ORDER BY id DESC LIMIT ?) AS newest WHERE \"user\" IS NOT NULL AND kind IS NOT NULL"
                  " AND NOT (verb IN ('create', 'update') AND kind IN ('task', 'training_instance')) AND "
                  "(kind <> 'job'"
                  " OR object IN (SELECT j.id FROM jobs j WHERE j.id = newest.object AND j.owner_kind = ''))"
                  " ORDER BY id DESC",
                  db_args(db_int(h->project), db_int(LOOKED_AT)), &rows, err))
        return false;
    size_t n = gather(h, &rows, changes);
    names_init(&names, h->arena, 2 * SHOWN);
    for (size_t i = 0; i < n; i++) {
        names_want(&names, kind_by_name(STR("user")), changes[i].by);
        names_want(&names, changes[i].kind, changes[i].object);
    }
    if (!names_load(&names, h->core->db, err))
        return false;
    json_array(h->out);
    for (size_t i = 0; i < n; i++)
        write_change(&changes[i], &names, h->out);
    json_array_end(h->out);
    return true;
}
