#include "core/training/one_click.h"

#include "base/messages.h"
#include "core/caller.h"
#include "core/data/sample.h"
#include "core/folder/folder.h"
#include "core/job/overview.h"
#include "core/kinds.h"
#include "core/training/built_in.h"

enum { MINUTES, LEAVE_OUT, MERGE, TEST_SHARE, SEED, PARAMETERS, SPEC, PLAN_FIELDS, SAVE_TO = PLAN_FIELDS };

#define FIELDS                                                                                               \
    [MINUTES] = {.name = "minutes",                                                                          \
                 .type = FIELD_REAL,                                                                         \
                 .flags = FIELD_CREATE,                                                                      \
                 .max = 100000,                                                                              \
                 .title = {"Minutes", "分钟数"},                                                             \
                 .help = {"Time for training; 10 by default.", "训练可用的时间；默认 10。"}},                \
    [LEAVE_OUT] = {.name = "leave_out",                                                                      \
                   .type = FIELD_JSON,                                                                       \
                   .flags = FIELD_CREATE,                                                                    \
                   .max = 1 << 16,                                                                           \
                   .schema = "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}",                         \
                   .title = {"Labels to leave out", "不使用的标签"}},                                        \
    [MERGE] = {.name = "merge",                                                                              \
               .type = FIELD_JSON,                                                                           \
               .flags = FIELD_CREATE,                                                                        \
               .max = 1 << 16,                                                                               \
               .schema = "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}",             \
               .title = {"Labels to merge", "合并标签"},                                                     \
               .help = {"Old label to new label.", "旧标签对应新标签。"}},                                   \
    [TEST_SHARE] = {.name = "test_share",                                                                    \
                    .type = FIELD_REAL,                                                                      \
                    .flags = FIELD_CREATE,                                                                   \
                    .max = 1,                                                                                \
                    .title = {"Share kept for testing", "留作测试的比例"}},                                  \
    [SEED] = {.name = "seed",                                                                                \
              .type = FIELD_INT,                                                                             \
              .flags = FIELD_CREATE,                                                                         \
              .max = INT32_MAX,                                                                              \
              .title = {"Seed", "随机种子"}},                                                                \
    [PARAMETERS] = {.name = "parameters",                                                                    \
                    .type = FIELD_JSON,                                                                      \
                    .flags = FIELD_CREATE,                                                                   \
                    .max = 1 << 17,                                                                          \
                    .schema = "{\"type\":\"object\"}",                                                       \
                    .title = {"Further parameters", "其他参数"}},                                            \
    [SPEC] = {                                                                                               \
        .name = "spec",                                                                                      \
        .type = FIELD_REF,                                                                                   \
        .flags = FIELD_CREATE,                                                                               \
        .ref = "spec",                                                                                       \
        .title = {"Spec", "规格"},                                                                           \
        .help = {"By default the smallest with 2 GB of memory.", "默认为内存不少于 2 GB 的最小规格。"}}

const struct field one_click_plan_fields[] = {FIELDS, {0}};
const struct field one_click_train_fields[] = {
    FIELDS,
    [SAVE_TO] = {.name = "save_to",
                 .type = FIELD_REF,
                 .flags = FIELD_CREATE,
                 .ref = "model_set",
                 .title = {"Save the model to", "模型保存到"},
                 .help = {"By default the model set that is called like the dataset; it is made.",
                          "默认为与数据集同名的模型集，没有则新建。"}},
    {0},
};

/* The fields above are parameters, too; what `parameters` has of the same name gives way. */
static bool read_input(struct op *op, const struct db_value *in, struct one_click *p, struct err *err)
{
    auto_buf struct buf text = {0};
    struct json_out out;
    yyjson_val *more =
                   json_parse(op->arena, in[PARAMETERS].type == DB_TEXT ? in[PARAMETERS].s : STR("{}"), err),
               *key, *v;
    size_t i, n;
    if (!more)
        return false;
    if (!yyjson_is_obj(more))
        return err_message(err, ERR_INVALID, "parameters", MESSAGE_MODEL_OBJECT, "parameters");
    p->spec = in[SPEC].type == DB_INT ? in[SPEC].i : 0;
    json_begin(&out, &text);
    json_object(&out);
    for (i = 0; i < PARAMETERS; i++) {
        if (in[i].type == DB_NULL)
            continue;
        json_key(&out, one_click_plan_fields[i].name);
        if (in[i].type == DB_INT)
            json_int(&out, in[i].i);
        else if (in[i].type == DB_REAL)
            json_real(&out, in[i].r);
        else
            json_raw(&out, in[i].s);
    }
    yyjson_obj_foreach(more, i, n, key, v)
    {
        bool given = yyjson_is_null(v);
        for (size_t k = 0; k < PARAMETERS; k++)
            given = given || (in[k].type != DB_NULL && str_is(json_str(key), one_click_plan_fields[k].name));
        if (given)
            continue;
        json_key(&out, yyjson_get_str(key));
        json_value(&out, v);
    }
    json_object_end(&out);
    p->parameters = arena_str(op->arena, buf_view(&text));
    return true;
}

