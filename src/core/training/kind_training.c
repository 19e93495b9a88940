/* The kind `training`: what is to be run. */
#include "base/clock.h"
#include "core/folder/folder.h"
#include "core/image/image.h"
#include "core/job/fields.h"
#include "core/training/training.h"

const struct choice training_launchers[] = {
    {"each", {"On every node", "每个节点"}},
    {"first", {"On the first node (mpirun)", "首个节点（mpirun）"}},
    {NULL, {NULL, NULL}},
};

const struct choice training_functions[] = {
    {"train", {"Train", "训练"}}, {"test", {"Test", "测试"}}, {"batch", {"Batch inference", "批量推理"}},
    {"serve", {"Serve", "服务"}}, {"sdk", {"SDK", "SDK"}},    {NULL, {NULL, NULL}},
};

#define PARAMETERS_FIELD(more, en, zh)                                                                       \
    {                                                                                                        \
        .name = "parameters", .type = FIELD_JSON, .flags = (more), .max = 1 << 17,                           \
        .schema = "{\"type\":\"object\"}", .title = {"Parameters", "参数"}, .help = {en, zh},                \
    }

const struct field training_start_fields[] = {
    PARAMETERS_FIELD(FIELD_CREATE, "In place of the training's own, for this run.",
                     "仅用于本次运行，替代训练的参数。"),
    {0},
};

#define LAST_RUN_SCHEMA                                                                                      \
    "{\"type\":[\"object\",\"null\"],\"properties\":{\"id\":{\"type\":\"integer\"},\"name\":{\"type\":"      \
    "\"string\"},\"state\":{\"type\":\"string\"},\"started_at\":{\"type\":[\"string\",\"null\"]},\"ended_"   \
    "at\":{"                                                                                                 \
    "\"type\":[\"string\",\"null\"]},\"metric\":{\"type\":[\"string\",\"null\"]},\"last\":{\"type\":["       \
    "\"number\","                                                                                            \
    "\"null\"]},\"best\":{\"type\":[\"number\",\"null\"]}},\"required\":[\"id\",\"name\",\"state\","         \
    "\"started_at\",\"ended_at\",\"metric\",\"last\",\"best\"]}"

static const struct field fields[] = {
    FIELD_NAME(FIELD_EDIT | FIELD_UNIQUE),
    FIELD_DESCRIPTION,
    {.name = "datasets",
     .type = FIELD_REFS,
     .flags = FIELD_EDIT | FIELD_LIST,
     .ref = "dataset_version",
     .max = 20,
     .fallback = "[]",
     .mount = "/workspace/dataset/NAME",
     .title = {"Datasets", "数据集"},
     .help = {"Their files are in /workspace/dataset/NAME.", "文件位于 /workspace/dataset/名称。"}},
    {.name = "algorithm",
     .type = FIELD_REF,
     .flags = FIELD_EDIT | FIELD_FILTER | FIELD_LIST,
     .ref = "algorithm_version",
     .mount = "/workspace/algorithm",
     .title = {"Algorithm", "算法"},
     .help = {"Its files are in /workspace/algorithm; the command runs there.",
              "文件位于 /workspace/algorithm，命令在其中执行。"}},
    {.name = "base_model",
     .type = FIELD_REF,
     .flags = FIELD_EDIT | FIELD_FILTER,
     .ref = "model_version",
     .mount = "/workspace/model/NAME",
     .title = {"Base model", "基础模型"},
     .help = {"Its files are in /workspace/model/NAME.", "文件位于 /workspace/model/名称。"}},
    {.name = "function",
     .type = FIELD_CHOICE,
     .flags = FIELD_ADVANCED | FIELD_EDIT,
     .choices = training_functions,
     .fallback = "\"train\"",
     .title = {"Function", "功能"},
     .help = {"Of those that the algorithm's ingot-algorithm.json declares.",
              "算法的 ingot-algorithm.json 所声明的功能之一。"}},
    PARAMETERS_FIELD(FIELD_EDIT,
                     "Values of the algorithm's parameters; the code reads them from INGOT_PARAMETERS.",
                     "算法参数的取值；代码从 INGOT_PARAMETERS 中读取。"),
    {.name = "image",
     .type = FIELD_TEXT,
     .flags = FIELD_FILTER | FIELD_EDIT,
     .max = 200,
     .section = SECTION_WHERE,
     .title = {"Image", "镜像"},
     .help = {"\"host\" is this machine's own programs. Without one the algorithm's runtime, or else host.",
              "“host” 为本机自带的程序。不填则使用算法的运行环境，没有则为 host。"}},
    JOB_FIELD_SPEC(FIELD_EDIT | FIELD_FILTER | FIELD_LIST),
    {.name = "command",
     .type = FIELD_TEXT,
     .flags = FIELD_EDIT | FIELD_LONG,
     .max = 3000,
     .title = {"Command", "命令"},
     .help =
         {"Run by /bin/sh, in /workspace/algorithm or else in /workspace. Without one the algorithm's own.",
          "由 /bin/sh 在 /workspace/algorithm（无算法时为 /workspace）中执行。不填则使用算法声明的命令。"}},
    JOB_FIELD_ENV(FIELD_EDIT),
    JOB_FIELD_NODES(FIELD_EDIT),
    {.name = "launcher",
     .type = FIELD_CHOICE,
     .flags = FIELD_ADVANCED | FIELD_EDIT,
     .choices = training_launchers,
     .fallback = "\"each\"",
     .section = SECTION_WHERE,
     .title = {"The command runs", "命令运行于"},
     .help = {"With mpirun the first node runs it and reaches the others by ssh.",
              "使用 mpirun 时由首个节点执行，并通过 ssh 访问其他节点。"}},
    JOB_FIELD_PRIORITY(FIELD_EDIT),
    JOB_FIELD_RETRIES(FIELD_EDIT),
    JOB_FIELD_HOURS(FIELD_EDIT, 10000, "0"),
    {.name = "save_to",
     .type = FIELD_REF,
     .flags = FIELD_EDIT | FIELD_FILTER,
     .ref = "model_set",
     .mount = "/workspace/persistent-model",
     .title = {"Save the model to", "模型保存到"},
     .help = {"What is in /workspace/persistent-model at the end becomes a new version of it.",
              "结束时 /workspace/persistent-model 中的内容成为其新版本。"}},
    {.name = "last_run",
     .type = FIELD_JSON,
     .flags = FIELD_VIRTUAL,
     .schema = LAST_RUN_SCHEMA,
     .title = {"Last run", "最近运行"},
     .help = {"The newest instance, and the metric that tells how good it is.",
              "最新的运行实例，以及衡量其好坏的指标。"}},
    {0},
};

