/* Saving a running container as a version of an image. */
#include "core/build/save.h"

#include "base/messages.h"
#include "core/image/assemble.h"
#include "core/image/layer_write.h"
#include "core/job/job.h"

/* --- starting --- */

static void write_params(const struct image_save *s, struct buf *out)
{
    struct json_out o;
    json_begin(&o, out);
    json_object(&o);
    json_kint(&o, "job", s->container.job);
    json_kint(&o, "attempt", s->container.attempt);
    json_kint(&o, "rank", s->container.rank);
    json_kz(&o, "base", s->base);
    json_kstr(&o, "name", s->name);
    json_kstr(&o, "version", s->version);
    json_kstr(&o, "description", s->description);
    json_object_end(&o);
}

static bool runs(struct core *core, struct exec_id id, struct arena *a, struct err *err)
{
    struct exec *x = jobs_exec(core->jobs);
    struct exec_status status;
    if (!x)
        return err_set(err, ERR_UNAVAILABLE, NULL, "this machine runs no containers");
    if (!x->ops->status(x, a, id, &status, err))
        return false;
    return status.state == EXEC_RUNNING ||
           err_set(err, ERR_CONFLICT, NULL, "only what is running can be saved as an image");
}

bool image_save(struct core *core, const struct caller *c, const struct image_save *s, struct arena *a,
                int64_t *ret_task, struct err *err)
{
    struct repository target;
    auto_buf struct buf params = {0};
    if (!reference_tag(s->version, err) || !assemble_target(core, s->project, s->name, a, &target, err) ||
        !caller_need(c, target.image ? "image.update" : "image.create", s->project, err) ||
        !runs(core, s->container, a, err))
        return false;
    if (s->description.n > 2000 || utf8_count(s->description) > 500)
        return err_set(err, ERR_INVALID, "description",
                       "description: a description has at most 500 characters");
    write_params(s, &params);
    const struct task_new t = {
        .type = "image_save",
        .project = s->project,
        .subject_kind = s->subject_kind,
        .subject = s->subject,
        .name = task_name(a, MESSAGE_NAME_IMAGE_SAVE, STR_ARG(s->name), STR_ARG(s->version)),
        .params = buf_view(&params)};
    return task_start(core, c, &t, a, ret_task, err);
}

/* --- the task --- */

struct sink {
    struct task *task;
    struct layer_writer *writer;
};

static bool take(void *ctx, struct str piece, struct err *err)
{
    struct sink *s = ctx;
    return layer_writer_add(s->writer, piece, err) &&
           task_progress(s->task, layer_writer_bytes(s->writer), 0, err);
}

/* The base must still be what the container was started with. */
static bool same_base(struct task *t, int64_t job, const struct oci_manifest *m, struct err *err)
{
    for (size_t i = 0; i < m->n; i++) {
        struct db_row row;
        bool found;
        if (!db_query_one(t->core->db, t->arena, "SELECT 1 FROM layer_uses WHERE job = ? AND digest = ?",
                          db_args(db_int(job), digest_arg(&m->items[i].digest)), &row, &found, err))
            return false;
        if (!found)
            return err_set(
                err, ERR_CONFLICT, NULL,
                "the image has another content by now than the one the container was started with");
    }
    return true;
}

static bool take_changes(struct task *t, struct exec_id id, struct oci_descriptor *layer, struct digest *diff,
                         struct err *err)
{
    struct exec *x = jobs_exec(t->core->jobs);
    if (!x)
        return err_set(err, ERR_UNAVAILABLE, NULL, "this machine runs no containers");
    struct sink s = {t, layer_writer_new(t->core->store, err)};
    if (!s.writer)
        return false;
    if (!x->ops->changes(x, id, take, &s, err)) {
        layer_writer_abort(s.writer);
        return false;
    }
    return layer_writer_finish(s.writer, layer, diff, err);
}

bool assemble_saved(struct task *t, const char *comment, struct err *err)
{
    struct exec_id id = {yyjson_get_sint(yyjson_obj_get(t->params, "job")),
                         (int32_t)yyjson_get_sint(yyjson_obj_get(t->params, "attempt")),
                         (int32_t)yyjson_get_sint(yyjson_obj_get(t->params, "rank"))};
    struct str base = json_str(yyjson_obj_get(t->params, "base"));
    struct image_parts parts;
    struct oci_descriptor layer;
    struct digest diff;
    struct repository_pushed pushed;
    struct assembly x = {.core = t->core,
                         .caller = &t->caller,
                         .version = json_str(yyjson_obj_get(t->params, "version")),
                         .description = json_str(yyjson_obj_get(t->params, "description")),
                         .host = !base.n || str_is(base, "host"),
                         .layer = &layer,
                         .diff = &diff,
                         .change = {.arch = image_arch(), .comment = comment}};
    if (!x.host) {
        if (!image_find(t->core, t->project, base, NULL, t->arena, &parts, err) ||
            !same_base(t, id.job, &parts.manifest, err))
            return false;
        x.base = &parts;
    }
    if (!assemble_target(t->core, t->project, json_str(yyjson_obj_get(t->params, "name")), t->arena,
                         &x.target, err) ||
        !take_changes(t, id, &layer, &diff, err) || !assemble_push(&x, t->arena, &pushed, err))
        return false;
    assemble_result(t, &x.target, x.version, &pushed);
    return true;
}

static bool run_save(struct task *t, struct err *err)
{
    return assemble_saved(t, "saved from a running container", err);
}

const struct task_type task_image_save = {
    .name = "image_save", .title = {"Save as image", "保存为镜像"}, .run = run_save};
