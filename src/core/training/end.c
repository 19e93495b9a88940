/* What follows the end of an instance's job: the rest of its metrics, and its model as a version. */
#include "base/fs.h"
#include "core/folder/folder.h"
#include "core/quota.h"
#include "core/training/training.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define PIECE (1 << 20)

struct saving {
    struct task *task;
    struct object instance;
    struct manifest_entry *entry;
    size_t n, cap;
    int64_t bytes;
    struct manifest manifest;
    struct digest digest;
    char hex[SHA256_HEX + 1];
    int64_t version; /* the one that was made */
};

/* --- from files to blobs --- */

static bool read_into(struct saving *s, int fd, struct blob_writer *w, const char *path, struct err *err)
{
    auto_free char *space = base_alloc(PIECE);
    for (;;) {
        ssize_t n = read(fd, space, PIECE);
        if (n < 0)
            return err_errno(err, errno, "cannot read %s", path);
        if (n == 0)
            return true;
        s->bytes += n;
        if (!blob_writer_add(w, (struct str){space, (size_t)n}, err) ||
            !task_progress(s->task, s->bytes, 0, err))
            return false;
    }
}

static bool put_file(struct saving *s, const struct training_file *f, struct manifest_entry *e,
                     struct err *err)
{
    auto_fd int fd = openat(f->dirfd, f->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "cannot open %s", f->path);
    struct blob_writer *w = blob_writer_new(s->task->core->store, err);
    if (!w)
        return false;
    if (!read_into(s, fd, w, f->path, err)) {
        blob_writer_abort(w);
        return false;
    }
    return blob_writer_finish(w, &e->blob, &e->size, err);
}

static bool take_file(void *ctx, const struct training_file *f, struct err *err)
{
    struct saving *s = ctx;
    struct err bad = {0};
    struct str path = arena_str(s->task->arena, str_of(f->path));
    if (!manifest_check_path(path, &bad)) {
        task_problem(s->task, path, NULL, "%s", bad.message);
        return true;
    }
    if (s->n == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 64;
        s->entry = arena_grow(s->task->arena, s->entry, s->cap * sizeof *s->entry, cap * sizeof *s->entry);
        s->cap = cap;
    }
    struct manifest_entry *e = &s->entry[s->n];
    *e = (struct manifest_entry){.path = path, .executable = (f->mode & 0100) != 0};
    if (!put_file(s, f, e, err))
        return false;
    s->n++;
    return true;
}

static void note_skipped(void *ctx, const char *path, const char *why)
{
    struct saving *s = ctx;
    task_problem(s->task, str_of(path), NULL, "%s", why);
}

/* --- from blobs to a version --- */

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
    op->kind = &kind_model_version;
    o->project = s->instance.project;
    o->parent = object_int(&s->instance, "save_to");
    o->created_by = s->instance.created_by;
    if (!kind_model_version.before_create(op, o, err))
        return false;
    *object_value(o, "description") =
        db_textz(arena_printf(op->arena, "Saved by " STR_FMT, STR_ARG(object_text(&s->instance, "name"))));
    *object_value(o, "published") = db_int(1);
    *object_value(o, "files") = db_int((int64_t)s->manifest.n);
    *object_value(o, "bytes") = db_int(s->manifest.bytes);
    *object_value(o, "digest") = db_textz(s->hex);
    *object_value(o, "lineage") = db_text(lineage);
    return manifest_count(op->conn, o->project, &s->digest, 1, err) && engine_insert_row(op, o, err);
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
    struct training_walk w = {take_file, note_skipped, s, 0};
    int64_t bytes;
    if (!object_int(&s->instance, "save_to") || object_int(&s->instance, "model_version"))
        return true;
    if (!training_size(t->core, t->arena, &s->instance, &bytes, err) ||
        !training_admit_own(t->core, &s->instance, bytes, err))
        return false;
    if ((uint64_t)bytes + TRAINING_RESERVE > fs_free_bytes(t->core->data))
        return err_set(err, ERR_QUOTA, NULL, "the platform's disk has no room for %lld bytes",
                       (long long)bytes);
    if (!training_walk(&w, training_path(t->core, t->arena, &s->instance, "model"), err))
        return false;
    if (s->n == 0)
        return true;
    if (!manifest_build(t->arena, s->entry, s->n, &s->manifest, err) ||
        !manifest_save(t->core->store, &s->manifest, &s->digest, err) ||
        !manifest_hold(t->core->store, t->project, &s->manifest, &s->digest, err) ||
        !quota_admit_storage(t->core, t->project, 0, err))
        return false;
    digest_hex(&s->digest, s->hex);
    return engine_write(t->core, &caller_system, t->arena, save_write, s, err);
}

static bool read_metrics(struct task *t, const struct object *instance, struct err *err)
{
    for (bool more = true; more;) {
        auto_arena struct arena a;
        arena_init(&a);
        if (!training_metrics(t->core, instance, &a, NULL, &more, err) || !task_progress(t, 0, 0, err))
            return false;
    }
    return true;
}

static bool end_run(struct task *t, struct err *err)
{
    struct saving s = {.task = t};
    struct err gone = {0};
    if (!engine_get(t->core, &caller_system, &kind_training_instance, 0, t->subject, t->arena, &s.instance,
                    &gone)) {
        *err = gone;
        return gone.code == ERR_NOT_FOUND;
    }
    if (!read_metrics(t, &s.instance, err) || !save_model(&s, err))
        return false;
    task_result(t, str_of(arena_printf(t->arena, "{\"files\":%zu,\"bytes\":%lld,\"model_version\":%lld}", s.n,
                                       (long long)s.bytes, (long long)s.version)));
    return true;
}

const struct task_type task_training_end = {
    .name = "training_end", .title = {"Save the model of a training", "保存训练模型"}, .run = end_run};
