/* What can be done with a node, and asked of it: the table of all, by those who know it. */
#include "core/compute/node.h"
#include "core/controllers.h"
#include "core/home/home.h"

/* --- draining --- */

struct draining {
    struct object *node;
    bool drained;
};

static bool drain_write(struct op *op, void *ctx, struct err *err)
{
    struct draining *d = ctx;
    struct object now;
    bool found;
    if (!engine_load_row(op, &kind_node, d->node->id, &now, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, NULL, "the node is gone");
    *object_value(&now, "drained") = db_int(d->drained);
    if (!str_is(object_text(&now, "state"), "lost"))
        *object_value(&now, "state") = db_textz(d->drained ? "drained" : "ready");
    *d->node = now;
    return engine_update_row(op, &now, err);
}

static bool drain(struct op *op, struct object *o, bool drained, struct json_out *out, struct err *err)
{
    struct draining d = {o, drained};
    if (!engine_write(op->core, op->caller, op->arena, drain_write, &d, err))
        return false;
    controller_wake(op->core, &controller_jobs);
    return engine_answer(op, o, out, err);
}

static bool run_drain(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                      int *status, struct err *err)
{
    (void)input;
    (void)status;
    return drain(op, o, true, out, err);
}

static bool run_undrain(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                        int *status, struct err *err)
{
    (void)input;
    (void)status;
    return drain(op, o, false, out, err);
}

static bool run_overview(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                         int *status, struct err *err)
{
    (void)input;
    (void)status;
    return home_node_write(op, o, out, err);
}

const struct action node_actions[] = {
    {.name = "overview",
     .permission = "node.read",
     .read_only = true,
     .answer = "NodeOverview",
     .title = {"Overview", "概览"},
     .run = run_overview},
    {.name = "drain",
     .permission = "node.update",
     .title = {"Drain", "停用"},
     .danger = true,
     .run = run_drain},
    {.name = "curves",
     .permission = "node.read",
     .read_only = true,
     .fields = node_curves_fields,
     .answer = "NodeCurves",
     .title = {"Curves", "曲线"},
     .run = node_show_curves},
    {.name = "undrain",
     .permission = "node.update",
     .title = {"Put into service", "启用"},
     .run = run_undrain},
    {0},
};