/* What the job may take: starting, reading the data and testing come on top of the minutes. */
static double hours_of(const struct one_click *p)
{
    double margin = p->minutes / 2 > 10 ? p->minutes / 2 : 10;
    return (p->minutes + margin) / 60;
}

/* --- telling the plan --- */

static void write_words(struct json_out *out, const char *key, const struct err *e)
{
    json_key(out, key);
    json_object(out);
    json_kz(out, "en", e->message);
    json_kz(out, "zh", err_zh(e));
    json_object_end(out);
}

static void write_remarks(const struct one_click *p, struct json_out *out)
{
    static const char *const levels[] = {"error", "warning", "note"};
    json_key(out, "remarks");
    json_array(out);
    for (size_t i = 0; i < p->n_remarks; i++) {
        const struct plan_remark *r = &p->remarks[i];
        json_object(out);
        json_kz(out, "level", levels[r->level]);
        json_kz(out, "id", r->said.id);
        json_kstr(out, "label", r->label);
        write_words(out, "text", &r->said);
        json_object_end(out);
    }
    json_array_end(out);
}

static void write_classes(const struct one_click *p, struct json_out *out)
{
    json_key(out, "classes");
    json_array(out);
    for (size_t i = 0; i < p->n_classes; i++) {
        const struct plan_class *c = &p->classes[i];
        json_object(out);
        json_kstr(out, "label", c->label);
        json_kint(out, "samples", c->samples);
        json_kint(out, "shapes", c->shapes);
        json_kbool(out, "left_out", c->left_out);
        json_kstr(out, "into", str_eq(c->into, c->label) ? STR_NULL : c->into);
        json_kint(out, "total", c->total);
        json_object_end(out);
    }
    json_array_end(out);
}

static void write_counts(const struct one_click *p, struct json_out *out)
{
    json_key(out, "samples");
    json_object(out);
    json_kint(out, "all", p->all);
    json_kint(out, "usable", p->usable);
    json_kint(out, "unannotated", p->unannotated);
    json_kint(out, "rejected", p->rejected);
    json_key(out, "negatives");
    p->negatives < 0 ? json_null(out) : json_int(out, p->negatives);
    json_object_end(out);
    json_key(out, "split");
    json_object(out);
    json_kint(out, "train", p->train);
    json_kint(out, "val", p->val);
    json_kint(out, "test", p->test);
    json_object_end(out);
}

static bool write_needs(struct op *op, const struct one_click *p, struct json_out *out, struct err *err)
{
    struct object spec;
    json_key(out, "runtime");
    json_object(out);
    json_kstr(out, "name", p->function->runtime.n ? p->function->runtime : STR("host"));
    json_kbool(out, "ready", p->image != NULL);
    json_kz(out, "image", p->image);
    json_kz(out, "reason", p->image ? NULL : p->runtime_why.message);
    json_kz(out, "reason_zh", p->image ? NULL : err_zh(&p->runtime_why));
    json_object_end(out);
    json_key(out, "base_model");
    if (p->base_model)
        json_int(out, p->base_model);
    else
        json_null(out);
    json_key(out, "spec");
    if (!p->spec) {
        json_null(out);
        json_key(out, "forecast");
        json_null(out);
        return true;
    }
    if (!engine_get(op->core, &caller_system, kind_by_name(STR("spec")), 0, p->spec, op->arena, &spec, err))
        return false;
    json_object(out);
    json_kint(out, "id", spec.id);
    json_kstr(out, "name", object_text(&spec, "name"));
    json_object_end(out);
    json_key(out, "forecast");
    return forecast_write(
        op,
        &(struct forecast_ask){
            .project = p->dataset.project, .spec = p->spec, .nodes = 1, .hours = hours_of(p)},
        out, err);
}

