/* The kind `environment`: what people give and see. */
#include "base/clock.h"
#include "base/hash.h"
#include "core/account/password.h"
#include "core/environment/environment.h"
#include "core/environment/tools.h"
#include "core/image/image.h"
#include "core/job/fields.h"
#include "core/job/ssh_key.h"
#include "store/store.h"

#define REFS 20 /* of each kind */

static const struct choice states[] = {
    {"stopped", {"Stopped", "已停止"}},
    {"pending", {"Pending", "等待中"}},
    {"starting", {"Starting", "启动中"}},
    {"running", {"Running", "运行中"}},
    {"stopping", {"Stopping", "停止中"}},
    {"failed", {"Failed", "失败"}},
    {NULL, {NULL, NULL}},
};

/* One line each, of the sorts that sshd takes: no options, nothing that could become a second line. */
static bool keys_check(struct arena *a, const struct field *f, const struct db_value *value, struct err *err)
{
    static const char *const sorts[] = {"ssh-ed25519 ", "ssh-rsa ", "ecdsa-sha2-",
                                        "sk-ssh-ed25519@openssh.com ", "sk-ecdsa-sha2-nistp256@openssh.com "};
    yyjson_val *list = value->type == DB_TEXT ? json_parse(a, value->s, err) : NULL, *v;
    size_t i, max;
    if (value->type != DB_TEXT)
        return true;
    if (!list)
        return false;
    yyjson_arr_foreach(list, i, max, v)
    {
        struct str key = json_str(v);
        bool known = false;
        for (size_t k = 0; k < countof(sorts); k++)
            known |= str_starts(key, sorts[k]);
        for (size_t k = 0; k < key.n; k++)
            known = known && (unsigned char)key.p[k] >= ' ';
        if (!known)
            return err_set(err, ERR_INVALID, f->name,
                           "%s: the %zu. is no public key of OpenSSH (one line, as in id_ed25519.pub)",
                           f->name, i + 1);
    }
    return true;
}

static const struct field fields[] = {
    FIELD_NAME(FIELD_CREATE | FIELD_UNIQUE),
    JOB_FIELD_STATE(states, "\"stopped\""),
    JOB_FIELD_REASON(FIELD_VIRTUAL),
    {.name = "description",
     .type = FIELD_TEXT,
     .flags = FIELD_ADVANCED | FIELD_EDIT | FIELD_SEARCH | FIELD_LONG,
     .max = 500,
     .title = {"Description", "描述"}},
    {.name = "datasets",
     .type = FIELD_REFS,
     .flags = FIELD_EDIT,
     .ref = "dataset_version",
     .max = REFS,
     .mount = "/workspace/dataset/NAME",
     .title = {"Datasets", "数据集"},
     .help = {"Read-only in /workspace/dataset/<name>.", "只读挂载于 /workspace/dataset/<名称>。"}},
    {.name = "algorithms",
     .type = FIELD_REFS,
     .flags = FIELD_EDIT,
     .ref = "algorithm_version",
     .max = REFS,
     .mount = "/workspace/algorithm/NAME",
     .title = {"Algorithms", "算法"},
     .help = {"Read-only in /workspace/algorithm/<name>.", "只读挂载于 /workspace/algorithm/<名称>。"}},
    {.name = "models",
     .type = FIELD_REFS,
     .flags = FIELD_EDIT,
     .ref = "model_version",
     .max = REFS,
     .mount = "/workspace/model/NAME",
     .title = {"Models", "模型"},
     .help = {"Read-only in /workspace/model/<name>.", "只读挂载于 /workspace/model/<名称>。"}},
    JOB_FIELD_IMAGE(FIELD_EDIT),
    JOB_FIELD_SPEC(FIELD_EDIT | FIELD_FILTER | FIELD_LIST),
    JOB_FIELD_NODES(FIELD_EDIT),
    JOB_FIELD_HOURS(FIELD_EDIT, 10000, "24"),
    {.name = "idle_hours",
     .type = FIELD_REAL,
     .flags = FIELD_EDIT,
     .min = 0,
     .max = 10000,
     .fallback = "4",
     .unit = "hours",
     .section = SECTION_WHERE,
     .title = {"Ends when unused for", "闲置后结束"},
     .help = {"0: never. What computes counts as used; /workspace is kept.",
              "0 表示不因闲置而结束。正在计算视为使用中；/workspace 会保留。"}},
    {.name = "password",
     .type = FIELD_TEXT,
     .flags = FIELD_ADVANCED | FIELD_EDIT | FIELD_SECRET,
     .min = PASSWORD_MIN,
     .max = PASSWORD_MAX,
     .section = SECTION_WHO,
     .title = {"SSH password", "SSH 密码"},
     .help = {"Made when empty. Counts from the next start.", "留空则自动生成。下次启动时生效。"}},
    {.name = "ssh_keys",
     .type = FIELD_TEXTS,
     .flags = FIELD_ADVANCED | FIELD_EDIT,
     .max = 20,
     .item_max = 2000,
     .check = keys_check,
     .section = SECTION_WHO,
     .title = {"SSH public keys", "SSH 公钥"},
     .help = {"As in id_ed25519.pub. Count from the next start.",
              "与 id_ed25519.pub 内容相同。下次启动时生效。"}},
    {.name = "job", .type = FIELD_REF, .ref = "job", .title = {"Job", "作业"}},
    JOB_FIELD_STARTED,
    {.name = "ends_at", .type = FIELD_TIME, .flags = FIELD_LIST, .title = {"Ends", "结束时间"}},
    {.name = "idle_s",
     .type = FIELD_INT,
     .flags = FIELD_VIRTUAL,
     .unit = "seconds",
     .title = {"Unused for", "闲置时间"}},
    {.name = "ssh_port", .type = FIELD_INT, .flags = FIELD_STATUS, .title = {"SSH port", "SSH 端口"}},
    {.name = "host_key", .type = FIELD_TEXT, .flags = FIELD_INTERNAL, .title = {"Host key", "主机密钥"}},
    {0},
};

