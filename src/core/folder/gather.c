#include "core/folder/gather.h"
#include "core/growth.h"

#include "base/fs.h"
#include "base/messages.h"
#include "core/folder/walk.h"
#include "core/quota.h"

#include <errno.h>
#include <sys/stat.h>

#define PIECE (1 << 20)

/* --- how much --- */

struct sizing {
    struct task *task;
    int64_t bytes;
};

static bool count_file(void *ctx, const struct walk_file *f, struct err *err)
{
    struct sizing *s = ctx;
    s->bytes = f->size > INT64_MAX - s->bytes ? INT64_MAX : s->bytes + f->size;
    return task_progress(s->task, 0, 0, err);
}

bool gather_size(struct task *t, int dirfd, int64_t *ret, struct err *err)
{
    struct sizing s = {.task = t};
    struct walk w = {.file = count_file, .ctx = &s};
    if (!walk_folder(&w, dirfd, err))
        return false;
    *ret = s.bytes;
    return true;
}

bool gather_room(struct core *core, int64_t bytes, struct err *err)
{
    uint64_t room = fs_free_bytes(core->data);
    if (room >= GATHER_RESERVE && (uint64_t)bytes <= room - GATHER_RESERVE)
        return true;
    return err_message(err, ERR_QUOTA, "storage", MESSAGE_DISK_ROOM, (long long)bytes);
}

/* --- from files to blobs --- */

/* As much as it had when it was opened: what is written meanwhile need never end. */
static bool read_into(struct gathering *c, int fd, int64_t size, const char *path, struct err *err)
{
    for (int64_t left = size; left > 0;) {
        ssize_t n = read(fd, c->space, left < PIECE ? (size_t)left : PIECE);
        if (n < 0)
            return err_errno(err, errno, "cannot read %s", path);
        if (n == 0)
            return true;
        left -= n;
        c->bytes += n;
        if (!blob_batch_piece(c->batch, (struct str){c->space, (size_t)n}, err) ||
            !task_progress(c->task, c->bytes, c->bytes > c->total ? 0 : c->total, err))
            return false;
    }
    return true;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static bool put_file(struct gathering *c, int fd, const char *path, struct manifest_entry *e, struct err *err)
{
    struct stat before, after;
    if (fstat(fd, &before) != 0)
        return err_errno(err, errno, "cannot look at %s", path);
    if (!read_into(c, fd, before.st_size, path, err))
        return false;
    if (fstat(fd, &after) == 0 && !is_same(&before, &after))
        task_note(c->task, e->path, NULL, MESSAGE_FILE_CHANGED);
    return blob_batch_end(c->batch, &e->blob, &e->size, err);
}

/* What was a file when the folder was listed may be gone, or something else. False: why it is left out. */
static bool is_taken(int fd, int error, struct err *why)
{
    struct stat st;
    if (fd >= 0)
        return (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) ||
               err_message(why, ERR_INVALID, NULL, MESSAGE_NO_PLAIN_FILE);
    switch (error) {
    case ENOENT:
        return err_message(why, ERR_NOT_FOUND, NULL, MESSAGE_FILE_DELETED);
    case EACCES:
    case EPERM:
        return err_message(why, ERR_FORBIDDEN, NULL, MESSAGE_FILE_FORBIDDEN);
    case ELOOP:
        return err_message(why, ERR_INVALID, NULL, MESSAGE_FILE_LINK);
    case ENXIO:
        return err_message(why, ERR_INVALID, NULL, MESSAGE_NO_PLAIN_FILE);
    default:
        return true;
    }
}

static bool take_file(void *ctx, const struct walk_file *f, struct err *err)
{
    struct gathering *c = ctx;
    struct err bad = {0};
    struct str path = arena_str(c->task->arena, str_of(f->path));
    if (!manifest_check_path(path, &bad)) {
        task_note_err(c->task, path, NULL, &bad);
        return true;
    }
    auto_fd int fd = openat(f->dirfd, f->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int error = errno;
    if (!is_taken(fd, error, &bad)) {
        task_note_err(c->task, path, NULL, &bad);
        return true;
    }
    if (fd < 0)
        return err_errno(err, error, "cannot open %s", f->path);
    if (c->n == c->cap) {
        size_t cap = c->cap ? c->cap * 2 : 64;
        c->entry = arena_grow(c->task->arena, c->entry, c->cap * sizeof *c->entry, cap * sizeof *c->entry);
        c->cap = cap;
    }
    struct manifest_entry *e = &c->entry[c->n];
    *e = (struct manifest_entry){.path = path, .executable = (f->mode & 0100) != 0};
    if (!put_file(c, fd, f->path, e, err))
        return false;
    c->n++;
    return true;
}

static void note_skipped(void *ctx, const char *path, const struct err *why)
{
    struct gathering *c = ctx;
    task_note_err(c->task, str_of(path), NULL, why);
}

bool gather_files(struct gathering *c, int dirfd, struct err *err)
{
    struct walk w = {.file = take_file, .skipped = note_skipped, .ctx = c};
    c->batch = blob_batch_new(c->task->core->store);
    c->space = base_alloc(PIECE);
    bool ok = walk_folder(&w, dirfd, err) && blob_batch_flush(c->batch, err);
    blob_batch_free(c->batch);
    free(c->space);
    return ok;
}

/* --- from blobs to a version --- */

bool gather_hold(struct gathering *c, struct err *err)
{
    struct task *t = c->task;
    if (!manifest_build(t->arena, c->entry, c->n, &c->manifest, err) ||
        !manifest_save(t->core->store, &c->manifest, &c->digest, err) ||
        !manifest_hold(t->core->store, t->project, &c->manifest, &c->digest, err))
        return false;
    digest_hex(&c->digest, c->hex);
    return true;
}

void collect_settle(struct gathering *c)
{
    manifest_settle(c->task->core->store, c->task->project, &c->digest);
}

bool gather_insert(struct op *op, const struct gathering *c, struct object *o, struct err *err)
{
    op->kind = o->kind;
    if (!o->kind->before_create(op, o, err))
        return false;
    *object_value(o, "published") = db_int(1);
    *object_value(o, "files") = db_int((int64_t)c->manifest.n);
    *object_value(o, "bytes") = db_int(c->manifest.bytes);
    *object_value(o, "digest") = db_textz(c->hex);
    return manifest_count(op->conn, o->project, &c->digest, 1, err) && engine_insert_row(op, o, err) &&
           (o->kind != &kind_model_version || growth_add(op->conn, GROWTH_MODELS, o->project, 1, err));
}
