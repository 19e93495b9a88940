/* From a training to an instance, and from an instance to its job. */
#include "base/clock.h"
#include "base/messages.h"
#include "core/image/image.h"
#include "core/quota.h"
#include "core/training/summary.h"
#include "core/training/training.h"

#include <stdio.h>

const char *training_path(const struct core *core, struct arena *a, const struct object *instance,
                          const char *part)
{
    return arena_printf(a, "%s/training/%lld-%lld%s%s", core->data, (long long)instance->id,
                        (long long)instance->created_at, *part ? "/" : "", part);
}

/* What an instance takes over from its training. */
static const char *const taken[] = {"datasets", "algorithm", "function", "base_model", "spec",
                                    "env",      "nodes",     "launcher", "save_to"};

struct starting {
    int64_t training, former;
    struct object *ret;
    const char *image; /* what its name stands for */
    struct training_filled filled;
};

static bool next_number(struct op *op, int64_t training, int64_t *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(op->conn, op->arena,
                        "SELECT COALESCE(MAX(number), 0) + 1 FROM training_instances WHERE training = ?",
                        db_args(db_int(training)), &row, &found, err))
        return false;
    *ret = row.v[0].i;
    return true;
}

/* Lists of runs sort and filter by them as by those that its code logs: first what the command says, over it
 * what was given as parameters. */
static bool index_parameters(struct op *op, const struct object *o, struct err *err)
{
    struct err ignored = {0};
    struct parameters *all = arena_new(op->arena, struct parameters);
    struct str given = object_text(o, "parameters");
    *all = (struct parameters){.n = 0};
    summary_command(op->arena, object_text(o, "command"), all);
    if (given.n)
        summary_members(op->arena, json_parse(op->arena, given, &ignored), all);
    return summary_put_parameters(op->conn, &(struct summary_run){o->id, o->project, o->parent}, all, err);
}

static bool make_instance(struct op *op, const struct starting *s, const struct object *training,
                          struct object *ret, struct err *err)
{
    int64_t number;
    struct str lineage;
    struct object o = engine_object(op->arena, &kind_training_instance);
    if (!next_number(op, training->id, &number, err))
        return false;
    o.project = training->project;
    o.parent = training->id;
    o.created_by = op->caller->user;
    for (size_t i = 0; i < countof(taken); i++)
        *object_value(&o, taken[i]) = *object_value(training, taken[i]);
    *object_value(&o, "image") = db_textz(s->filled.image);
    *object_value(&o, "command") = db_text(s->filled.command);
    *object_value(&o, "parameters") = db_text(s->filled.parameters);
    *object_value(&o, "name") = db_textz(arena_printf(op->arena, "run-%lld", (long long)number));
    *object_value(&o, "number") = db_int(number);
    *object_value(&o, "state") = db_textz("pending");
    if (s->former)
        *object_value(&o, "resumed_from") = db_int(s->former);
    if (!training_lineage(op, training, &o, s->image, &lineage, err))
        return false;
    *object_value(&o, "lineage") = db_text(lineage);
    if (!engine_insert_row(op, &o, err) || !index_parameters(op, &o, err))
        return false;
    *ret = o;
    return true;
}

/* A job's name has at most 50 characters: the training's own may have as many. */
static struct str job_name(struct arena *a, const struct object *training, const struct object *instance)
{
    struct str name = object_text(training, "name");
    const char *tail = arena_printf(a, " #%lld", (long long)object_int(instance, "number"));
    size_t n = 0, room = 50 - strlen(tail);
    for (size_t count = 0; n < name.n && count < room; count++)
        utf8_next(name, &n);
    return str_of(arena_printf(a, STR_FMT "%s", (int)n, name.p, tail));
}

