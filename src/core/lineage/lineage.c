#include "core/lineage/graph.h"
#include "core/lineage/relation.h"

/* Nodes of one kind among those that were reached last. */
static struct relation_near near_of(struct graph *g, const char *kind, size_t begin, size_t end, bool up,
                                    const struct object ***room)
{
    struct relation_near near = {.o = *room};
    for (size_t i = begin; i < end; i++) {
        const struct graph_node *n = &g->node[i];
        bool this_way = n->depth == 0 || (n->depth < 0) == up;
        if (this_way && n->how == GRAPH_SEEN && n->kind && strcmp(n->kind->name, kind) == 0)
            (*room)[near.n++] = &n->o;
    }
    return near;
}

static size_t place(const struct graph *g, const char *kind, int64_t id)
{
    for (size_t i = 0; i < g->node_count; i++)
        if (g->node[i].id == id && g->node[i].how == GRAPH_SEEN && g->node[i].kind &&
            strcmp(g->node[i].kind->name, kind) == 0)
            return i;
    return SIZE_MAX;
}

static bool take(struct graph *g, const struct relation *r, bool up, const struct relation_pair *pair,
                 int64_t depth, struct err *err)
{
    const struct kind *far_kind = kind_by_name(str_of(up ? r->from : r->to));
    size_t near = place(g, up ? r->to : r->from, pair->near), far;
    if (near == SIZE_MAX)
        return true;
    if (!graph_add(g, far_kind, pair->far, depth, near, r->as, &far, err))
        return false;
    if (far != SIZE_MAX)
        graph_join(g, up ? far : near, up ? near : far, r->as);
    return true;
}

/* The neighbours of nodes begin to end. only_look: whether there are any more, which sets `more`. */
static bool step(struct graph *g, bool up, size_t begin, size_t end, int64_t depth, bool only_look,
                 struct err *err)
{
    const struct object **room = arena_array(g->arena, const struct object *, LINEAGE_NODES);
    for (size_t i = 0; i < relation_count && !(only_look && g->more); i++) {
        const struct relation *r = &relations[i];
        struct relation_near near = near_of(g, up ? r->to : r->from, begin, end, up, &room);
        struct relation_pair *pairs;
        size_t n;
        if (near.n == 0)
            continue;
        if (!relation_find(r, up, &near, LINEAGE_NODES + 1, g->conn, g->arena, &pairs, &n, err))
            return false;
        if (n > LINEAGE_NODES)
            g->more = true;
        for (size_t k = 0; k < n; k++) {
            const struct kind *far = kind_by_name(str_of(up ? r->from : r->to));
            if (only_look)
                g->more = g->more || !graph_knows(g, far, pairs[k].far);
            else if (!take(g, r, up, &pairs[k], depth, err))
                return false;
        }
    }
    return true;
}

/* From node `begin`, which is so many steps away, to those that are `depth` away. */
static bool walk(struct graph *g, bool up, size_t begin, int64_t away, int64_t depth, struct err *err)
{
    size_t end = begin + 1;
    for (int64_t i = away + 1; i <= depth && begin < end; i++) {
        size_t before = g->node_count;
        if (!step(g, up, begin, end, up ? -i : i, false, err))
            return false;
        begin = before;
        end = g->node_count;
    }
    return begin == end || step(g, up, begin, end, 0, true, err);
}

/* --- a sample --- */

static void add_person(struct graph *g, int64_t id, struct str name)
{
    if (g->node_count == LINEAGE_NODES) {
        g->more = true;
        return;
    }
    graph_join(g, g->node_count, 0, "annotated");
    g->node[g->node_count++] = (struct graph_node){
        .kind = kind_by_name(STR("user")), .id = id, .depth = -1, .name = name, .only_named = true};
}

