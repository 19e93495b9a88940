/* From a job's row to a container. */
#include "base/fs.h"
#include "core/folder/folder.h"
#include "core/job/jobs_own.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define DISK  (INT64_C(10) << 30)
#define PIDS  4096
#define GRACE 30

struct launch {
    struct look *look;
    const struct object *job;
    struct exec_spec spec;
    struct exec_mount mounts[4];
    const char **env;
};

static const char *text_field(struct launch *u, const char *field)
{
    return arena_strz(u->look->arena, object_text(u->job, field));
}

/* --- folders of versions, laid out once per content and mounted read-only --- */

static bool link_all(struct core *core, const struct manifest *m, int dirfd, struct arena *a, struct err *err)
{
    for (size_t i = 0; i < m->n; i++)
        if (!blob_link(core->store, &m->entry[i].blob, dirfd, arena_strz(a, m->entry[i].path),
                       m->entry[i].executable, err))
            return false;
    return true;
}

/* Made under a temporary name and renamed, so that a folder that is there is whole. */
static bool make_checkout(struct launch *u, const struct object *version, const char *path, struct err *err)
{
    struct core *core = u->look->jobs->core;
    struct manifest m;
    const char *half = arena_printf(u->look->arena, "%s.%lld", path, (long long)u->job->id);
    if (!folder_manifest(core, version, u->look->arena, &m, err) || !fs_remove_tree(AT_FDCWD, half, err) ||
        !fs_mkdirs(half, 0755, err))
        return false;
    auto_fd int fd = open(half, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "cannot open %s", half);
    if (!link_all(core, &m, fd, u->look->arena, err))
        return false;
    if (rename(half, path) != 0 && errno != EEXIST && errno != ENOTEMPTY)
        return err_errno(err, errno, "cannot name %s", path);
    return true;
}

static bool mount_version(struct launch *u, const char *field, const struct kind *kind, const char *target,
                          struct err *err)
{
    struct core *core = u->look->jobs->core;
    int64_t id = object_int(u->job, field);
    struct object version;
    struct stat st;
    if (!id)
        return true;
    if (!engine_get(core, &caller_system, kind, 0, id, u->look->arena, &version, err))
        return false;
    struct str digest = object_text(&version, "digest");
    const char *path = arena_printf(u->look->arena, "%s/checkouts/%.*s", core->data,
                                    digest.n ? (int)digest.n : 5, digest.n ? digest.p : "empty");
    if (stat(path, &st) != 0 && !make_checkout(u, &version, path, err))
        return false;
    u->mounts[u->spec.n_mounts++] = (struct exec_mount){path, target, true};
    return true;
}

/* --- environment: what the user gave, and what frameworks expect of a gang --- */

static const char *rank_name(struct launch *u, int32_t rank)
{
    return arena_printf(u->look->arena, "job-%lld-%d", (long long)u->job->id, rank);
}

static bool make_env(struct launch *u, int32_t rank, struct err *err)
{
    struct arena *a = u->look->arena;
    int64_t nodes = object_int(u->job, "nodes");
    struct str text = object_text(u->job, "env");
    yyjson_val *doc = json_parse(a, text.p ? text : STR("{}"), err), *key, *v;
    size_t i, max, n = 0;
    if (!doc)
        return false;
    u->env = arena_array(a, const char *, yyjson_obj_size(doc) + 12);
    u->env[n++] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    u->env[n++] = "HOME=/workspace";
    u->env[n++] = "PYTHONUNBUFFERED=1";
    u->env[n++] = arena_printf(a, "INGOT_JOB=%lld", (long long)u->job->id);
    u->env[n++] = arena_printf(a, "NODE_RANK=%d", rank);
    u->env[n++] = arena_printf(a, "NNODES=%lld", (long long)nodes);
    u->env[n++] = arena_printf(a, "MASTER_ADDR=%s", rank_name(u, 0));
    u->env[n++] = "MASTER_PORT=29500";
    yyjson_obj_foreach(doc, i, max, key, v) u->env[n++] =
        arena_printf(a, "%s=%s", yyjson_get_str(key), yyjson_get_str(v));
    u->spec.env = u->env;
    u->spec.n_env = n;
    return true;
}

static void make_peers(struct launch *u)
{
    int32_t nodes = (int32_t)object_int(u->job, "nodes");
    if (nodes < 2)
        return;
    struct exec_peer *peers = arena_array(u->look->arena, struct exec_peer, (size_t)nodes);
    for (int32_t i = 0; i < nodes; i++)
        peers[i] = (struct exec_peer){{u->job->id, u->spec.id.attempt, i}, rank_name(u, i)};
    u->spec.peers = peers;
    u->spec.n_peers = (size_t)nodes;
}

static bool read_limits(struct launch *u, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(u->look->jobs->core->db, u->look->arena, "SELECT cpus, memory FROM specs WHERE id = ?",
                      db_args(db_int(object_int(u->job, "spec"))), &row, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, NULL, "the job's spec was deleted");
    u->spec.cpu_millis = (int64_t)(row.v[0].r * 1000);
    u->spec.memory = row.v[1].i;
    return true;
}

bool jobs_launch(struct look *l, const struct object *job, int32_t rank, struct err *err)
{
    struct launch u = {.look = l, .job = job};
    const char *argv[] = {"/bin/sh", "-c", text_field(&u, "command")};
    u.spec = (struct exec_spec){.id = {job->id, (int32_t)object_int(job, "attempt"), rank},
                                .image = text_field(&u, "image"),
                                .argv = argv,
                                .n_argv = countof(argv),
                                .cwd = "/workspace",
                                .mounts = u.mounts,
                                .hostname = rank_name(&u, rank),
                                .network = job->project,
                                .disk = DISK,
                                .pids = PIDS,
                                .grace_s = GRACE};
    const char *checkouts = arena_printf(l->arena, "%s/checkouts", l->jobs->core->data);
    if (!read_limits(&u, err) || !make_env(&u, rank, err) || !fs_mkdirs(checkouts, 0755, err) ||
        !mount_version(&u, "algorithm", &kind_algorithm_version, "/workspace/algorithm", err) ||
        !mount_version(&u, "model", &kind_model_version, "/workspace/model", err))
        return false;
    make_peers(&u);
    return l->jobs->exec->ops->start(l->jobs->exec, &u.spec, err);
}
