#include "core/job/checkout.h"

#include "base/clock.h"
#include "base/fs.h"
#include "core/data/sample.h"
#include "core/folder/folder.h"
#include "core/job/job.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

/* --- noting what a job uses --- */

static bool note_use(struct checkout_user *u, const char *name, struct err *err)
{
    const char *entry = arena_printf(u->arena, "%s ", name);
    if (strstr(u->uses, entry))
        return true;
    const char *uses = arena_printf(u->arena, "%s%s", u->uses, entry);
    pthread_mutex_lock(u->lock);
    bool ok = engine_write_status(u->core, &kind_job, u->job,
                                  ENGINE_STATUSES(status_set("checkouts", db_textz(uses))), err);
    pthread_mutex_unlock(u->lock);
    if (ok)
        u->uses = uses;
    return ok;
}

/* --- making --- */

typedef bool fill_fn(struct checkout_user *u, const struct object *version, int dirfd, struct err *err);

static bool fill_folder(struct checkout_user *u, const struct object *version, int dirfd, struct err *err)
{
    struct manifest m;
    if (!folder_manifest(u->core, version, u->arena, &m, err))
        return false;
    struct blob_to_link *item = arena_alloc(u->arena, (m.n + 1) * sizeof *item);
    for (size_t i = 0; i < m.n; i++)
        item[i] = (struct blob_to_link){&m.entry[i].blob, arena_strz(u->arena, m.entry[i].path),
                                        m.entry[i].executable};
    return blob_link_all(u->core->store, item, m.n, dirfd, err);
}

static bool fill_dataset(struct checkout_user *u, const struct object *version, int dirfd, struct err *err)
{
    return checkout_fill_dataset(u->core, version, dirfd, err);
}

static bool fill_half(struct checkout_user *u, const struct object *version, const char *half, fill_fn *fill,
                      struct err *err)
{
    if (!fs_remove_tree(AT_FDCWD, half, err) || !fs_mkdirs(half, 0755, err))
        return false;
    auto_fd int fd = open(half, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "cannot open %s", half);
    return fill(u, version, fd, err);
}

static bool make(struct checkout_user *u, const struct object *version, const char *name, fill_fn *fill,
                 struct err *err)
{
    const char *path = arena_printf(u->arena, "%s/checkouts/%s", u->core->data, name);
    const char *half =
        arena_printf(u->arena, "%s/checkouts/.half-%s-%lld", u->core->data, name, (long long)u->job);
    bool ok = fill_half(u, version, half, fill, err);
    if (ok && rename(half, path) == 0)
        return true;
    if (ok && errno != EEXIST && errno != ENOTEMPTY)
        ok = err_errno(err, errno, "cannot name %s", path);
    struct err ignored = {0};
    fs_remove_tree(AT_FDCWD, half, &ignored); /* the next start of the server tries again */
    return ok;
}

/* The time of the last use is the folder's own. */
static const char *use(struct checkout_user *u, const struct object *version, const char *name, fill_fn *fill,
                       struct err *err)
{
    const char *path = arena_printf(u->arena, "%s/checkouts/%s", u->core->data, name);
    if (!note_use(u, name, err))
        return NULL;
    if (utimensat(AT_FDCWD, path, NULL, 0) == 0)
        return path;
    if (errno != ENOENT) {
        err_errno(err, errno, "cannot use %s", path);
        return NULL;
    }
    return make(u, version, name, fill, err) ? path : NULL;
}

const char *checkout_folder(struct checkout_user *u, const struct kind *kind, int64_t version,
                            struct err *err)
{
    struct object v;
    if (!engine_get(u->core, &caller_system, kind, 0, version, u->arena, &v, err))
        return NULL;
    struct str digest = object_text(&v, "digest");
    return use(u, &v, digest.n ? arena_strz(u->arena, digest) : "empty", fill_folder, err);
}

