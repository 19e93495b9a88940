#include "base/log.h"
#include "core/changes.h"
#include "core/pending.h"
#include "core/row.h"

/* Whether one of them is shown. The program ends when a field is no status of the kind. */
static bool any_shown(const struct kind *k, struct engine_statuses fields)
{
    bool shown = false;
    for (size_t i = 0; i < fields.n; i++) {
        const struct field *f = kind_field(k, str_of(fields.items[i].field), NULL);
        if (!f || !(f->flags & FIELD_STATUS)) {
            log_error("kind %s has no status %s", k->name, fields.items[i].field);
            abort();
        }
        shown = shown || !(f->flags & FIELD_INTERNAL);
    }
    return shown;
}

bool engine_set_status(struct op *op, const struct kind *k, int64_t id, struct engine_statuses fields,
                       struct err *err)
{
    struct object o;
    bool found, shown = any_shown(k, fields);
    if (!row_status(op->conn, op->arena, k, id, fields, &o, &found, err))
        return false;
    if (found && shown)
        pending_add(op->pending, &o, CHANGES_STATUS);
    return true;
}

struct status_write {
    const struct kind *kind;
    int64_t id;
    struct engine_statuses fields;
};

static bool status_write(struct op *op, void *ctx, struct err *err)
{
    const struct status_write *w = ctx;
    return engine_set_status(op, w->kind, w->id, w->fields, err);
}

bool engine_write_status(struct core *core, const struct kind *k, int64_t id, struct engine_statuses fields,
                         struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct status_write w = {k, id, fields};
    return engine_write(core, &caller_system, &a, status_write, &w, err);
}
