#include "core/environment/keep.h"

#include "base/messages.h"
#include "core/data/sample.h"
#include "core/environment/environment.h"
#include "core/environment/workspace.h"
#include "core/folder/gather.h"
#include "core/folder/lineage.h"
#include "core/quota.h"

enum { KEEP_FOLDER, KEEP_ALGORITHM, KEEP_MODEL, KEEP_NEW_ALGORITHM, KEEP_NEW_MODEL, KEEP_DESCRIPTION };

#define NEW_SET(n, en, zh)                                                                                   \
    {                                                                                                        \
        .name = n, .type = FIELD_TEXT, .flags = FIELD_CREATE, .min = 1, .max = 50, .rule = "name",           \
        .title = {en, zh},                                                                                   \
    }

const struct field keep_fields[] = {
    [KEEP_FOLDER] = {.name = "folder",
                     .type = FIELD_TEXT,
                     .flags = FIELD_REQUIRED | FIELD_CREATE,
                     .min = 1,
                     .max = MANIFEST_MAX_PATH,
                     .title = {"Folder", "文件夹"},
                     .help = {"Below /workspace.", "/workspace 下的路径。"}},
    [KEEP_ALGORITHM] = {.name = "algorithm_set",
                        .type = FIELD_REF,
                        .flags = FIELD_CREATE,
                        .ref = "algorithm_set",
                        .title = {"Algorithm", "算法"}},
    [KEEP_MODEL] = {.name = "model_set",
                    .type = FIELD_REF,
                    .flags = FIELD_CREATE,
                    .ref = "model_set",
                    .title = {"Model", "模型"}},
    [KEEP_NEW_ALGORITHM] = NEW_SET("new_algorithm_set", "New algorithm", "新算法"),
    [KEEP_NEW_MODEL] = NEW_SET("new_model_set", "New model", "新模型"),
    [KEEP_DESCRIPTION] = {.name = "description",
                          .type = FIELD_TEXT,
                          .flags = FIELD_CREATE | FIELD_LONG,
                          .max = 500,
                          .title = {"Description", "描述"}},
    {0},
};

const struct field keep_folders_fields[] = {
    {.name = "folder",
     .type = FIELD_TEXT,
     .flags = FIELD_CREATE,
     .max = MANIFEST_MAX_PATH,
     .title = {"Folder", "文件夹"}},
    {0},
};

/* What a folder can become a version of. */
static const struct sort {
    const struct kind *set, *version;
    int given, made; /* the inputs that name a set, and a new one */
} sorts[] = {
    {&kind_algorithm_set, &kind_algorithm_version, KEEP_ALGORITHM, KEEP_NEW_ALGORITHM},
    {&kind_model_set, &kind_model_version, KEEP_MODEL, KEEP_NEW_MODEL},
};

/* Where a version goes. */
struct target {
    const struct sort *sort;
    int64_t set;     /* 0: a new one */
    struct str name; /* of the new one */
};

/* --- what both actions ask --- */

static bool need_own(struct op *op, const struct object *o, struct err *err)
{
    return op->caller->user == o->created_by || op->caller->administrator ||
           err_message(err, ERR_FORBIDDEN, NULL, MESSAGE_KEEP_NOT_OWN);
}

static bool check_folder(struct str folder, struct err *err)
{
    struct err bad = {0};
    return manifest_check_path(folder, &bad) ||
           err_because(err, ERR_INVALID, "folder", &bad, MESSAGE_KEEP_PATH);
}

