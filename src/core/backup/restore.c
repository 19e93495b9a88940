#include "base/fs.h"
#include "base/hash.h"
#include "core/account/accounts.h"
#include "core/account/role.h"
#include "core/backup/backup.h"
#include "core/backup/trees.h"
#include "core/engine.h"
#include "core/job/job.h"
#include "core/quota.h"
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define MAX_DEPTH 8

/* A folder of its own below the data folder, for what was unpacked but is not in place yet. */
struct staging {
    int parent, fd;
    char name[32];
};

static bool staging_open(struct staging *s, int parent, struct err *err)
{
    char tail[16];
    random_text(8, tail);
    s->parent = parent;
    s->fd = -1;
    snprintf(s->name, sizeof s->name, "restore-%s.tmp", tail);
    if (mkdirat(parent, s->name, 0700) != 0)
        return err_errno(err, errno, "%s", s->name);
    s->fd = openat(parent, s->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return s->fd >= 0 || err_errno(err, errno, "%s", s->name);
}

static void staging_close(struct staging *s)
{
    struct err
        ignored; /* what cannot be removed is found by its name; the restore itself is not changed by it */
    if (s->fd >= 0)
        close(s->fd);
    fs_remove_tree(s->parent, s->name, &ignored);
}

/* Moves a tree of files into another, folder by folder; files that are there already stay (they have the same
 * content: their name is their hash). */
static bool merge(int from_parent, int to_parent, const char *name, int depth, struct err *err)
{
    if (mkdirat(to_parent, name, 0700) != 0 && errno != EEXIST)
        return err_errno(err, errno, "%s", name);
    auto_fd int to = openat(to_parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int fd = to >= 0 ? openat(from_parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir)
        return err_errno(err, errno, "%s", name);
    bool ok = true;
    struct dirent *e;
    while (ok && (e = readdir(dir))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (e->d_type == DT_DIR && depth < MAX_DEPTH)
            ok = merge(dirfd(dir), to, e->d_name, depth + 1, err);
        else if (renameat2(dirfd(dir), e->d_name, to, e->d_name, RENAME_NOREPLACE) != 0 && errno != EEXIST)
            ok = err_errno(err, errno, "%s", e->d_name);
    }
    if (ok && fsync(to) != 0)
        ok = err_errno(err, errno, "%s", name);
    closedir(dir);
    return ok;
}

static bool place_blobs(const struct staging *s, struct err *err)
{
    bool any = faccessat(s->fd, BACKUP_BLOBS, F_OK, 0) == 0;
    return !any || merge(s->fd, s->parent, BACKUP_BLOBS, 0, err);
}

static bool place_config(const struct staging *s, struct err *err)
{
    if (renameat(s->fd, BACKUP_CONFIG, s->parent, BACKUP_CONFIG) != 0 && errno != ENOENT)
        return err_errno(err, errno, BACKUP_CONFIG);
    return fsync(s->parent) == 0 || err_errno(err, errno, "the data folder");
}

bool backup_sweep(struct core *core, struct err *err)
{
    int fd = openat(core->data_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir)
        return err_errno(err, errno, "%s", core->data);
    struct dirent *e;
    bool ok = true;
    while (ok && (e = readdir(dir))) {
        struct str name = str_of(e->d_name);
        bool ours = str_starts(name, "backup-") || str_starts(name, "restore-");
        if (ours && (str_ends(name, ".tmp") || str_ends(name, ".tmp.part")))
            ok = fs_remove_tree(core->data_fd, e->d_name, err);
    }
    closedir(dir);
    return ok;
}

static bool is_whole(const struct backup_info *info, struct err *err)
{
    return info->apart == 0 ||
           err_set(err, ERR_INVALID, NULL,
                   "this backup only lists its %lld blobs: restore it from the folder that "
                   "`ingot backup DIR/` made",
                   (long long)info->apart);
}

/* --- into a running platform --- */
/* Rows that name blobs of a bucket are of no use on another. */
static bool is_at_hand(struct core *core, const struct backup_info *info, struct err *err)
{
    const char *mine = store_place(core->store);
    return !info->store || (mine && strcmp(info->store, mine) == 0) ||
           err_set(err, ERR_CONFLICT, NULL,
                   "the blobs of this backup are in %s, those of this platform in %s", info->store,
                   mine ? mine : "its data folder");
}

struct note {
    struct core *core;
    const struct caller *caller;
    struct arena *arena;
    const struct backup_info *info;
};

static bool write_note(struct db_conn *c, void *ctx, struct err *err)
{
    const struct note *n = ctx;
    struct op op = {.core = n->core, .caller = n->caller, .conn = c, .arena = n->arena};
    return engine_audit(&op, "restore", "platform", 0, str_of(n->info->created_at), 0, STR_NULL, err);
}

bool backup_restore_running(struct core *core, const struct caller *c, int fd, struct arena *a,
                            struct backup_info *ret, struct err *err)
{
    struct staging s;
    struct backup_info info;
    if (!staging_open(&s, core->data_fd, err))
        return false;
    const char *database = arena_printf(a, "%s/%s/" BACKUP_DATABASE, core->data, s.name);
    /* Blobs first: the rows that name them must never be there without them. */
    bool ok = backup_unpack(fd, s.fd, a, &info, err) && is_whole(&info, err) &&
              is_at_hand(core, &info, err) && place_blobs(&s, err) && db_replace(core->db, database, err) &&
              store_keep_place(core->store, err) && quota_write_all(core, err) &&
              trees_place(arena_printf(a, "%s/%s", core->data, s.name), core->data, err) &&
              place_config(&s, err);
    staging_close(&s);
    if (!ok)
        return false;
    jobs_wake(core->jobs);
    accounts_forget_all(core);
    struct note note = {core, c, a, &info};
    if (!role_make_built_in(core, err) || !db_write(core->db, write_note, &note, err))
        return false;
    *ret = info;
    return true;
}

/* --- into an empty folder --- */
static bool is_empty(int fd, const char *data, struct err *err)
{
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
    if (!dir)
        return err_errno(err, errno, "%s", data);
    struct dirent *e;
    bool empty = true;
    while (empty && (e = readdir(dir)))
        empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    closedir(dir);
    return empty || err_set(err, ERR_CONFLICT, NULL,
                            "%s is not empty: a backup is restored into an empty folder", data);
}

/* in_bucket: the blobs are where they were. */
static bool load_database(const char *url, const char *path, bool in_bucket, struct err *err)
{
    struct db *db = db_open(&(struct db_options){.url = url}, err);
    if (!db)
        return false;
    bool ok = db_restore(db, path, err) && (in_bucket || store_forget_place(db, err));
    db_close(db);
    return ok;
}

static bool fill_folder(const char *data, int folder, const char *url, int fd, struct arena *a,
                        struct backup_info *ret, struct err *err)
{
    struct staging s;
    if (!staging_open(&s, folder, err))
        return false;
    const char *path = arena_printf(a, "%s/%s/" BACKUP_DATABASE, data, s.name);
    bool ok = backup_unpack(fd, s.fd, a, ret, err) && is_whole(ret, err) && place_blobs(&s, err) &&
              load_database(url, path, ret->store != NULL, err) &&
              trees_place(arena_printf(a, "%s/%s", data, s.name), data, err) && place_config(&s, err);
    staging_close(&s);
    return ok;
}

bool backup_restore_folder(const char *data, const char *db_url, int fd, struct arena *a,
                           struct backup_info *ret, struct err *err)
{
    static const char *const made[] = {BACKUP_DATABASE, BACKUP_DATABASE "-wal", BACKUP_DATABASE "-shm",
                                       BACKUP_CONFIG, BACKUP_BLOBS};
    struct err ignored;
    bool fresh = access(data, F_OK) != 0;
    if (!fs_mkdirs(data, 0700, err))
        return false;
    auto_fd int folder = open(data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return err_errno(err, errno, "%s", data);
    if (!is_empty(folder, data, err))
        return false;
    const char *url = db_url ? db_url : arena_printf(a, "sqlite:%s/" BACKUP_DATABASE, data);
    if (fill_folder(data, folder, url, fd, a, ret, err))
        return true;
    for (size_t i = 0; i < countof(made); i++)
        fs_remove_tree(folder, made[i], &ignored);
    for (size_t i = 0; trees_names[i]; i++)
        fs_remove_tree(folder, trees_names[i], &ignored);
    if (fresh)
        rmdir(data);
    return false;
}