bool training_submit(struct op *op, struct object *instance, struct err *err)
{
    struct object training;
    bool found;
    int64_t job;
    if (!engine_load_row(op, &kind_training, instance->parent, &training, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, NULL, "the training was deleted meanwhile");
    struct job_new r = {.project = instance->project,
                        .owner_kind = kind_training_instance.name,
                        .owner = instance->id,
                        .name = job_name(op->arena, &training, instance),
                        .image = object_text(instance, "image"),
                        .command = object_text(instance, "command"),
                        .env = object_text(instance, "env"),
                        .spec = object_int(instance, "spec"),
                        .nodes = object_int(instance, "nodes"),
                        .priority = object_int(&training, "priority"),
                        .retries = object_int(&training, "retries"),
                        .hours = object_value(&training, "hours")->r};
    if (!job_create(op, &r, &job, err))
        return false;
    *object_value(instance, "job") = db_int(job);
    *object_value(instance, "note") = db_null();
    return engine_update_row(op, instance, err);
}

/* A resumed one waits for its checkpoint to be copied, however large it is. */
static bool prepare_resume(struct op *op, struct object *instance, struct err *err)
{
    int64_t task;
    *object_value(instance, "note") = db_textz("its checkpoint is being copied");
    return engine_update_row(op, instance, err) &&
           task_create(op,
                       &(struct task_new){.type = task_training_resume.name,
                                          .project = instance->project,
                                          .subject_kind = kind_training_instance.name,
                                          .subject = instance->id,
                                          .name = task_name(op->arena, MESSAGE_NAME_CHECKPOINT,
                                                            STR_ARG(object_text(instance, "name"))),
                                          .params = STR("{}")},
                       &task, err);
}

static bool start_write(struct op *op, void *ctx, struct err *err)
{
    struct starting *s = ctx;
    struct object training, instance;
    bool found;
    if (!engine_load_row(op, &kind_training, s->training, &training, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, NULL, "the training was deleted meanwhile");
    if (!make_instance(op, s, &training, &instance, err))
        return false;
    if (s->former ? !prepare_resume(op, &instance, err) : !training_submit(op, &instance, err))
        return false;
    *s->ret = instance;
    return true;
}

/* The image that the algorithm chose was not looked at when the training was made. */
static bool check_image(struct op *op, const struct object *t, const char *image, struct err *err)
{
    return object_text(t, "image").n ||
           image_check(
               op->core,
               &(struct image_want){.project = t->project, .name = image, .spec = object_int(t, "spec")},
               "image", err);
}

bool training_start(struct op *op, int64_t training, int64_t former, struct str parameters,
                    struct object *ret, struct err *err)
{
    struct starting s = {.training = training, .former = former, .ret = ret};
    struct object t;
    if (!engine_get(op->core, &caller_system, &kind_training, 0, training, op->arena, &t, err) ||
        !quota_admit_storage(op->core, t.project, 0, err) ||
        !training_fill(op->core, &t, parameters, true, op->arena, &s.filled, err) ||
        !check_image(op, &t, s.filled.image, err))
        return false;
    s.image = image_digest(op->core, t.project, str_of(s.filled.image), op->arena);
    if (!engine_write(op->core, op->caller, op->arena, start_write, &s, err))
        return false;
    jobs_wake(op->core->jobs);
    return true;
}

/* --- the task that fills a resumed instance's folder --- */

struct submitting {
    int64_t instance;
    const char *failure; /* NULL: submit it */
};

static bool submit_write(struct op *op, void *ctx, struct err *err)
{
    struct submitting *s = ctx;
    struct object o;
    bool found;
    if (!engine_load_row(op, &kind_training_instance, s->instance, &o, &found, err))
        return false;
    if (!found || object_int(&o, "job") || !str_is(object_text(&o, "state"), "pending"))
        return true; /* stopped meanwhile, or done before the server was killed */
    if (!s->failure)
        return training_submit(op, &o, err);
    *object_value(&o, "state") = db_textz("failed");
    *object_value(&o, "note") = db_textz(s->failure);
    *object_value(&o, "ended_at") = db_int(clock_now());
    return engine_update_row(op, &o, err);
}

static bool resume_run(struct task *t, struct err *err)
{
    struct object o;
    struct err gone = {0};
    if (!engine_get(t->core, &caller_system, &kind_training_instance, 0, t->subject, t->arena, &o, &gone)) {
        *err = gone;
        return gone.code == ERR_NOT_FOUND;
    }
    struct object former;
    int64_t bytes;
    if (!engine_get(t->core, &caller_system, &kind_training_instance, 0, object_int(&o, "resumed_from"),
                    t->arena, &former, err) ||
        !training_size(t->core, t->arena, &former, &bytes, err) ||
        !training_admit(t->core, t->project, bytes, err))
        return false;
    const char *from = training_path(t->core, t->arena, &former, "model"),
               *to = training_path(t->core, t->arena, &o, "model");
    struct submitting s = {.instance = o.id};
    if (!training_copy(from, to, t, err) ||
        !engine_write(t->core, &t->caller, t->arena, submit_write, &s, err))
        return false;
    jobs_wake(t->core->jobs);
    return true;
}

static void resume_undo(struct task *t)
{
    struct submitting s = {t->subject, "its checkpoint could not be copied: see the task"};
    struct err err = {0};
    if (!engine_write(t->core, &caller_system, t->arena, submit_write, &s, &err))
        task_problem(t, STR("instance"), NULL, "%s", err.message);
}

const struct task_type task_training_resume = {.name = "training_resume",
                                               .title = {"Copy a checkpoint", "复制检查点"},
                                               .run = resume_run,
                                               .undo = resume_undo};
