#include "core/environment/workspace.h"

#include "base/fs.h"
#include "base/messages.h"
#include "core/data/sample.h"
#include "core/environment/environment.h"
#include "core/folder/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* --- where it is --- */

const char *environment_folder(const struct core *core, int64_t id, int64_t created_at, struct arena *a)
{
    return arena_printf(a, "%s/workspace/%lld-%lld", core->data, (long long)id, (long long)created_at);
}

/* Folders had the number alone once. One that was made before this environment is of another one, which had
 * the number before a backup was restored. */
const char *workspace_path(const struct core *core, const struct object *o, struct arena *a)
{
    struct statx st;
    const char *folder = environment_folder(core, o->id, o->created_at, a),
               *old = arena_printf(a, "%s/workspace/%lld", core->data, (long long)o->id);
    if (access(folder, F_OK) == 0 || statx(AT_FDCWD, old, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &st) != 0)
        return folder;
    int64_t made = (int64_t)st.stx_btime.tv_sec * 1000000 + st.stx_btime.tv_nsec / 1000;
    if (st.stx_mask & STATX_BTIME && made >= o->created_at)
        rename(old, folder);
    return folder;
}

/* --- what is mounted in it --- */

static const struct source {
    const char *field, *folder;
    const struct kind *version;
} sources[] = {
    {"datasets", "dataset", &kind_dataset_version},
    {"algorithms", "algorithm", &kind_algorithm_version},
    {"models", "model", &kind_model_version},
};

/* By the set a version is of; a second version of it gets its number behind. */
static const char *path_of(struct core *core, const struct source *s, int64_t id, bool numbered,
                           struct arena *a, struct err *err)
{
    struct object o, set;
    const struct kind *parent = kind_by_name(str_of(s->version->parent));
    if (!engine_get(core, &caller_system, s->version, 0, id, a, &o, err) ||
        !engine_get(core, &caller_system, parent, 0, o.parent, a, &set, err))
        return NULL;
    struct str name = object_text(&set, "name");
    const char *dot = name.n && name.p[0] == '.' ? "_" : "";
    if (!numbered)
        return arena_printf(a, "%s/%s" STR_FMT, s->folder, dot, STR_ARG(name));
    return arena_printf(a, "%s/%s" STR_FMT "-%lld", s->folder, dot, STR_ARG(name),
                        (long long)object_int(&o, "number"));
}

static bool taken(const struct workspace_mount *m, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(m[i].path, path) == 0)
            return true;
    return false;
}

bool workspace_mounts(struct core *core, const struct object *o, struct arena *a,
                      struct workspace_mount **ret, size_t *ret_n, struct err *err)
{
    int64_t *ids[countof(sources)];
    size_t n[countof(sources)], all = 0, made = 0;
    for (size_t i = 0; i < countof(sources); i++) {
        ids[i] = object_refs(a, o, sources[i].field, &n[i]);
        all += n[i];
    }
    struct workspace_mount *list = arena_array(a, struct workspace_mount, all + 1);
    for (size_t i = 0; i < countof(sources); i++)
        for (size_t k = 0; k < n[i]; k++) {
            const char *path = path_of(core, &sources[i], ids[i][k], false, a, err);
            if (path && taken(list, made, path))
                path = path_of(core, &sources[i], ids[i][k], true, a, err);
            if (!path)
                return false;
            list[made++] = (struct workspace_mount){path, sources[i].version, ids[i][k]};
        }
    *ret = list;
    *ret_n = made;
    return true;
}

bool workspace_is_in(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    return n == 0 || (strncmp(path, folder, n) == 0 && (path[n] == 0 || path[n] == '/'));
}

/* --- opening it --- */

static bool find_container(struct core *core, const struct object *o, struct arena *a,
                           struct workspace_folder *f, struct err *err)
{
    struct object job;
    struct exec *x = jobs_exec_wait(core->jobs);
    struct exec_status status;
    struct err gone = {0};
    f->inside = false;
    if (!x || !object_int(o, "job"))
        return true;
    if (!engine_get(core, &caller_system, &kind_job, 0, object_int(o, "job"), a, &job, err))
        return false;
    f->container = (struct exec_id){job.id, (int32_t)object_int(&job, "attempt"), 0};
    if (!x->ops->status(x, a, f->container, &status, &gone)) {
        *err = gone;
        return gone.code == ERR_NOT_FOUND;
    }
    f->inside = status.state == EXEC_RUNNING;
    return true;
}

static int open_below(const char *root, const char *path, struct err *err)
{
    auto_fd int fd = open(root, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        err_set(err, ERR_NOT_FOUND, NULL, "the environment was never started");
        return -1;
    }
    return fs_open_beneath(fd, *path ? path : ".", O_RDONLY | O_DIRECTORY, 0, err);
}

bool workspace_open(struct core *core, const struct object *o, const char *path, struct arena *a,
                    struct workspace_folder *ret, struct err *err)
{
    struct workspace_folder f = {.fd = -1};
    struct err why = {0};
    if (!find_container(core, o, a, &f, err))
        return false;
    if (f.inside) {
        struct exec *x = jobs_exec(core->jobs);
        f.fd = x->ops->folder(x, f.container, arena_printf(a, "/workspace/%s", path), &why);
        f.inside = f.fd >= 0 || why.code != ERR_UNAVAILABLE; /* it may have ended just now */
    }
    if (!f.inside)
        f.fd = open_below(workspace_path(core, o, a), path, &why);
    if (f.fd < 0)
        return why.code == ERR_NOT_FOUND || why.code == ERR_INVALID
                   ? err_message(err, ERR_INVALID, "folder", MESSAGE_KEEP_NO_FOLDER, path)
                   : (*err = why, false);
    *ret = f;
    return true;
}

bool workspace_still(struct core *core, const struct workspace_folder *f, struct arena *a, struct err *err)
{
    struct exec *x = jobs_exec(core->jobs);
    struct exec_status status;
    struct err gone = {0};
    return !f->inside ||
           (x && x->ops->status(x, a, f->container, &status, &gone) && status.state == EXEC_RUNNING) ||
           err_message(err, ERR_CONFLICT, "state", MESSAGE_KEEP_ENDED);
}

/* --- looking into it --- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static DIR *list(int fd)
{
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy < 0 ? NULL : fdopendir(copy);
    if (!d && copy >= 0)
        close(copy);
    return d;
}

static bool is_folder(int fd, const struct dirent *e)
{
    struct stat st;
    return e->d_type == DT_DIR ||
           (e->d_type == DT_UNKNOWN && fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(st.st_mode));
}

bool workspace_folders(int fd, struct arena *a, const char ***ret, size_t *ret_n, struct err *err)
{
    const char **names = arena_array(a, const char *, WORKSPACE_LISTED);
    size_t n = 0;
    DIR *d = list(fd);
    if (!d)
        return err_errno(err, errno, "cannot read the folder");
    for (struct dirent *e; n < WORKSPACE_LISTED && (e = readdir(d));)
        if (e->d_name[0] != '.' && is_folder(fd, e))
            names[n++] = arena_strdup(a, e->d_name);
    closedir(d);
    qsort(names, n, sizeof *names, by_name);
    *ret = names;
    *ret_n = n;
    return true;
}

bool workspace_is_empty(int fd)
{
    DIR *d = list(fd);
    int n = 0;
    while (d && n < 3 && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n < 3; /* . and .. */
}
