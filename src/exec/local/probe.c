#include "exec/local/own.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/proc.h"
#include "exec/local/cgroup.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

static bool find_crun(struct local *l, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    char *argv[] = {"crun", "--version", NULL};
    int status;
    struct str output, rest;
    if (!proc_run(&a, argv, 4096, &status, &output, NULL) || status != 0 ||
        !str_starts(output, "crun version "))
        return err_set(err, ERR_UNAVAILABLE, NULL, "crun is not installed");
    str_cut(output, ' ', &rest);
    str_cut(rest, ' ', &rest);
    struct str version = str_cut(rest, '\n', &rest);
    snprintf(l->crun_version, sizeof l->crun_version, STR_FMT, STR_ARG(version));
    return true;
}

static bool write_probe(struct local *l, bool users, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    auto_buf struct buf b = {0};
    const char *const pairs[][2] = {{"id", "probe"},
                                    {"stage", l->stage},
                                    {"uid_base", users ? "268435456" : "0"},
                                    {"host", "1"},
                                    {"layer", arena_printf(&a, "%s/%s", l->dir, l->host)},
                                    {"log_limit", "1048576"}};
    if (!fs_remove_tree(l->dir_fd, ".probe", err))
        return false;
    if (mkdirat(l->dir_fd, ".probe", 0700) != 0)
        return err_errno(err, errno, "cannot make a folder in %s", l->dir);
    for (size_t i = 0; i < countof(pairs); i++) {
        buf_add(&b, pairs[i][0], strlen(pairs[i][0]) + 1);
        buf_add(&b, pairs[i][1], strlen(pairs[i][1]) + 1);
    }
    char *path = arena_printf(&a, "%s/.probe/plan", l->dir);
    auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, errno, "cannot write %s", path);
    return fs_write_all(fd, b.p, b.n, err);
}

/* Builds everything but the container itself; reason is why that did not work. */
static bool try_shim(struct local *l, bool users, char reason[256], struct err *err)
{
    int ends[2];
    char *argv[] = {"ingot-shim", "probe", NULL};
    reason[0] = 0;
    if (!write_probe(l, users, err))
        return false;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_errno(err, errno, "cannot make a pipe");
    auto_fd int from = ends[0];
    auto_fd int cwd = openat(l->dir_fd, ".probe", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pid_t pid = spawn_shim(l, cwd, argv, &ends[1], 1, err);
    close(ends[1]);
    if (pid < 0)
        return false;
    ssize_t n = read(from, reason, 255);
    reason[n > 0 ? n : 0] = 0;
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!reason[0] && status != 0)
        snprintf(reason, 256, "the supervisor failed (status %d)", status);
    return fs_remove_tree(l->dir_fd, ".probe", err);
}

bool probe_machine(struct local *l, struct err *err)
{
    char reason[256];
    if (cgroup_version() == 0)
        return err_set(err, ERR_UNAVAILABLE, NULL, "this machine has no cgroups at /sys/fs/cgroup");
    if (!find_crun(l, err) || !try_shim(l, true, l->users_reason, err))
        return false;
    l->users = l->users_reason[0] == 0;
    if (l->users)
        return true;
    if (!try_shim(l, false, reason, err))
        return false;
    return reason[0] ? err_set(err, ERR_UNAVAILABLE, NULL, "this machine cannot run containers: %s", reason)
                     : true;
}

static void capability(struct json_out *o, const char *key, bool ok, const char *reason)
{
    json_key(o, key);
    json_object(o);
    json_kbool(o, "ok", ok);
    if (!ok)
        json_kz(o, "reason", reason);
    json_object_end(o);
}

struct str local_report(struct exec *x, struct arena *a)
{
    struct local *l = local_of(x);
    auto_buf struct buf b = {0};
    struct json_out o;
    json_begin(&o, &b);
    json_object(&o);
    json_kint(&o, "cgroup", cgroup_version());
    json_kbool(&o, "cgroup_hybrid", cgroup_is_hybrid());
    json_kz(&o, "crun", l->crun_version);
    capability(&o, "user_namespace", l->users, l->users_reason);
    capability(&o, "network", l->network, l->network_reason);
    json_kbool(&o, "egress", l->egress && l->network);
    capability(&o, "disk_limit", access("/dev/loop-control", F_OK) == 0, "there is no /dev/loop-control");
    json_object_end(&o);
    return arena_str(a, buf_view(&b));
}