/* A published version has a digest; a draft is named by what changes whenever one of its samples does. */
static const char *dataset_name(struct checkout_user *u, const struct object *v, struct err *err)
{
    struct db_row row;
    bool found;
    struct str digest = object_text(v, "digest");
    if (digest.n)
        return arena_printf(u->arena, "d" STR_FMT, STR_ARG(digest));
    if (!db_query_one(u->core->db, u->arena,
                      "SELECT COUNT(*), COALESCE(MAX(id), 0), COALESCE(MAX(updated_at), 0),"
                      " COALESCE(CAST(SUM(revision) AS BIGINT), 0) FROM samples WHERE version = ?",
                      db_args(db_int(v->id)), &row, &found, err))
        return NULL;
    return arena_printf(u->arena, "v%lld-%llx-%llx-%llx-%llx", (long long)v->id,
                        (unsigned long long)row.v[0].i, (unsigned long long)row.v[1].i,
                        (unsigned long long)row.v[2].i, (unsigned long long)row.v[3].i);
}

const char *checkout_dataset(struct checkout_user *u, int64_t version, struct err *err)
{
    struct object v;
    if (!engine_get(u->core, &caller_system, &kind_dataset_version, 0, version, u->arena, &v, err))
        return NULL;
    const char *name = dataset_name(u, &v, err);
    return name ? use(u, &v, name, fill_dataset, err) : NULL;
}

/* --- sweeping --- */

/* All uses of jobs that are not over, as one text. */
static bool load_uses(struct core *core, struct arena *a, struct buf *ret, struct err *err)
{
    struct db_rows rows;
    if (!db_query(core->db, a,
                  "SELECT checkouts FROM jobs WHERE state IN ('queued', 'starting', 'running', 'stopping')"
                  " AND checkouts IS NOT NULL",
                  DB_NO_ARGS, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        buf_str(ret, rows.row[i].v[0].s);
    buf_char(ret, 0);
    return true;
}

static bool is_unused(int dirfd, const char *name, const char *uses, int64_t before_s)
{
    char entry[NAME_MAX + 2];
    struct stat st;
    snprintf(entry, sizeof entry, "%s ", name);
    return name[0] != '.' && !strstr(uses, entry) && fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           st.st_mtime <= before_s;
}

/* Out of the way under the lock, so that a job that comes now makes its own. */
static void set_aside(DIR *d, const char *uses, int64_t before_s)
{
    char gone[NAME_MAX + 8];
    for (struct dirent *e; (e = readdir(d));)
        if (is_unused(dirfd(d), e->d_name, uses, before_s)) {
            snprintf(gone, sizeof gone, ".gone-%s", e->d_name);
            renameat(dirfd(d), e->d_name, dirfd(d), gone);
        }
}

static bool remove_all(DIR *d, const char *prefix, struct err *err)
{
    bool ok = true;
    rewinddir(d);
    for (struct dirent *e; (e = readdir(d));) {
        struct err one = {0};
        if (strncmp(e->d_name, prefix, strlen(prefix)) == 0 && strcmp(e->d_name, ".") != 0 &&
            strcmp(e->d_name, "..") != 0 && !fs_remove_tree(dirfd(d), e->d_name, &one))
            ok = err_keep(err, &one);
    }
    return ok;
}

static DIR *open_checkouts(struct core *core, struct arena *a, struct err *err)
{
    const char *path = arena_printf(a, "%s/checkouts", core->data);
    if (!fs_mkdirs(path, 0755, err))
        return NULL;
    DIR *d = opendir(path);
    if (!d)
        err_errno(err, errno, "cannot open %s", path);
    return d;
}

bool checkout_sweep(struct core *core, pthread_mutex_t *lock, int64_t keep_s, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    auto_buf struct buf uses = {0};
    DIR *d = open_checkouts(core, &a, err);
    if (!d)
        return false;
    pthread_mutex_lock(lock);
    bool ok = load_uses(core, &a, &uses, err);
    if (ok)
        set_aside(d, uses.p, clock_now() / 1000000 - keep_s);
    pthread_mutex_unlock(lock);
    ok = ok && remove_all(d, ".gone-", err);
    closedir(d);
    return ok;
}

bool checkout_sweep_halves(struct core *core, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    DIR *d = open_checkouts(core, &a, err);
    if (!d)
        return false;
    bool ok = remove_all(d, ".", err);
    closedir(d);
    return ok;
}