static bool prepare(struct op *op, const struct object *old, struct object *new_, struct err *err)
{
    const struct image_want want = {.project = new_->project,
                                    .name = arena_strz(op->arena, object_text(new_, "image")),
                                    .spec = object_int(new_, "spec")};
    return (old && str_is(object_text(old, "image"), want.name) && object_int(old, "spec") == want.spec) ||
           image_check(op->core, &want, "image", err);
}

static bool before_create(struct op *op, struct object *o, struct err *err)
{
    uint8_t seed[SSH_KEY_SEED];
    char *hex = arena_alloc(op->arena, 2 * sizeof seed + 1),
         *password = arena_alloc(op->arena, PASSWORD_TEXT);
    random_bytes(seed, sizeof seed);
    hex_encode(seed, sizeof seed, hex);
    *object_value(o, "host_key") = db_textz(hex);
    if (!object_text(o, "password").n) {
        password_generate(password);
        *object_value(o, "password") = db_textz(password);
    }
    (void)err;
    return true;
}

static bool before_update(struct op *op, const struct object *old, struct object *new_, struct err *err)
{
    (void)op;
    (void)err;
    if (!object_text(new_, "password").n)
        *object_value(new_, "password") = *object_value(old, "password");
    return true;
}

/* Its jobs go with it; its folder too, in the background. */
static bool before_delete(struct op *op, struct object *o, struct err *err)
{
    struct str state = object_text(o, "state");
    struct db_rows rows;
    if (!str_is(state, "stopped") && !str_is(state, "failed"))
        return err_set(err, ERR_CONFLICT, "state", "the environment is " STR_FMT ": stop it first",
                       STR_ARG(state));
    if (!conn_query(op->conn, op->arena, "SELECT id FROM jobs WHERE owner_kind = ? AND owner = ?",
                    db_args(db_textz(kind_environment.name), db_int(o->id)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct object job;
        bool found;
        if (!engine_load_row(op, &kind_job, rows.row[i].v[0].i, &job, &found, err))
            return false;
        if (found && (!engine_delete_row(op, &job, err) || !kind_job.after_delete(op, &job, err)))
            return false;
    }
    const char *folder = environment_folder(op->core, o->id, o->created_at, op->arena);
    return store_folder_use(op->conn, folder, 0, -1, err) &&
           conn_exec(op->conn, "INSERT INTO workspace_purges (environment) VALUES (?)",
                     db_args(db_int(o->id)), NULL, err);
}

int64_t environment_idle(struct core *core, const struct object *o)
{
    if (!str_is(object_text(o, "state"), "running"))
        return -1;
    int64_t since = object_int(o, "started_at"), used = tools_touched(core->tools, object_int(o, "job"));
    int64_t idle = (clock_now() - (used > since ? used : since)) / 1000000;
    return idle > 0 ? idle : 0;
}

/* Why it is as it is tells its job, also while that waits and the reason changes. */
static bool show_reason(struct op *op, const struct object *o, struct json_out *out, struct err *err)
{
    struct db_row row;
    bool found = false;
    int64_t job = object_int(o, "job");
    if (job && !db_query_one(op->core->db, op->arena, "SELECT reason, reason_zh FROM jobs WHERE id = ?",
                             db_args(db_int(job)), &row, &found, err))
        return false;
    json_kstr(out, "reason", found ? row.v[0].s : STR_NULL);
    json_kstr(out, "reason_zh", found ? row.v[1].s : STR_NULL);
    return true;
}

static bool show(struct op *op, const struct object *o, struct json_out *out, struct err *err)
{
    if (!show_reason(op, o, out, err))
        return false;
    int64_t idle = environment_idle(op->core, o);
    json_key(out, "idle_s");
    if (idle < 0)
        json_null(out);
    else
        json_int(out, idle);
    return true;
}

static void changed(struct core *core, const struct object *o, const char *verb)
{
    (void)o;
    (void)verb;
    environments_wake(core);
}

const struct kind kind_environment = {
    .name = "environment",
    .plural = "environments",
    .table = "environments",
    .title = {"Environment", "开发环境"},
    .titles = {"Environments", "开发环境"},
    .help = {"Containers to work in: JupyterLab, VS Code, SSH. Deleting one deletes its /workspace.",
             "用于开发的容器：JupyterLab、VS Code、SSH。删除时其 /workspace 一并删除。"},
    .menu = "build",
    .scope = SCOPE_PROJECT,
    .verbs = VERB_ALL,
    .fields = fields,
    .actions = environment_actions,
    .prepare = prepare,
    .before_create = before_create,
    .before_update = before_update,
    .before_delete = before_delete,
    .show = show,
    .changed = changed,
    .extra_sql = "CREATE TABLE workspace_purges (environment BIGINT PRIMARY KEY);\n"
                 "CREATE INDEX environments_state ON environments (state, id);\n",
};
