/* Copies of what instances leave, and the folders of deleted ones. */
#include "base/fs.h"
#include "core/controllers.h"
#include "core/folder/walk.h"
#include "core/training/training.h"

#include <errno.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#define PIECE (8 << 20)

/* --- copying --- */

struct copying {
    struct task *task;
    const char *to;
    int64_t bytes;
};

static bool copy_bytes(struct copying *c, int in, int out, const char *path, struct err *err)
{
    for (;;) {
        ssize_t n = sendfile(out, in, NULL, PIECE);
        if (n < 0)
            return err_errno(err, errno, "cannot copy %s", path);
        if (n == 0)
            return true;
        c->bytes += n;
        if (!task_progress(c->task, c->bytes, 0, err))
            return false;
    }
}

/* The next container may run as another user and goes on with these files: all of it is open to every user
 * inside. */
static bool make_folders(char *path, size_t from, struct err *err)
{
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        bool made = mkdir(path, 0777) == 0 ? chmod(path, 0777) == 0 : errno == EEXIST;
        if (!made)
            return err_errno(err, errno, "cannot make %s", path);
        *slash = '/';
    }
    return true;
}

static bool copy_file(void *ctx, const struct walk_file *f, struct err *err)
{
    struct copying *c = ctx;
    auto_arena struct arena a;
    arena_init(&a);
    char *path = arena_printf(&a, "%s/%s", c->to, f->path);
    if (!make_folders(path, strlen(c->to) + 1, err))
        return false;
    auto_fd int in = openat(f->dirfd, f->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    auto_fd int out = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (in < 0 || out < 0 || fchmod(out, f->mode | 0666) != 0)
        return err_errno(err, errno, "cannot copy %s", f->path);
    return copy_bytes(c, in, out, f->path, err);
}

static void copy_skipped(void *ctx, const char *path, const struct err *why)
{
    struct copying *c = ctx;
    task_note_err(c->task, str_of(path), NULL, why);
}

bool training_copy(const char *from, const char *to, struct task *t, struct err *err)
{
    struct stat st;
    struct copying c = {.task = t, .to = arena_printf(t->arena, "%s.part", to)};
    struct walk w = {copy_file, copy_skipped, &c, 0};
    if (stat(to, &st) == 0)
        return true; /* whole, by an earlier run */
    if (!fs_remove_tree(AT_FDCWD, c.to, err) || !fs_mkdirs(c.to, 0755, err) || !walk_path(&w, from, err))
        return false;
    return rename(c.to, to) == 0 || err_errno(err, errno, "cannot name %s", to);
}

/* --- folders of deleted instances --- */

static bool remove_folder(struct core *core, const struct db_value *v, struct arena *a, struct err *err)
{
    const struct object gone = {.id = v[0].i, .created_at = v[1].i};
    return fs_remove_tree(AT_FDCWD, training_path(core, a, &gone, ""), err);
}

static bool collect(struct core *core, struct err *err)
{
    return purge_rows(core, &(struct purge){"training_purges", "instance", ", created_at", remove_folder},
                      err);
}

const struct controller controller_collect_trainings = {
    .name = "collect-trainings",
    .title = {"Removes the folders of deleted training instances", "清除已删除训练实例的文件"},
    .thread = "collect",
    .gives_way = true,
    .first_s = 60,
    .every_s = 60,
    .woken_by = {{"training_instance", "delete"}},
    .tick = collect,
};