/* Who annotated it: their names are told to whoever sees the annotations. */
static bool add_people(struct graph *g, int64_t sample, struct err *err)
{
    static const char sql[] =
        "SELECT u.id, u.name FROM users u WHERE u.id IN (SELECT updated_by FROM samples WHERE id = ? UNION"
        " SELECT worker FROM label_assignments WHERE sample = ? UNION SELECT by_user FROM sample_operations"
        " WHERE sample = ? UNION SELECT by_user FROM sample_history WHERE sample = ? UNION"
        " SELECT updated_by FROM layer_samples WHERE sample = ?) ORDER BY u.id LIMIT 100";
    const struct db_value s = db_int(sample);
    struct db_rows rows;
    if (!conn_query(g->conn, g->arena, sql, db_args(s, s, s, s, s), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        add_person(g, rows.row[i].v[0].i, rows.row[i].v[1].s);
    return true;
}

static bool add_tasks(struct graph *g, int64_t sample, struct err *err)
{
    struct db_rows rows;
    size_t at;
    if (!conn_query(g->conn, g->arena,
                    "SELECT DISTINCT task FROM label_assignments WHERE sample = ? ORDER BY task LIMIT 100",
                    db_args(db_int(sample)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        if (!graph_add(g, kind_by_name(STR("label_task")), rows.row[i].v[0].i, -1, 0, "labelled", &at, err))
            return false;
        if (at != SIZE_MAX)
            graph_join(g, at, 0, "labelled");
    }
    return true;
}

/* It, who annotated it in which labelling tasks, its version and what was made of that. What else the version
 * came from says nothing of the sample. */
static bool fill_sample(struct graph *g, const struct lineage_query *q, struct err *err)
{
    struct db_row row;
    struct object version;
    struct err unseen = {0};
    bool found;
    size_t at;
    if (!conn_query_one(g->conn, g->arena, "SELECT name, version FROM samples WHERE id = ?",
                        db_args(db_int(q->id)), &row, &found, err))
        return false;
    if (!found || !engine_get(g->core, g->caller, kind_by_name(STR("dataset_version")), 0, row.v[1].i,
                              g->arena, &version, &unseen))
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no sample %lld", (long long)q->id);
    g->node[g->node_count++] = (struct graph_node){
        .id = q->id, .name = row.v[0].s, .of = row.v[1].i, .project = version.project, .only_named = true};
    if (q->up && (!add_people(g, q->id, err) || !add_tasks(g, q->id, err)))
        return false;
    if (!q->down)
        return true;
    if (!graph_add(g, version.kind, version.id, 1, 0, "part", &at, err))
        return false;
    if (at == SIZE_MAX)
        return true;
    graph_join(g, 0, at, "part");
    return walk(g, false, at, 1, q->depth, err);
}

/* --- any --- */

static bool fill_object(struct graph *g, const struct lineage_query *q, struct err *err)
{
    const struct kind *k = kind_by_name(q->kind);
    struct object o;
    size_t at;
    if (!relation_has(k))
        return err_set(err, ERR_INVALID, "kind", "kind: must be one of %s, sample", relation_kinds(g->arena));
    return engine_get(g->core, g->caller, k, 0, q->id, g->arena, &o, err) &&
           graph_add(g, k, q->id, 0, SIZE_MAX, "", &at, err) &&
           (!q->up || walk(g, true, at, 0, q->depth, err)) &&
           (!q->down || walk(g, false, at, 0, q->depth, err));
}

bool lineage_write(struct core *core, const struct caller *c, const struct lineage_query *q, struct arena *a,
                   struct buf *out, struct err *err)
{
    struct graph *g = arena_new(a, struct graph);
    *g = (struct graph){.core = core, .caller = c, .arena = a, .conn = db_read_begin(core->db, err)};
    if (!g->conn)
        return false;
    bool ok = str_is(q->kind, "sample") ? fill_sample(g, q, err) : fill_object(g, q, err);
    db_read_end(core->db, g->conn);
    return ok && graph_write(g, out, err);
}