bool one_click_plan(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                    int *status, struct err *err)
{
    (void)status;
    struct one_click p = {0};
    if (!read_input(op, input, &p, err) || !one_click_make(op, o, &p, err))
        return false;
    json_object(out);
    json_kbool(out, "ok", !one_click_obstacle(&p));
    json_kz(out, "task", annotation_types[p.type].name);
    json_key(out, "algorithm");
    json_object(out);
    json_kint(out, "set", p.algorithm.parent);
    json_kint(out, "version", p.algorithm.id);
    json_kstr(out, "name", object_text(&p.algorithm, "name"));
    json_object_end(out);
    write_counts(&p, out);
    write_classes(&p, out);
    write_remarks(&p, out);
    json_key(out, "minutes");
    json_real(out, p.minutes);
    json_key(out, "parameters");
    json_raw(out, p.values);
    bool ok = write_needs(op, &p, out, err);
    json_object_end(out);
    return ok;
}

/* --- training --- */

static struct str cut(struct arena *a, const char *text)
{
    struct str s = str_of(text);
    size_t n = 0;
    for (size_t count = 0; n < s.n && count < 50; count++)
        utf8_next(s, &n);
    while (n && s.p[n - 1] == ' ')
        n--;
    return arena_str(a, (struct str){s.p, n});
}

static bool find_id(struct op *op, const char *sql, struct db_args args, int64_t *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(op->core->db, op->arena, sql, args, &row, &found, err))
        return false;
    *ret = found ? row.v[0].i : 0;
    return true;
}

static bool find_target(struct op *op, const struct one_click *p, int64_t *ret, struct err *err)
{
    auto_buf struct buf body = {0};
    struct json_out o;
    struct object made;
    struct str name = object_text(&p->dataset, "name");
    if (*ret)
        return true;
    if (!find_id(op, "SELECT id FROM model_sets WHERE project = ? AND name = ?",
                 db_args(db_int(p->dataset.project), db_text(name)), ret, err) ||
        *ret)
        return *ret != 0;
    json_begin(&o, &body);
    json_object(&o);
    json_kstr(&o, "name", name);
    json_kint(&o, "project", p->dataset.project);
    json_object_end(&o);
    yyjson_val *v = json_parse(op->arena, arena_str(op->arena, buf_view(&body)), err);
    if (!v || !engine_create(op->core, op->caller, &kind_model_set, 0, v, op->arena, &made, err))
        return false;
    *ret = made.id;
    return true;
}

static void write_training(const struct one_click *p, int64_t target, struct json_out *o)
{
    json_key(o, "datasets");
    json_array(o);
    json_int(o, p->version.id);
    json_array_end(o);
    json_kint(o, "algorithm", p->algorithm.id);
    json_kint(o, "spec", p->spec);
    json_kint(o, "save_to", target);
    json_key(o, "hours");
    json_real(o, hours_of(p));
    json_key(o, "base_model");
    p->base_model ? json_int(o, p->base_model) : json_null(o);
}

/* One training for each version; every click is a run of it, with values of its own. */
static bool save_training(struct op *op, const struct one_click *p, int64_t target, struct object *ret,
                          struct err *err)
{
    auto_buf struct buf body = {0};
    struct json_out o;
    int64_t there;
    struct str name = cut(op->arena, arena_printf(op->arena, "one-click " STR_FMT " " STR_FMT,
                                                  STR_ARG(object_text(&p->version, "name")),
                                                  STR_ARG(object_text(&p->dataset, "name"))));
    if (!find_id(op, "SELECT id FROM trainings WHERE project = ? AND name = ?",
                 db_args(db_int(p->dataset.project), db_text(name)), &there, err))
        return false;
    json_begin(&o, &body);
    json_object(&o);
    if (!there) {
        json_kstr(&o, "name", name);
        json_kint(&o, "project", p->dataset.project);
    }
    write_training(p, target, &o);
    json_object_end(&o);
    yyjson_val *v = json_parse(op->arena, arena_str(op->arena, buf_view(&body)), err);
    if (!v)
        return false;
    return there ? engine_update(op->core, op->caller, &kind_training, 0, there, 0, v, op->arena, ret, err)
                 : engine_create(op->core, op->caller, &kind_training, 0, v, op->arena, ret, err);
}

bool one_click_train(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                     int *status, struct err *err)
{
    (void)status;
    struct one_click p = {0};
    struct object training, instance = {0};
    int64_t target = input[SAVE_TO].type == DB_INT ? input[SAVE_TO].i : 0;
    if (!caller_need(op->caller, "training.start", o->project, err) || !read_input(op, input, &p, err) ||
        !one_click_make(op, o, &p, err))
        return false;
    const struct plan_remark *obstacle = one_click_obstacle(&p);
    if (obstacle) {
        *err = obstacle->said;
        err->code = ERR_CONFLICT;
        return false;
    }
    return find_target(op, &p, &target, err) && save_training(op, &p, target, &training, err) &&
           training_start(op, training.id, 0, p.values, &instance, err) &&
           engine_answer(op, &instance, out, err);
}
