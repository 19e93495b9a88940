#include "core/account/grants.h"
#include "core/home/home_own.h"

struct part {
    const char *name;
    const char *permission, *or_permission; /* that it takes; NULL: none */
    home_write *write;
};

static const struct part project_parts[] = {
    {"steps", NULL, NULL, home_steps},
    {"counts", NULL, NULL, home_counts},
    {"running", "job.read", "task.read", home_running},
    {"waiting", "job.read", NULL, home_waiting},
    {"failed", "job.read", "task.read", home_failed},
    {"best", "evaluation.read", NULL, home_models_best},
    {"newest", "model_version.read", NULL, home_models_newest},
    {"services", "service.read", NULL, home_services},
    {"labelling", "label_task.read", NULL, home_labelling},
    {"mine", "label_task.read", NULL, home_mine},
    {"changes", "member.read", NULL, home_changes}, /* it names people */
    {NULL, NULL, NULL, NULL},
};

static const struct part platform_parts[] = {
    {"load", "node.read", NULL, home_load},
    {"running", "job.read", "task.read", home_running},
    {"waiting", "job.read", NULL, home_waiting},
    {"failed", "job.read", "task.read", home_failed},
    {"projects", NULL, NULL, home_projects},
    {"services", "service.read", NULL, home_services},
    {"labelling", "label_task.read", NULL, home_labelling},
    {"newest", "model_version.read", NULL, home_models_newest},
    {"growth", "dataset_version.read", "model_version.read", home_growth},
    {NULL, NULL, NULL, NULL},
};

bool home_may(const struct home *h, const char *permission)
{
    const struct grants *g = grants_of(h->caller);
    if (caller_may(h->caller, permission, h->project))
        return true;
    for (size_t i = 0; !h->project && g && i < g->count; i++)
        if (caller_may(h->caller, permission, g->projects[i].project))
            return true;
    return false;
}

/* In every project, whether a member of it or not. */
static bool everywhere(const struct home *h, const char *permission)
{
    const struct grants *g = grants_of(h->caller);
    return !g || (!g->only && permission_has(&g->platform, permission_find(permission)));
}

void home_scope_of(const struct home *h, const char *permission, const char *column, struct sql *s)
{
    const struct grants *g = grants_of(h->caller);
    if (h->project || everywhere(h, permission)) {
        sql_add(s, h->project ? column : "1");
        sql_add(s, " = ");
        sql_arg(s, db_int(h->project ? h->project : 1));
        return;
    }
    buf_printf(&s->text, "%s IN (0", column);
    for (size_t i = 0; g && i < g->count; i++)
        if (caller_may(h->caller, permission, g->projects[i].project))
            buf_printf(&s->text, ", %lld", (long long)g->projects[i].project);
    sql_add(s, ")");
}

void home_scope(const struct home *h, const char *permission, struct sql *s)
{
    home_scope_of(h, permission, "project", s);
}

bool home_query(struct home *h, const struct sql *s, struct db_rows *ret, struct err *err)
{
    return db_query(h->core->db, h->arena, s->text.p, sql_args(s), ret, err);
}

static bool write_parts(struct home *h, const struct part *parts, struct err *err)
{
    json_object(h->out);
    for (const struct part *p = parts; p->name; p++) {
        json_key(h->out, p->name);
        bool may = !p->permission || home_may(h, p->permission) ||
                   (p->or_permission && home_may(h, p->or_permission));
        if (!may)
            json_null(h->out);
        else if (!p->write(h, err))
            return false;
    }
    json_object_end(h->out);
    return true;
}

bool home_project_write(struct op *op, int64_t project, struct json_out *out, struct err *err)
{
    struct home h = {.core = op->core,
                     .caller = op->caller,
                     .arena = op->arena,
                     .project = project,
                     .now = clock_now(),
                     .out = out};
    return write_parts(&h, project_parts, err);
}

bool home_platform_write(struct core *core, const struct caller *c, struct arena *a, struct buf *text,
                         struct err *err)
{
    struct json_out out;
    struct home h = {.core = core, .caller = c, .arena = a, .now = clock_now(), .out = &out};
    json_begin(&out, text);
    return write_parts(&h, platform_parts, err);
}
