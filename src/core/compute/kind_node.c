#include "core/compute/node.h"
#include "core/controllers.h"
#include "core/fields.h"

static const struct choice states[] = {
    {"ready", {"Ready", "就绪"}},
    {"drained", {"Drained", "已停用"}},
    {"lost", {"Lost", "失联"}},
    {NULL, {NULL, NULL}},
};

static const struct field node_fields[] = {
    {.name = "name",
     .type = FIELD_TEXT,
     .flags = FIELD_SEARCH | FIELD_SORT | FIELD_FILTER | FIELD_UNIQUE | FIELD_LIST,
     .max = 255,
     .title = {"Name", "名称"}},
    {.name = "state",
     .type = FIELD_CHOICE,
     .flags = FIELD_FILTER | FIELD_LIST,
     .choices = states,
     .title = {"State", "状态"}},
    {.name = "pool",
     .type = FIELD_REF,
     .flags = FIELD_UPDATE | FIELD_FILTER | FIELD_LIST,
     .ref = "node_pool",
     .title = {"Pool", "资源池"},
     .help = {"Empty: open to every project", "空表示对所有项目开放"}},
    {.name = "arch",
     .type = FIELD_TEXT,
     .flags = FIELD_FILTER | FIELD_LIST,
     .title = {"Architecture", "架构"}},
    {.name = "cpus", .type = FIELD_REAL, .flags = FIELD_LIST, .unit = "cores", .title = {"CPUs", "CPU"}},
    {.name = "memory", .type = FIELD_INT, .flags = FIELD_LIST, .unit = "bytes", .title = {"Memory", "内存"}},
    {.name = "disk", .type = FIELD_INT, .unit = "bytes", .title = {"Disk", "磁盘"}},
    {.name = "devices", .type = FIELD_JSON, .fallback = "[]", .title = {"Devices", "设备"}},
    {.name = "reason", .type = FIELD_TEXT, .flags = FIELD_LIST, .title = {"Remark", "说明"}},
    {.name = "drained", .type = FIELD_BOOL, .flags = FIELD_INTERNAL, .title = {"Drained", "已停用"}},
    {0},
};

static const struct field pool_fields[] = {
    FIELD_NAME(FIELD_EDIT | FIELD_UNIQUE),
    FIELD_DESCRIPTION,
    {.name = "projects",
     .type = FIELD_REFS,
     .flags = FIELD_EDIT | FIELD_LIST,
     .ref = "project",
     .max = 200,
     .fallback = "[]",
     .title = {"Projects", "项目"},
     .help = {"Whose jobs may use its nodes; none: everybody's", "可使用这些节点的项目；为空表示所有项目"}},
    {0},
};

static bool before_delete(struct op *op, struct object *o, struct err *err)
{
    (void)op;
    return str_is(object_text(o, "state"), "lost") ||
           err_set(err, ERR_CONFLICT, "state", "the node is there: only lost ones can be removed");
}

static void changed(struct core *core, const struct object *o, const char *verb)
{
    (void)o;
    (void)verb;
    controller_wake(core, &controller_jobs);
}

const struct kind kind_node = {
    .name = "node",
    .plural = "nodes",
    .table = "nodes",
    .title = {"Node", "节点"},
    .titles = {"Nodes", "节点"},
    .help = {"The machines that run jobs; they are found by themselves", "运行作业的机器，自动发现"},
    .menu = "admin",
    .scope = SCOPE_PLATFORM,
    .verbs = VERB_LIST | VERB_READ | VERB_UPDATE | VERB_DELETE,
    .fields = node_fields,
    .actions = node_actions,
    .before_delete = before_delete,
    .changed = changed,
};

const struct kind kind_node_pool = {
    .name = "node_pool",
    .plural = "node-pools",
    .table = "node_pools",
    .title = {"Node pool", "资源池"},
    .titles = {"Node pools", "资源池"},
    .help = {"Nodes reserved to some projects", "专供部分项目使用的节点"},
    .menu = "admin",
    .scope = SCOPE_PLATFORM,
    .verbs = VERB_ALL,
    .fields = pool_fields,
    .changed = changed,
};