/* A public model set of another project may be read, not added to. */
static bool check_target(struct op *op, const struct object *o, struct err *err)
{
    int64_t id = object_int(o, "save_to");
    struct object set;
    bool found;
    if (!id)
        return true;
    if (!engine_load_row(op, &kind_model_set, id, &set, &found, err))
        return false;
    return (found && set.project == o->project) ||
           err_set(err, ERR_INVALID, "save_to", "save_to: must be a model set of the same project");
}

/* Where no algorithm could have a say it is host. */
static void name_image(struct object *o)
{
    if (!object_text(o, "image").n && !object_int(o, "algorithm"))
        *object_value(o, "image") = db_textz("host");
}

static bool before_create(struct op *op, struct object *o, struct err *err)
{
    name_image(o);
    return check_target(op, o, err);
}

/* Fields that what the algorithm gives depends on. */
static bool same_code(const struct object *old, const struct object *new_)
{
    static const char *const texts[] = {"command", "function", "image", "parameters"};
    for (size_t i = 0; i < countof(texts); i++)
        if (!str_eq(object_text(old, texts[i]), object_text(new_, texts[i])))
            return false;
    return object_int(old, "algorithm") == object_int(new_, "algorithm");
}

/* References are looked at in the write: until then an algorithm that the caller may not see is none. */
static bool sees_algorithm(struct op *op, const struct object *o)
{
    struct object version;
    struct err ignored = {0};
    int64_t id = object_int(o, "algorithm");
    return !id ||
           engine_get(op->core, op->caller, &kind_algorithm_version, 0, id, op->arena, &version, &ignored);
}

static bool prepare(struct op *op, const struct object *old, struct object *new_, struct err *err)
{
    struct training_filled filled;
    if (!(old && same_code(old, new_)) && sees_algorithm(op, new_) &&
        !training_fill(op->core, new_, STR_NULL, false, op->arena, &filled, err))
        return false;
    if (!object_text(new_, "image").n)
        return true;
    const struct image_want want = {.project = new_->project,
                                    .name = arena_strz(op->arena, object_text(new_, "image")),
                                    .spec = object_int(new_, "spec")};
    return (old && str_is(object_text(old, "image"), want.name) && object_int(old, "spec") == want.spec) ||
           image_check(op->core, &want, "image", err);
}

static bool before_update(struct op *op, const struct object *old, struct object *new_, struct err *err)
{
    (void)old;
    name_image(new_);
    return check_target(op, new_, err);
}

