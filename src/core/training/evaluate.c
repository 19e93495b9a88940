/* A model that says which files it was not trained on is evaluated on them by the platform itself. */
#include "core/evaluate/evaluate.h"
#include "base/map.h"
#include "core/data/sample.h"
#include "core/training/training.h"
#include "model/manifest.h"

struct evaluating {
    const struct object *instance;
    int64_t version, dataset;
};

/* Once for each version, also when the server is killed here. */
static bool evaluate_write(struct op *op, void *ctx, struct err *err)
{
    struct evaluating *e = ctx;
    struct db_row row;
    bool found;
    int64_t id;
    if (!conn_query_one(
            op->conn, op->arena,
            "SELECT 1 FROM evaluations WHERE model_version = ? AND automatic = 1 AND part = 'test' LIMIT 1",
            db_args(db_int(e->version)), &row, &found, err))
        return false;
    return found || evaluation_create(op,
                                      &(struct evaluation_new){.project = e->instance->project,
                                                               .created_by = e->instance->created_by,
                                                               .model_version = e->version,
                                                               .dataset_version = e->dataset,
                                                               .part = "test"},
                                      &id, err);
}

/* The first dataset of the run whose annotation type is what the model does; 0: none. */
static bool find_dataset(struct task *t, const struct object *instance, int wanted, int64_t *ret,
                         struct err *err)
{
    size_t n;
    struct op op = {.core = t->core, .caller = &caller_system, .arena = t->arena};
    int64_t *ids = object_refs(t->arena, instance, "datasets", &n);
    *ret = 0;
    for (size_t i = 0; i < n && !*ret; i++) {
        struct object version;
        struct sample_set set;
        struct err gone = {0};
        if (!engine_get(t->core, &caller_system, &kind_dataset_version, 0, ids[i], t->arena, &version, &gone))
            continue; /* deleted meanwhile */
        if (!sample_set_of(&op, &version, &set, err))
            return false;
        if ((int)set.type == wanted)
            *ret = ids[i];
    }
    return true;
}

/* Whether the version can be asked, and names test files. */
static bool is_testable(struct task *t, int64_t version, int *ret_task)
{
    struct model_manifest m;
    struct map *files;
    struct err ignored = {0};
    if (!evaluation_manifest(t->core, version, t->arena, &m, &ignored) ||
        !evaluation_split(t->core, version, "test", &files, &ignored))
        return false;
    map_free(files);
    *ret_task = m.task;
    return true;
}

bool training_evaluate(struct task *t, const struct object *instance, int64_t version, struct err *err)
{
    struct evaluating e = {.instance = instance, .version = version};
    int wanted;
    if (!version || !is_testable(t, version, &wanted))
        return true;
    if (!find_dataset(t, instance, wanted, &e.dataset, err))
        return false;
    if (!e.dataset)
        return true;
    struct err why = {0};
    if (!engine_write(t->core, &caller_system, t->arena, evaluate_write, &e, &why))
        task_note_err(t, STR("evaluation"), NULL, &why); /* the model is saved all the same */
    jobs_wake(t->core->jobs);
    return true;
}
