/* What follows the end of an instance's job: why it failed, the rest of its metrics, and its model as a
 * version. */
#include "core/folder/gather.h"
#include "core/training/training.h"

#include <errno.h>
#include <fcntl.h>

struct saving {
    struct task *task;
    struct object instance;
    struct gathering files;
    int64_t version; /* the one that was made */
};

/* The lineage of the version: what the instance started from, and which run it was. */
static bool write_lineage(struct op *op, const struct saving *s, struct str *ret, struct err *err)
{
    auto_buf struct buf text = {0};
    struct json_out out;
    json_begin(&out, &text);
    if (!training_lineage_write(op, &s->instance, &out, err))
        return false;
    *ret = arena_str(op->arena, buf_view(&text));
    return true;
}

static bool insert_version(struct op *op, struct saving *s, struct object *o, struct err *err)
{
    struct str lineage;
    if (!write_lineage(op, s, &lineage, err))
        return false;
    o->project = s->instance.project;
    o->parent = object_int(&s->instance, "save_to");
    o->created_by = s->instance.created_by;
    *object_value(o, "description") =
        db_textz(arena_printf(op->arena, "Saved by " STR_FMT, STR_ARG(object_text(&s->instance, "name"))));
    *object_value(o, "lineage") = db_text(lineage);
    return gather_insert(op, &s->files, o, err);
}

static bool save_write(struct op *op, void *ctx, struct err *err)
{
    struct saving *s = ctx;
    bool found;
    if (!engine_load_row(op, &kind_training_instance, s->task->subject, &s->instance, &found, err))
        return false;
    if (!found || object_int(&s->instance, "model_version"))
        return true; /* deleted, or done before the server was killed */
    struct object o = engine_object(op->arena, &kind_model_version);
    if (!insert_version(op, s, &o, err))
        return false;
    *object_value(&s->instance, "model_version") = db_int(o.id);
    s->version = o.id;
    return engine_update_row(op, &s->instance, err);
}

static bool save_model(struct saving *s, struct err *err)
{
    struct task *t = s->task;
    const char *folder = training_path(t->core, t->arena, &s->instance, "model");
    int64_t bytes;
    if (!object_int(&s->instance, "save_to") || object_int(&s->instance, "model_version"))
        return true;
    if (!training_size(t->core, t->arena, &s->instance, &bytes, err) ||
        !training_admit_own(t->core, &s->instance, bytes, err) || !gather_room(t->core, bytes, err))
        return false;
    auto_fd int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || err_errno(err, errno, "cannot open %s", folder);
    if (!gather_files(&s->files, fd, err))
        return false;
    if (s->files.n == 0)
        return true;
    if (!gather_hold(&s->files, err))
        return false;
    bool ok = engine_write(t->core, &caller_system, t->arena, save_write, s, err);
    collect_settle(&s->files);
    return ok;
}

static bool read_metrics(struct task *t, const struct object *instance, struct err *err)
{
    for (bool more = true; more;) {
        auto_arena struct arena a;
        arena_init(&a);
        if (!training_metrics_read(t->core, instance, &a, &more, err) || !task_progress(t, 0, 0, err))
            return false;
    }
    return true;
}

static bool end_run(struct task *t, struct err *err)
{
    struct saving s = {.task = t, .files = {.task = t}};
    struct err gone = {0};
    if (!engine_get(t->core, &caller_system, &kind_training_instance, 0, t->subject, t->arena, &s.instance,
                    &gone)) {
        *err = gone;
        return gone.code == ERR_NOT_FOUND;
    }
    if (!training_cause_keep(t->core, &s.instance, t->arena, err) || !read_metrics(t, &s.instance, err) ||
        !save_model(&s, err) || !training_outputs_check(t->core, &s.instance, t->arena, err) ||
        !training_evaluate(t, &s.instance, object_int(&s.instance, "model_version"), err))
        return false;
    task_result(t, str_of(arena_printf(t->arena, "{\"files\":%zu,\"bytes\":%lld,\"model_version\":%lld}",
                                       s.files.n, (long long)s.files.bytes, (long long)s.version)));
    return true;
}

const struct task_type task_training_end = {
    .name = "training_end", .title = {"Save the model of a training", "保存训练模型"}, .run = end_run};
