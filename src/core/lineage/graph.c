#include "core/lineage/graph.h"

#include "base/clock.h"
#include "core/access.h"
#include "core/names.h"
#include "core/row.h"

static size_t place_of(const struct graph *g, const struct kind *k, int64_t id)
{
    for (size_t i = 0; i < g->node_count; i++)
        if (g->node[i].kind == k && g->node[i].id == id && g->node[i].how != GRAPH_HIDDEN)
            return i;
    return SIZE_MAX;
}

bool graph_knows(const struct graph *g, const struct kind *k, int64_t id)
{
    return place_of(g, k, id) != SIZE_MAX;
}

/* The hidden neighbour that stands for all of its kind on this way. */
static size_t hidden_of(const struct graph *g, const struct kind *k, size_t near, const char *as)
{
    for (size_t i = 0; i < g->edge_count; i++) {
        const struct graph_edge *e = &g->edge[i];
        size_t other = e->from == near ? e->to : e->from;
        if ((e->from == near || e->to == near) && strcmp(e->as, as) == 0 &&
            g->node[other].how == GRAPH_HIDDEN && g->node[other].kind == k)
            return other;
    }
    return SIZE_MAX;
}

/* Whether the caller sees it, and what of it there is. */
static bool look(struct graph *g, struct graph_node *n, struct err *err)
{
    const struct row_key key = {.id = n->id};
    struct err why = {0};
    bool found;
    n->how = GRAPH_SEEN;
    if (access_load(g->core, g->caller, g->conn, n->kind, 0, n->id, g->arena, &n->o, &why))
        return true;
    if (why.code != ERR_NOT_FOUND && why.code != ERR_FORBIDDEN) {
        *err = why;
        return false;
    }
    if (!row_load(g->core->db, g->conn, g->arena, n->kind, &key, &n->o, &found, err))
        return false;
    n->how = found ? GRAPH_HIDDEN : GRAPH_GONE;
    return true;
}

bool graph_add(struct graph *g, const struct kind *k, int64_t id, int64_t depth, size_t near, const char *as,
               size_t *ret, struct err *err)
{
    struct graph_node n = {.kind = k, .id = id, .depth = depth};
    *ret = place_of(g, k, id);
    if (*ret != SIZE_MAX)
        return true;
    if (!look(g, &n, err))
        return false;
    if (n.how == GRAPH_HIDDEN && (*ret = hidden_of(g, k, near, as)) != SIZE_MAX)
        return true;
    if (g->node_count == LINEAGE_NODES) {
        g->more = true;
        return true;
    }
    *ret = g->node_count;
    g->node[g->node_count++] = n;
    return true;
}

void graph_join(struct graph *g, size_t from, size_t to, const char *as)
{
    for (size_t i = 0; i < g->edge_count; i++)
        if (g->edge[i].from == from && g->edge[i].to == to && strcmp(g->edge[i].as, as) == 0)
            return;
    if (g->edge_count == g->edge_room) {
        size_t room = g->edge_room ? g->edge_room * 2 : 64;
        struct graph_edge *more = arena_array(g->arena, struct graph_edge, room);
        if (g->edge_count)
            memcpy(more, g->edge, g->edge_count * sizeof *more);
        g->edge = more;
        g->edge_room = room;
    }
    g->edge[g->edge_count++] = (struct graph_edge){from, to, as};
}

/* --- writing --- */

static const struct kind *parent_of(const struct graph_node *n)
{
    if (!n->kind)
        return kind_by_name(STR("dataset_version"));
    return n->kind->parent ? kind_by_name(str_of(n->kind->parent)) : NULL;
}

static const char *key_of(const struct graph *g, size_t i)
{
    const struct graph_node *n = &g->node[i];
    if (n->how == GRAPH_HIDDEN)
        return arena_printf(g->arena, "hidden:%zu", i);
    return arena_printf(g->arena, "%s:%lld", n->kind ? n->kind->name : "sample", (long long)n->id);
}