/* What is mounted there is not on the server's disk: below it lies nothing, or what the mount hides. */
static bool check_mounts(struct core *core, const struct object *o, const char *folder, struct arena *a,
                         struct err *err)
{
    struct workspace_mount *m;
    size_t n;
    if (!workspace_mounts(core, o, a, &m, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (workspace_is_in(folder, m[i].path))
            return err_message(err, ERR_CONFLICT, "folder", MESSAGE_KEEP_MOUNTED, m[i].path);
    return true;
}

static bool open_folder(struct core *core, const struct object *o, const char *folder, struct arena *a,
                        struct workspace_folder *ret, struct err *err)
{
    struct err why = {0};
    struct workspace_folder f;
    bool ok = workspace_open(core, o, folder, a, &f, &why);
    auto_fd int fd = ok ? f.fd : -1;
    if ((!ok || !f.inside) && !check_mounts(core, o, folder, a, err))
        return false;
    if (!ok) {
        *err = why;
        return false;
    }
    if (workspace_is_empty(fd))
        return err_message(err, ERR_CONFLICT, "folder", MESSAGE_KEEP_EMPTY, folder);
    fd = -1;
    *ret = f;
    return true;
}

/* --- starting --- */

static bool read_target(const struct db_value *input, struct target *ret, struct err *err)
{
    int given = 0;
    for (size_t i = 0; i < countof(sorts); i++) {
        const struct db_value *old = &input[sorts[i].given], *fresh = &input[sorts[i].made];
        if (old->type != DB_NULL)
            given++, *ret = (struct target){.sort = &sorts[i], .set = old->i};
        if (fresh->type != DB_NULL)
            given++, *ret = (struct target){.sort = &sorts[i], .name = fresh->s};
    }
    return given == 1 ||
           err_set(err, ERR_INVALID, keep_fields[KEEP_ALGORITHM].name,
                   "one of %s, %s, %s and %s is to be given, and these are %d",
                   keep_fields[KEEP_ALGORITHM].name, keep_fields[KEEP_MODEL].name,
                   keep_fields[KEEP_NEW_ALGORITHM].name, keep_fields[KEEP_NEW_MODEL].name, given);
}

static bool need_rights(const struct caller *c, const struct target *to, int64_t project, struct arena *a,
                        struct err *err)
{
    return (to->set || caller_need(c, arena_printf(a, "%s.create", to->sort->set->name), project, err)) &&
           caller_need(c, arena_printf(a, "%s.create", to->sort->version->name), project, err);
}

static bool find_set(struct op *op, const struct target *to, int64_t project, struct err *err)
{
    struct object set;
    struct err why = {0};
    const char *field = keep_fields[to->sort->given].name;
    if (!engine_get(op->core, op->caller, to->sort->set, 0, to->set, op->arena, &set, &why))
        return why.code == ERR_NOT_FOUND ? err_set(err, ERR_INVALID, field, "%s: %s", field, why.message)
                                         : (*err = why, false);
    return set.project == project ||
           err_set(err, ERR_INVALID, field, "%s: %lld belongs to another project than the environment", field,
                   (long long)to->set);
}

/* The write that makes the set asks again; this is for the client that waits for an answer now. */
static bool is_free(struct op *op, const struct target *to, int64_t project, struct err *err)
{
    struct db_row row;
    bool found;
    const char *sql =
        arena_printf(op->arena, "SELECT id FROM %s WHERE project = ? AND name = ?", to->sort->set->table);
    if (!db_query_one(op->core->db, op->arena, sql, db_args(db_int(project), db_text(to->name)), &row, &found,
                      err))
        return false;
    return !found || engine_taken(to->sort->set, keep_fields[to->sort->made].name, db_text(to->name), err);
}

static void write_params(const struct target *to, const struct db_value *input, struct buf *out)
{
    struct json_out o;
    json_begin(&o, out);
    json_object(&o);
    json_kstr(&o, "folder", input[KEEP_FOLDER].s);
    json_kz(&o, "kind", to->sort->version->name);
    if (to->set)
        json_kint(&o, "set", to->set);
    else
        json_kstr(&o, "name", to->name);
    json_kstr(&o, "description",
              input[KEEP_DESCRIPTION].type == DB_TEXT ? input[KEEP_DESCRIPTION].s : STR_NULL);
    json_object_end(&o);
}

bool keep_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
              int *status, struct err *err)
{
    (void)status;
    struct target to;
    struct str folder = input[KEEP_FOLDER].s;
    struct workspace_folder f;
    auto_buf struct buf params = {0};
    int64_t id;
    if (!need_own(op, o, err) || !check_folder(folder, err) || !read_target(input, &to, err) ||
        !need_rights(op->caller, &to, o->project, op->arena, err) ||
        !(to.set ? find_set(op, &to, o->project, err) : is_free(op, &to, o->project, err)) ||
        !open_folder(op->core, o, arena_strz(op->arena, folder), op->arena, &f, err))
        return false;
    close(f.fd);
    if (!quota_admit_storage(op->core, o->project, 0, err))
        return false;
    write_params(&to, input, &params);
    const struct task_new t = {.type = task_environment_keep.name,
                               .project = o->project,
                               .subject_kind = kind_environment.name,
                               .subject = o->id,
                               .name = task_name(op->arena, MESSAGE_NAME_KEEP, STR_ARG(folder)),
                               .params = buf_view(&params)};
    return task_start(op->core, op->caller, &t, op->arena, &id, err) &&
           engine_answer_id(op, &kind_task, id, out, err);
}

/* --- the task --- */

struct keeping {
    struct task *task;
    const char *folder;
    struct target to;
    struct gathering files;
    struct str result; /* of this run, or of one before the server was killed */
};

static void read_params(struct keeping *k)
{
    yyjson_val *p = k->task->params;
    struct str kind = json_str(yyjson_obj_get(p, "kind"));
    k->folder = arena_strz(k->task->arena, json_str(yyjson_obj_get(p, "folder")));
    k->to.set = yyjson_get_sint(yyjson_obj_get(p, "set"));
    k->to.name = json_str(yyjson_obj_get(p, "name"));
    for (size_t i = 0; i < countof(sorts); i++)
        if (str_is(kind, sorts[i].version->name))
            k->to.sort = &sorts[i];
}

static bool made_set(struct op *op, struct keeping *k, struct object *ret, struct err *err)
{
    struct object o = engine_object(op->arena, k->to.sort->set);
    bool found;
    if (!k->to.set) {
        o.project = k->task->project;
        o.created_by = op->caller->user;
        *object_value(&o, "name") = db_text(k->to.name);
        *object_value(&o, "scenario") = db_textz("other");
        *object_value(&o, "public") = db_int(0);
        *ret = o;
        return engine_insert_row(op, ret, err);
    }
    return engine_load_row(op, k->to.sort->set, k->to.set, ret, &found, err) &&
           (found || err_set(err, ERR_NOT_FOUND, keep_fields[k->to.sort->given].name,
                             "the set with the id %lld was deleted meanwhile", (long long)k->to.set));
}

static bool write_lineage(struct op *op, const struct keeping *k, const struct object *o, struct str *ret,
                          struct err *err)
{
    auto_buf struct buf text = {0};
    struct json_out out;
    json_begin(&out, &text);
    json_object(&out);
    lineage_ref(&out, "environment", o);
    json_kz(&out, "folder", k->folder);
    if (!lineage_versions(op, "data", &kind_dataset_version, o, "datasets", &out, err) ||
        !lineage_versions(op, "algorithms", &kind_algorithm_version, o, "algorithms", &out, err) ||
        !lineage_versions(op, "models", &kind_model_version, o, "models", &out, err) ||
        !lineage_named(op, "spec", kind_by_name(STR("spec")), object_int(o, "spec"), &out, err))
        return false;
    json_kstr(&out, "image", object_text(o, "image"));
    json_kint(&out, "nodes", object_int(o, "nodes"));
    json_object_end(&out);
    *ret = arena_str(op->arena, buf_view(&text));
    return true;
}

static bool write_result(struct op *op, struct keeping *k, const struct object *version, struct err *err)
{
    auto_buf struct buf text = {0};
    struct json_out out;
    json_begin(&out, &text);
    json_object(&out);
    json_kint(&out, "files", (int64_t)k->files.n);
    json_kint(&out, "bytes", k->files.bytes);
    json_key(&out, "made");
    if (!lineage_version(op, version->kind, version->id, &out, err))
        return false;
    json_object_end(&out);
    k->result = arena_str(k->task->arena, buf_view(&text));
    return true;
}

static bool make_version(struct op *op, struct keeping *k, const struct object *environment, struct err *err)
{
    struct object set, o = engine_object(op->arena, k->to.sort->version);
    struct str lineage, description = json_str(yyjson_obj_get(k->task->params, "description"));
    if (!need_rights(op->caller, &k->to, k->task->project, op->arena, err) || !made_set(op, k, &set, err) ||
        !write_lineage(op, k, environment, &lineage, err))
        return false;
    o.project = k->task->project;
    o.parent = set.id;
    o.created_by = op->caller->user;
    *object_value(&o, "description") =
        description.n ? db_text(description)
                      : db_textz(arena_printf(op->arena, "Kept from /workspace/%s of " STR_FMT, k->folder,
                                              STR_ARG(object_text(environment, "name"))));
    *object_value(&o, "lineage") = db_text(lineage);
    return gather_insert(op, &k->files, &o, err) && write_result(op, k, &o, err);
}

/* The task's row has the result from the same write on: a server that is killed afterwards makes no second
 * version. */
static bool keep_write(struct op *op, void *ctx, struct err *err)
{
    struct keeping *k = ctx;
    struct object task, environment;
    bool has_task, has_environment;
    if (!engine_load_row(op, &kind_task, k->task->id, &task, &has_task, err) ||
        !engine_load_row(op, &kind_environment, k->task->subject, &environment, &has_environment, err))
        return false;
    if (!has_task || !has_environment)
        return err_message(err, ERR_NOT_FOUND, NULL, MESSAGE_ENVIRONMENT_DELETED);
    if (!make_version(op, k, &environment, err))
        return false;
    *object_value(&task, "result") = db_text(k->result);
    return engine_update_row(op, &task, err);
}

/* Those below the folder are missing from it while the environment does not run. */
static bool tell_mounts(struct keeping *k, const struct object *o, struct err *err)
{
    struct workspace_mount *m;
    size_t n, prefix = strlen(k->folder) + 1;
    if (!workspace_mounts(k->task->core, o, k->task->arena, &m, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (workspace_is_in(m[i].path, k->folder))
            task_note(k->task, str_of(m[i].path + prefix), NULL, MESSAGE_MOUNTED_LATER);
    return true;
}

static bool read_files(struct keeping *k, const struct object *o, const struct workspace_folder *f,
                       struct err *err)
{
    struct task *t = k->task;
    if (!gather_size(t, f->fd, &k->files.total, err) ||
        !quota_admit_storage(t->core, t->project, k->files.total, err) ||
        !gather_room(t->core, k->files.total, err) || (!f->inside && !tell_mounts(k, o, err)) ||
        !gather_files(&k->files, f->fd, err) || !workspace_still(t->core, f, t->arena, err))
        return false;
    return k->files.n || err_message(err, ERR_CONFLICT, "folder", MESSAGE_KEEP_NO_FILES, k->folder);
}

static bool run_task(struct task *t, struct err *err)
{
    struct keeping k = {.task = t, .files = {.task = t}};
    struct object o, row;
    struct workspace_folder f;
    if (!engine_get(t->core, &caller_system, &kind_task, 0, t->id, t->arena, &row, err))
        return false;
    k.result = object_text(&row, "result");
    if (k.result.n)
        return task_result(t, k.result), true;
    read_params(&k);
    if (!k.to.sort)
        return err_set(err, ERR_INTERNAL, NULL, "the task does not say what to make a version of");
    if (!engine_get(t->core, &caller_system, &kind_environment, 0, t->subject, t->arena, &o, err) ||
        !open_folder(t->core, &o, k.folder, t->arena, &f, err))
        return false;
    unused_ok auto_fd int fd = f.fd; /* closes it */
    if (!read_files(&k, &o, &f, err) || !gather_hold(&k.files, err))
        return false;
    bool ok = engine_write(t->core, &t->caller, t->arena, keep_write, &k, err);
    collect_settle(&k.files);
    if (ok)
        task_result(t, k.result);
    return ok;
}

const struct task_type task_environment_keep = {
    .name = "environment_keep", .title = {"Keep as version", "保存为版本"}, .run = run_task};

/* --- looking for a folder --- */

static bool list_names(struct op *op, const struct object *o, const char *path, const char ***ret,
                       size_t *ret_n, struct err *err)
{
    struct workspace_folder f;
    struct err why = {0};
    *ret_n = 0;
    if (!workspace_open(op->core, o, path, op->arena, &f, &why)) {
        *err = why;
        return !*path && why.code == ERR_INVALID; /* it was never started */
    }
    auto_fd int fd = f.fd;
    return workspace_folders(fd, op->arena, ret, ret_n, err);
}

static bool is_mount(const struct workspace_mount *m, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(m[i].path, path) == 0)
            return true;
    return false;
}

bool keep_folders_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                      int *status, struct err *err)
{
    (void)status;
    struct str path = input[0].type == DB_TEXT ? input[0].s : STR("");
    struct workspace_mount *m;
    const char **names;
    size_t n, n_mounts;
    if (!need_own(op, o, err) || (path.n && !check_folder(path, err)) ||
        !workspace_mounts(op->core, o, op->arena, &m, &n_mounts, err) ||
        !list_names(op, o, arena_strz(op->arena, path), &names, &n, err))
        return false;
    json_object(out);
    json_kstr(out, "folder", path);
    json_key(out, "items");
    json_array(out);
    for (size_t i = 0; i < n; i++) {
        struct err bad;
        const char *full =
            arena_printf(op->arena, STR_FMT "%s%s", STR_ARG(path), path.n ? "/" : "", names[i]);
        if (!manifest_check_path(str_of(full), &bad))
            continue;
        json_object(out);
        json_kz(out, "name", names[i]);
        json_kbool(out, "mounted", is_mount(m, n_mounts, full));
        json_object_end(out);
    }
    json_array_end(out);
    json_object_end(out);
    return true;
}
