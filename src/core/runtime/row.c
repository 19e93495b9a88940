/* A runtime's row, and the versions of its image. */
#include "base/clock.h"
#include "base/messages_runtime.h"
#include "core/account/accounts.h"
#include "core/image/repository.h"
#include "core/runtime/runtime_own.h"

static bool find_project(struct core *core, struct arena *a, int64_t *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(core->db, a, "SELECT id FROM projects WHERE name = ?",
                      db_args(db_textz(RUNTIME_PROJECT)), &row, &found, err))
        return false;
    *ret = found ? row.v[0].i : 0;
    return true;
}

bool runtime_project(struct core *core, const struct caller *c, struct arena *a, int64_t *ret,
                     struct err *err)
{
    struct object made;
    if (!find_project(core, a, ret, err) || *ret)
        return *ret != 0;
    yyjson_val *body = json_parse(
        a, STR("{\"name\": \"" RUNTIME_PROJECT "\", \"description\": \"What comes with the platform.\"}"),
        err);
    if (!body)
        return false;
    if (engine_create(core, c, &kind_project, 0, body, a, &made, err))
        *ret = made.id;
    else if (err->code == ERR_CONFLICT) /* another made it just now */
        *err = (struct err){0}, find_project(core, a, ret, err);
    return *ret != 0;
}

bool runtime_load(struct task *t, struct object *ret, struct err *err)
{
    return engine_get(t->core, &caller_system, &kind_runtime, 0, t->subject, t->arena, ret, err);
}

/* --- versions --- */

static bool number_of(struct str name, int64_t *ret)
{
    return name.n > 1 && name.p[0] == 'v' && str_to_i64((struct str){name.p + 1, name.n - 1}, ret);
}

bool runtime_next_version(struct core *core, int64_t project, struct str name, struct arena *a,
                          const char **ret, struct err *err)
{
    struct db_rows rows;
    int64_t newest = 0, n;
    if (!db_query(core->db, a,
                  "SELECT v.name FROM image_versions v JOIN images i ON i.id = v.image"
                  " WHERE i.project = ? AND i.name = ?",
                  db_args(db_int(project), db_text(name)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        if (number_of(rows.row[i].v[0].s, &n) && n > newest)
            newest = n;
    *ret = arena_printf(a, "v%lld", (long long)newest + 1);
    return true;
}

struct naming {
    int64_t project;
    struct str name, version;
};

/* *ret->id is 0 when there is none. */
static bool load_version(struct op *op, const struct naming *n, struct object *image, struct object *version,
                         bool *found, struct err *err)
{
    struct db_row row;
    if (!conn_query_one(op->conn, op->arena,
                        "SELECT i.id, v.id FROM image_versions v JOIN images i ON i.id = v.image"
                        " WHERE i.project = ? AND i.name = ? AND v.name = ?",
                        db_args(db_int(n->project), db_text(n->name), db_text(n->version)), &row, found, err))
        return false;
    return !*found || (engine_load_row(op, &kind_image, row.v[0].i, image, found, err) &&
                       engine_load_row(op, &kind_image_version, row.v[1].i, version, found, err));
}

static bool drop_write(struct op *op, void *ctx, struct err *err)
{
    struct object image, version;
    bool found;
    return load_version(op, ctx, &image, &version, &found, err) &&
           (!found || engine_delete_row(op, &version, err));
}

bool runtime_drop_version(struct core *core, int64_t project, struct str name, struct str version,
                          struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct naming n = {project, name, version};
    return engine_write(core, &caller_system, &a, drop_write, &n, err);
}

/* --- the end --- */

struct finishing {
    const struct object *runtime;
    const struct runtime_made *made;
};

static bool publish(struct op *op, struct object *image, struct err *err)
{
    if (object_int(image, "public"))
        return true;
    *object_value(image, "public") = db_int(1);
    return engine_update_row(op, image, err);
}

static bool finish_write(struct op *op, void *ctx, struct err *err)
{
    const struct finishing *f = ctx;
    const struct runtime_made *m = f->made;
    const struct naming n = {m->project, object_text(f->runtime, "name"), str_of(m->version)};
    struct object image, version, now;
    bool found;
    if (!load_version(op, &n, &image, &version, &found, err))
        return false;
    if (!found)
        return err_message(err, ERR_CONFLICT, NULL, MESSAGE_RUNTIME_GONE, m->version);
    if (!publish(op, &image, err) || !engine_load_row(op, &kind_runtime, f->runtime->id, &now, &found, err) ||
        !found)
        return found ? false : err_set(err, ERR_NOT_FOUND, NULL, "the runtime was deleted");
    *object_value(&now, "state") = db_textz("ready");
    *object_value(&now, "image") =
        db_textz(arena_printf(op->arena, RUNTIME_PROJECT "/" STR_FMT ":%s", STR_ARG(n.name), m->version));
    *object_value(&now, "version") = db_int(version.id);
    *object_value(&now, "image_bytes") = *object_value(&version, "size");
    *object_value(&now, "built_at") = db_int(clock_now());
    *object_value(&now, "fingerprint") = db_textz(m->fingerprint ? m->fingerprint : "");
    *object_value(&now, "reason") = *object_value(&now, "reason_zh") = db_textz("");
    if (m->bytes && !object_int(&now, "built_in"))
        *object_value(&now, "bytes") = db_int(m->bytes);
    return engine_update_row(op, &now, err);
}

bool runtime_finish(struct task *t, const struct object *runtime, const struct runtime_made *m,
                    struct err *err)
{
    struct finishing f = {runtime, m};
    return engine_write(t->core, &t->caller, t->arena, finish_write, &f, err);
}
