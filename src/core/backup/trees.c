#include "core/backup/trees.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/proc.h"
#include "exec/exec.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const trees_names[] = {"workspace", "training", "curves", "jobs", NULL};

/* tar's 1 is "some files differ": they were being written to. */
static bool run_tar(struct arena *a, char *const argv[], int worst, struct err *err)
{
    int status;
    struct str output;
    if (!proc_run(a, argv, 4096, &status, &output, err))
        return false;
    return status <= worst || err_set(err, ERR_INTERNAL, NULL, "tar: " STR_FMT, STR_ARG(str_trim(output)));
}

/* --- packing --- */

static void add_name(struct buf *list, const char *name)
{
    buf_z(list, name);
    buf_char(list, 0);
}

/* Those that have ended; running ones belong to this machine. */
static bool list_jobs(struct core *core, struct buf *list, struct err *err)
{
    static const char *const parts[] = {"exit", "plan", "run", "log"};
    int fd = openat(core->data_fd, "jobs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d)
        return errno == ENOENT || err_errno(err, errno, "jobs");
    for (struct dirent *e; (e = readdir(d));) {
        struct exec_id id;
        char path[512];
        snprintf(path, sizeof path, "%s/exit", e->d_name);
        if (!exec_id_parse(str_of(e->d_name), &id) || faccessat(fd, path, F_OK, 0) != 0)
            continue;
        for (size_t i = 0; i < countof(parts); i++) {
            snprintf(path, sizeof path, "jobs/%s/%s", e->d_name, parts[i]);
            if (faccessat(core->data_fd, path, F_OK, 0) == 0)
                add_name(list, path);
        }
    }
    closedir(d);
    return true;
}

static bool list_all(struct core *core, struct buf *list, struct err *err)
{
    for (size_t i = 0; trees_names[i]; i++)
        if (strcmp(trees_names[i], "jobs") != 0 && faccessat(core->data_fd, trees_names[i], F_OK, 0) == 0)
            add_name(list, trees_names[i]);
    return list_jobs(core, list, err);
}

bool trees_pack(struct core *core, int *ret_fd, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    auto_buf struct buf list = {0};
    char tail[16];
    *ret_fd = -1;
    if (!list_all(core, &list, err))
        return false;
    if (!list.n)
        return true;
    random_text(8, tail);
    char *path = arena_printf(&a, "%s/backup-%s.tmp", core->data, tail);
    char *names = arena_printf(&a, "%s/backup-%s-names.tmp", core->data, tail);
    char *argv[] = {"tar",
                    "--create",
                    "--sparse",
                    "--numeric-owner",
                    "--ignore-failed-read",
                    "--null",
                    "--verbatim-files-from",
                    arena_printf(&a, "--directory=%s", core->data),
                    arena_printf(&a, "--file=%s", path),
                    arena_printf(&a, "--files-from=%s", names),
                    NULL};
    bool ok = fs_write_atomic(names, buf_view(&list), 0600, err) && run_tar(&a, argv, 1, err);
    if (ok) {
        *ret_fd = open(path, O_RDONLY | O_CLOEXEC);
        ok = *ret_fd >= 0 || err_errno(err, errno, "%s", path);
    }
    unlink(path);
    unlink(names);
    return ok;
}

/* --- placing --- */

static bool place_one(int from, int to, const char *name, bool replace, struct err *err)
{
    if (renameat2(from, name, to, name, RENAME_NOREPLACE) == 0)
        return true;
    if (errno == EEXIST && (!replace || renameat2(from, name, to, name, RENAME_EXCHANGE) == 0))
        return true;
    return err_errno(err, errno, "cannot restore %s", name);
}

static bool place_tree(const char *from, const char *to, bool replace, struct err *err)
{
    struct stat st;
    DIR *d = opendir(from);
    if (!d)
        return errno == ENOENT || err_errno(err, errno, "%s", from);
    bool ok = fstat(dirfd(d), &st) == 0 && fs_mkdirs(to, st.st_mode & 0777, err);
    auto_fd int into = ok ? open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (ok && into < 0)
        ok = err_errno(err, errno, "%s", to);
    for (struct dirent *e; ok && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            ok = place_one(dirfd(d), into, e->d_name, replace, err);
    if (ok && fsync(into) != 0)
        ok = err_errno(err, errno, "%s", to);
    closedir(d);
    return ok;
}

bool trees_place(const char *staging, const char *data, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    char *archive = arena_printf(&a, "%s/" BACKUP_TREES, staging);
    char *unpacked = arena_printf(&a, "%s/files", staging);
    char *argv[] = {"tar",
                    "--extract",
                    "--numeric-owner",
                    "--same-owner",
                    "--same-permissions",
                    arena_printf(&a, "--file=%s", archive),
                    arena_printf(&a, "--directory=%s", unpacked),
                    NULL};
    if (access(archive, F_OK) != 0)
        return true;
    if (!fs_mkdirs(unpacked, 0700, err) || !run_tar(&a, argv, 0, err))
        return false;
    for (size_t i = 0; trees_names[i]; i++)
        if (!place_tree(arena_printf(&a, "%s/%s", unpacked, trees_names[i]),
                        arena_printf(&a, "%s/%s", data, trees_names[i]), strcmp(trees_names[i], "jobs") != 0,
                        err))
            return false;
    return true;
}
