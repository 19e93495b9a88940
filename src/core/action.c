#include "base/messages.h"
#include "core/access.h"
#include "core/audit.h"
#include "core/kinds.h"
#include "core/pending.h"
#include "core/validate.h"

/* A caller that may read the object may do what only reads it, also when it is another project's public one.
 */
static bool may_act(const struct caller *c, const struct action *act, const struct object *o, struct arena *a,
                    struct err *err)
{
    bool reads =
        act->read_only && !act->on_kind && strcmp(act->permission, kind_permission(a, o->kind, "read")) == 0;
    return reads || access_object(c, o, NULL, act->permission, err);
}

static bool nothing_else(struct op *op, void *ctx, struct err *err)
{
    (void)op;
    (void)ctx;
    (void)err;
    return true;
}

/* Runs it as a caller whose first write has the action's line of the audit in it. */
static bool run_audited(struct op *op, struct audit_action *acting, struct json_out *out, int *status,
                        struct err *err)
{
    const struct action *act = acting->action;
    struct object *o = acting->object;
    if (act->read_only)
        return act->run(op, o, acting->input, out, status, err);
    if (act->unaudited) {
        if (!act->run(op, o, acting->input, out, status, err))
            return false;
        pending_tell_one(op->core, o, act->name);
        return true;
    }
    struct caller c = *op->caller;
    struct op as = *op;
    c.acting = acting;
    as.caller = &c;
    bool ok = act->run(&as, o, acting->input, out, status, err) &&
              (acting->written || engine_write(op->core, &c, op->arena, nothing_else, NULL, err));
    if (ok)
        pending_tell_one(op->core, o, act->name);
    return ok;
}

/* Where an action on a kind of projects is: its body says so, before the right to it there is asked. */
static bool place_action(const struct action *act, struct object *o, yyjson_val *input, struct err *err)
{
    if (!act->on_kind || o->kind->scope != SCOPE_PROJECT)
        return true;
    yyjson_val *project = yyjson_obj_get(input, "project");
    return project ? validate_ref("project", project, &o->project, err)
                   : err_message(err, ERR_INVALID, "project", MESSAGE_REQUIRED, "project");
}

bool engine_action(struct core *core, const struct caller *c, const struct kind *k, const struct action *act,
                   int64_t parent, int64_t id, yyjson_val *input, struct arena *a, struct buf *out,
                   int *ret_status, struct err *err)
{
    struct object o = engine_object(a, k);
    struct op op = {.core = core, .caller = c, .arena = a, .kind = k};
    o.parent = parent;
    if (!act->on_kind && !access_load(core, c, NULL, k, parent, id, a, &o, err))
        return false;
    if (!access_signed_in(c, err) || !place_action(act, &o, input, err) || !may_act(c, act, &o, a, err))
        return false;
    size_t n = 0;
    while (act->fields && act->fields[n].name)
        n++;
    struct db_value *values = arena_array(a, struct db_value, n + 1);
    bool *given = arena_array(a, bool, n + 1);
    if (!validate_body(a, act->fields, input, VALIDATE_INPUT, NULL, values, given, err))
        return false;
    struct json_out json;
    json_begin(&json, out);
    *ret_status = act->status ? act->status : 200;
    struct audit_action acting = {.action = act, .object = &o, .input = values};
    return run_audited(&op, &acting, &json, ret_status, err);
}
