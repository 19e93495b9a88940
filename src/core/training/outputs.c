/* What an algorithm declared that it leaves (docs/algorithms.md, `outputs`), against what its run left. */
#include "base/messages_training.h"
#include "core/folder/algorithm_file.h"
#include "core/folder/walk.h"
#include "core/training/training.h"

/* Ends the walk at the first file. */
static bool one_is_enough(void *ctx, const struct walk_file *f, struct err *err)
{
    (void)f;
    *(bool *)ctx = true;
    return err_set(err, ERR_CONFLICT, NULL, "enough");
}

static bool has_model(struct core *core, const struct object *instance, struct arena *a, bool *ret,
                      struct err *err)
{
    struct walk w = {.file = one_is_enough, .ctx = ret};
    struct err why = {0};
    *ret = object_int(instance, "model_version") != 0;
    if (*ret || walk_path(&w, training_path(core, a, instance, "model"), &why) || *ret)
        return true;
    *err = why;
    return false;
}

static bool has_metrics(struct core *core, const struct object *instance, struct arena *a, bool *ret,
                        struct err *err)
{
    struct db_row row;
    return db_query_one(core->db, a, "SELECT 1 FROM run_metrics WHERE run = ? LIMIT 1",
                        db_args(db_int(instance->id)), &row, ret, err);
}

static const struct output {
    bool (*has)(struct core *core, const struct object *instance, struct arena *a, bool *ret,
                struct err *err);
    const char *id, *en, *zh;
} outputs[ALGORITHM_OUTPUT_COUNT] = {
    [ALGORITHM_MODEL] = {has_model, MESSAGE_OUTPUT_MODEL},
    [ALGORITHM_METRICS] = {has_metrics, MESSAGE_OUTPUT_METRICS},
};

/* The bits of what the algorithm declared; 0 when it declares nothing, or is gone. */
static uint32_t declared(struct core *core, const struct object *instance, struct arena *a)
{
    struct algorithm m;
    struct err gone = {0};
    bool there;
    const struct algorithm_function *f;
    struct str name = object_text(instance, "function");
    if (!name.n)
        name = str_of(algorithm_function_names[ALGORITHM_TRAIN]);
    return algorithm_load_id(core, object_int(instance, "algorithm"), a, &m, &there, &gone) && there &&
                   algorithm_function(&m, name, &f, &gone)
               ? f->outputs
               : 0;
}

static struct str cause_of(struct arena *a, const struct output *const *missing, size_t n)
{
    struct cause c = {.id = "outputs-missing", .en = "", .zh = ""};
    for (size_t i = 0; i < n; i++) {
        c.en = arena_printf(a, "%s%s%s", c.en, i ? " " : "", missing[i]->en);
        c.zh = arena_printf(a, "%s%s", c.zh, missing[i]->zh);
    }
    return training_cause_json(a, &c);
}

bool training_outputs_check(struct core *core, const struct object *instance, struct arena *a,
                            struct err *err)
{
    const struct output *missing[ALGORITHM_OUTPUT_COUNT];
    size_t n = 0;
    if (!str_is(object_text(instance, "state"), "completed"))
        return true;
    uint32_t wanted = declared(core, instance, a);
    for (size_t i = 0; i < ALGORITHM_OUTPUT_COUNT; i++) {
        bool has = true;
        if (wanted & 1u << i && !outputs[i].has(core, instance, a, &has, err))
            return false;
        if (!has)
            missing[n++] = &outputs[i];
    }
    return !n ||
           engine_write_status(core, &kind_training_instance, instance->id,
                               ENGINE_STATUSES(status_set("cause", db_text(cause_of(a, missing, n)))), err);
}