/* The main metric of a summary: the first that is no loss, else the first. */
static yyjson_val *main_metric(struct arena *a, struct str summary, struct str *ret_name)
{
    struct err ignored = {0};
    yyjson_val *key, *m, *first = NULL;
    size_t i, max;
    yyjson_obj_foreach(yyjson_obj_get(json_parse(a, summary, &ignored), "metrics"), i, max, key, m)
    {
        bool lower = yyjson_is_true(yyjson_obj_get(m, "lower"));
        if (first && lower)
            continue;
        first = m;
        *ret_name = json_str(key);
        if (!lower)
            break;
    }
    return first;
}

static void time_or_null(struct json_out *out, const char *key, const struct db_value *v)
{
    char text[CLOCK_TEXT_MAX];
    json_kz(out, key, v->type == DB_INT ? clock_format(v->i, text) : NULL);
}

static void number_or_null(struct json_out *out, const char *key, yyjson_val *v)
{
    json_key(out, key);
    if (yyjson_is_num(v))
        json_real(out, yyjson_get_num(v));
    else
        json_null(out);
}

static bool show(struct op *op, const struct object *o, struct json_out *out, struct err *err)
{
    struct db_row row;
    bool found;
    struct str name = STR_NULL;
    if (!db_query_one(op->core->db, op->arena,
                      "SELECT id, name, state, started_at, ended_at, summary FROM training_instances"
                      " WHERE training = ? ORDER BY id DESC LIMIT 1",
                      db_args(db_int(o->id)), &row, &found, err))
        return false;
    json_key(out, "last_run");
    if (!found) {
        json_null(out);
        return true;
    }
    yyjson_val *m =
        row.v[5].type == DB_TEXT && row.v[5].s.n ? main_metric(op->arena, row.v[5].s, &name) : NULL;
    json_object(out);
    json_kint(out, "id", row.v[0].i);
    json_kstr(out, "name", row.v[1].s);
    json_kstr(out, "state", row.v[2].s);
    time_or_null(out, "started_at", &row.v[3]);
    time_or_null(out, "ended_at", &row.v[4]);
    json_kstr(out, "metric", name);
    number_or_null(out, "last", yyjson_obj_get(m, "last"));
    number_or_null(out, "best", yyjson_obj_get(m, "best"));
    json_object_end(out);
    return true;
}

static bool run_start(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                      int *status, struct err *err)
{
    (void)status;
    struct object instance = {0};
    struct str parameters = input[0].type == DB_TEXT ? input[0].s : STR_NULL;
    return training_start(op, o->id, 0, parameters, &instance, err) && engine_answer(op, &instance, out, err);
}

struct copying {
    int64_t from;
    struct str name;
    struct object made;
};

static bool copy_write(struct op *op, void *ctx, struct err *err)
{
    struct copying *c = ctx;
    struct object from, o;
    bool found;
    if (!engine_load_row(op, &kind_training, c->from, &from, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, NULL, "the training was deleted meanwhile");
    o = engine_object(op->arena, &kind_training);
    o.project = from.project;
    o.created_by = op->caller->user;
    memcpy(o.values, from.values, kind_field_count(&kind_training) * sizeof *o.values);
    *object_value(&o, "name") = db_text(c->name);
    if (!engine_insert_row(op, &o, err))
        return false;
    c->made = o;
    return true;
}

static bool run_copy(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                     int *status, struct err *err)
{
    (void)status;
    struct copying c = {.from = o->id, .name = input[0].s};
    return engine_write(op->core, op->caller, op->arena, copy_write, &c, err) &&
           engine_answer(op, &c.made, out, err);
}

static const struct field copy_fields[] = {
    FIELD_COPY_NAME,
    {0},
};

static const struct action actions[] = {
    {.name = "start",
     .permission = "training.start",
     .fields = training_start_fields,
     .answer = "TrainingInstance",
     .status = 201,
     .title = {"Start", "启动"},
     .run = run_start},
    {.name = "copy",
     .permission = "training.create",
     .fields = copy_fields,
     .answer = "Training",
     .status = 201,
     .title = {"Copy", "复制"},
     .run = run_copy},
    {0},
};

const struct kind kind_training = {
    .name = "training",
    .plural = "trainings",
    .table = "trainings",
    .title = {"Training", "训练"},
    .titles = {"Trainings", "训练"},
    .help = {"What is run to make a model, and its runs", "训练定义及其运行实例"},
    .menu = "build",
    .scope = SCOPE_PROJECT,
    .verbs = VERB_ALL,
    .fields = fields,
    .actions = actions,
    .prepare = prepare,
    .before_create = before_create,
    .before_update = before_update,
    .show = show,
};