/* What people call its state: the field, or whether the version is published. */
static struct str state_of(const struct graph_node *n)
{
    size_t ignored;
    if (n->only_named)
        return STR_NULL;
    if (kind_field(n->kind, STR("state"), &ignored))
        return object_text(&n->o, "state");
    if (kind_field(n->kind, STR("published"), &ignored))
        return object_int(&n->o, "published") ? STR("published") : STR("draft");
    return STR_NULL;
}

static void write_named(struct json_out *o, const struct names *names, const char *key, const struct kind *k,
                        int64_t id, bool with_kind)
{
    const struct name_entry *e = id && k ? names_get(names, k, id) : NULL;
    json_key(o, key);
    if (!e) {
        json_null(o);
        return;
    }
    json_object(o);
    if (with_kind)
        json_kz(o, "kind", k->name);
    json_kint(o, "id", id);
    json_kstr(o, "name", e->name);
    if (with_kind && e->of) {
        json_kint(o, "of", e->of);
        json_kstr(o, "of_name", e->of_name);
    }
    json_object_end(o);
}

static void write_seen(const struct graph_node *n, const struct names *names, struct json_out *o)
{
    char text[CLOCK_TEXT_MAX];
    bool plain = n->only_named;
    const struct field *name = plain ? NULL : kind_name_field(n->kind);
    json_kstr(o, "name", plain ? n->name : name ? object_text(&n->o, name->name) : STR_NULL);
    write_named(o, names, "of", parent_of(n), plain ? n->of : n->o.parent, true);
    write_named(o, names, "project", kind_by_name(STR("project")), plain ? n->project : n->o.project, false);
    json_kstr(o, "state", state_of(n));
    json_kz(o, "created_at", plain ? NULL : clock_format(n->o.created_at, text));
    write_named(o, names, "created_by", kind_by_name(STR("user")), plain ? 0 : n->o.created_by, false);
}

static void write_node(struct graph *g, size_t i, const struct names *names, struct json_out *o)
{
    const struct graph_node *n = &g->node[i];
    json_object(o);
    json_kz(o, "key", key_of(g, i));
    json_kz(o, "kind", n->kind ? n->kind->name : "sample");
    json_kint(o, "depth", n->depth);
    json_kbool(o, "visible", n->how == GRAPH_SEEN);
    json_kbool(o, "deleted", n->how == GRAPH_GONE);
    if (n->how != GRAPH_HIDDEN)
        json_kint(o, "id", n->id);
    if (n->how == GRAPH_SEEN)
        write_seen(n, names, o);
    json_object_end(o);
}

static bool load_names(struct graph *g, struct names *names, struct err *err)
{
    names_init(names, g->arena, g->node_count * 3 + 1);
    for (size_t i = 0; i < g->node_count; i++) {
        const struct graph_node *n = &g->node[i];
        if (n->how != GRAPH_SEEN)
            continue;
        names_want(names, parent_of(n), n->only_named ? n->of : n->o.parent);
        names_want(names, kind_by_name(STR("project")), n->only_named ? n->project : n->o.project);
        names_want(names, kind_by_name(STR("user")), n->only_named ? 0 : n->o.created_by);
    }
    return names_load(names, g->core->db, err);
}

bool graph_write(struct graph *g, struct buf *out, struct err *err)
{
    struct names names;
    struct json_out o;
    if (!load_names(g, &names, err))
        return false;
    json_begin(&o, out);
    json_object(&o);
    json_key(&o, "nodes");
    json_array(&o);
    for (size_t i = 0; i < g->node_count; i++)
        write_node(g, i, &names, &o);
    json_array_end(&o);
    json_key(&o, "edges");
    json_array(&o);
    for (size_t i = 0; i < g->edge_count; i++) {
        json_object(&o);
        json_kz(&o, "from", key_of(g, g->edge[i].from));
        json_kz(&o, "to", key_of(g, g->edge[i].to));
        json_kz(&o, "as", g->edge[i].as);
        json_object_end(&o);
    }
    json_array_end(&o);
    json_kbool(&o, "more", g->more);
    json_object_end(&o);
    return true;
}