/* --- finding them --- */

static struct str devices_json(struct arena *a, const struct exec_node *n)
{
    auto_buf struct buf text = {0};
    struct json_out o;
    json_begin(&o, &text);
    json_array(&o);
    for (size_t i = 0; i < n->n_devices; i++) {
        json_object(&o);
        json_kz(&o, "kind", n->devices[i].kind);
        json_kz(&o, "path", n->devices[i].path);
        json_kbool(&o, "declared", n->devices[i].declared);
        json_object_end(&o);
    }
    json_array_end(&o);
    return arena_str(a, buf_view(&text));
}

struct wanted {
    const char *field;
    struct db_value value;
};

static bool same(const struct db_value *a, const struct db_value *b)
{
    if (a->type != b->type)
        return false;
    return a->type == DB_TEXT ? str_eq(a->s, b->s) : a->type == DB_REAL ? a->r == b->r : a->i == b->i;
}

/* True when something was different. */
static bool set_all(struct object *o, const struct wanted *w, size_t n)
{
    bool differs = false;
    for (size_t i = 0; i < n; i++) {
        struct db_value *v = object_value(o, w[i].field);
        differs = differs || !same(v, &w[i].value);
        *v = w[i].value;
    }
    return differs;
}

static bool describe(struct arena *a, struct object *o, const struct exec_node *n)
{
    const char *state = !n->ready ? "lost" : object_int(o, "drained") ? "drained" : "ready";
    const struct wanted w[] = {
        {"name", db_textz(n->name)},
        {"state", db_textz(state)},
        {"arch", db_textz(n->arch)},
        {"cpus", db_real((double)n->cpu_millis / 1000)},
        {"memory", db_int(n->memory)},
        {"disk", db_int(n->disk)},
        {"devices", db_text(devices_json(a, n))},
        {"reason", db_textz(n->reason)},
    };
    return set_all(o, w, countof(w));
}

struct syncing {
    const struct exec_node *nodes;
    size_t n;
};

static bool lose_others(struct op *op, const struct syncing *s, struct err *err)
{
    struct db_rows rows;
    if (!conn_query(op->conn, op->arena, "SELECT id, name FROM nodes WHERE state <> 'lost'", DB_NO_ARGS,
                    &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct object o;
        bool found, known = false;
        for (size_t k = 0; k < s->n; k++)
            known = known || str_is(rows.row[i].v[1].s, s->nodes[k].name);
        if (known)
            continue;
        if (!engine_load_row(op, &kind_node, rows.row[i].v[0].i, &o, &found, err))
            return false;
        *object_value(&o, "state") = db_textz("lost");
        *object_value(&o, "reason") = db_textz("the executor does not know it any more");
        if (!engine_update_row(op, &o, err))
            return false;
    }
    return true;
}

static bool sync_write(struct op *op, void *ctx, struct err *err)
{
    const struct syncing *s = ctx;
    for (size_t i = 0; i < s->n; i++) {
        struct db_row row;
        struct object o = engine_object(op->arena, &kind_node);
        bool found;
        if (!conn_query_one(op->conn, op->arena, "SELECT id FROM nodes WHERE name = ?",
                            db_args(db_textz(s->nodes[i].name)), &row, &found, err) ||
            (found && !engine_load_row(op, &kind_node, row.v[0].i, &o, &found, err)))
            return false;
        bool differs = describe(op->arena, &o, &s->nodes[i]);
        if (!found && !engine_insert_row(op, &o, err))
            return false;
        if (found && differs && !engine_update_row(op, &o, err))
            return false;
    }
    return lose_others(op, s, err);
}

bool node_sync(struct core *core, const struct exec_node *nodes, size_t n, struct arena *a, struct err *err)
{
    struct syncing s = {nodes, n};
    return engine_write(core, &caller_system, a, sync_write, &s, err);
}
