/* From a job's row to what its containers need. */
#include "core/account/accounts.h"
#include "core/folder/folder.h"
#include "core/image/image.h"
#include "core/job/launch_own.h"
#include "core/job/placed.h"
#include "core/job/programs.h"

#include <unistd.h>

#define DISK  (INT64_C(10) << 30)
#define PIDS  4096
#define GRACE 30

/* Where no program of a job listens: above the ports that the kernel gives out. */
#define PLATFORM_PORT 64646

/* --- lists --- */

static void *add(struct launch *u, struct launch_list *l, size_t size)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 8;
        l->p = arena_grow(u->arena, l->p, l->cap * size, cap * size);
        l->cap = cap;
    }
    return (char *)l->p + l->n++ * size;
}

/* --- what owners call (owner.h) --- */

struct arena *launch_arena(struct launch *u)
{
    return u->arena;
}

struct core *launch_core(struct launch *u)
{
    return u->jobs->core;
}

const struct object *launch_job(struct launch *u)
{
    return u->job;
}

int32_t launch_rank(struct launch *u)
{
    return u->spec.id.rank;
}

const char *launch_host(struct launch *u, int32_t rank)
{
    return arena_printf(u->arena, "job-%lld-%d", (long long)u->job->id, rank);
}

void launch_mount(struct launch *u, const char *source, const char *target, bool read_only)
{
    struct exec_mount *m = add(u, &u->mounts, sizeof *m);
    *m = (struct exec_mount){source, target, read_only};
}

bool launch_version(struct launch *u, const struct kind *kind, int64_t id, const char *target,
                    struct err *err)
{
    const char *path = checkout_folder(u->checkouts, kind, id, err);
    if (path)
        launch_mount(u, path, target, true);
    return path != NULL;
}

bool launch_dataset(struct launch *u, int64_t version, const char *target, struct err *err)
{
    const char *path = checkout_dataset(u->checkouts, version, err);
    if (path)
        launch_mount(u, path, target, true);
    return path != NULL;
}

static void set_env(struct launch *u, const char *name, const char *value, bool replace)
{
    const char *entry = arena_printf(u->arena, "%s=%s", name, value);
    const char **list = u->env.p;
    size_t n = strlen(name) + 1;
    for (size_t i = 0; i < u->env.n; i++)
        if (strncmp(list[i], entry, n) == 0) {
            list[i] = replace ? entry : list[i];
            return;
        }
    *(const char **)add(u, &u->env, sizeof entry) = entry;
}

void launch_env(struct launch *u, const char *name, const char *value)
{
    set_env(u, name, value, true);
}

void launch_env_default(struct launch *u, const char *name, const char *value)
{
    set_env(u, name, value, false);
}

const char *launch_env_of(struct launch *u, const char *name)
{
    const char **list = u->env.p;
    size_t n = strlen(name);
    for (size_t i = 0; i < u->env.n; i++)
        if (strncmp(list[i], name, n) == 0 && list[i][n] == '=')
            return list[i] + n + 1;
    return NULL;
}

void launch_secret(struct launch *u, const char *name, const char *value)
{
    const char **list = u->env.p;
    size_t n = strlen(name), kept = 0;
    for (size_t i = 0; i < u->env.n; i++)
        if (strncmp(list[i], name, n) != 0 || list[i][n] != '=')
            list[kept++] = list[i];
    u->env.n = kept; /* what the image has would win */
    *(const char **)add(u, &u->secrets, sizeof(char *)) = arena_printf(u->arena, "%s=%s", name, value);
}

bool launch_program(struct launch *u, const char *name, struct err *err)
{
    u->spec.programs = programs_folder(u->jobs->core, jobs_exec(u->jobs), u->arena, err);
    if (!u->spec.programs)
        return false;
    return access(arena_printf(u->arena, "%s/bin/%s", u->spec.programs, name), X_OK) == 0 ||
           err_set(err, ERR_CONFLICT, NULL, "the program %s is not installed with the server", name);
}

/* Sessions have these of their own. */
static bool is_session_own(const char *entry)
{
    static const char *const names[] = {"HOME=", "SHELL=", "TERM=", "USER=", "LOGNAME=", "PWD="};
    for (size_t i = 0; i < countof(names); i++)
        if (strncmp(entry, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

const char *launch_sshd_env(struct launch *u)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,+@%=~-";
    const char **list = u->env.p, **secrets = u->secrets.p;
    auto_buf struct buf text = {0};
    for (size_t i = 0; i < u->secrets.n; i++)
        buf_printf(&text, " %s", secrets[i]);
    for (size_t i = 0; i < u->env.n; i++)
        if (strspn(list[i], plain) == strlen(list[i]) && !is_session_own(list[i]))
            buf_printf(&text, " %s", list[i]);
    return text.n ? arena_printf(u->arena, "SetEnv%.*s\n", (int)text.n, text.p) : "";
}

void launch_file(struct launch *u, const char *target, struct str content, unsigned mode)
{
    struct exec_file *f = add(u, &u->files, sizeof *f);
    *f = (struct exec_file){target, content, mode};
}

void launch_port(struct launch *u, uint16_t port)
{
    *(uint16_t *)add(u, &u->ports, sizeof port) = port;
}

void launch_argv(struct launch *u, const char *const *argv, size_t n)
{
    u->spec.argv = arena_copy(u->arena, argv, n * sizeof *argv);
    u->spec.n_argv = n;
}

void launch_disk(struct launch *u, int64_t bytes)
{
    u->spec.disk = bytes;
}

void launch_root(struct launch *u)
{
    u->spec.user = NULL;
}

void launch_alone(struct launch *u)
{
    u->spec.network = 0;
}

/* --- what every job gets --- */

static const char *text_field(struct launch *u, const char *field)
{
    return arena_strz(u->arena, object_text(u->job, field));
}

/* The image layers, and the variables and the user it was made with. One that is not unpacked yet is waited
 * for. */
static bool add_image(struct launch *u, struct err *err)
{
    struct image_ready image;
    const struct image_want want = {.project = u->job->project,
                                    .name = u->spec.image,
                                    .spec = object_int(u->job, "spec"),
                                    .job = u->job->id};
    if (image_prepare(u->jobs->core, &want, u->arena, &image, err) != IMAGE_READY)
        return false;
    u->spec.host = image.host;
    u->spec.layers = image.layers;
    u->spec.n_layers = image.n_layers;
    u->spec.user = image.user;
    launch_env(u, "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    for (size_t i = 0; i < image.n_env; i++) {
        struct str value, name = str_cut(str_of(image.env[i]), '=', &value);
        if (value.p && name.n)
            launch_env(u, arena_strz(u->arena, name), arena_strz(u->arena, value));
    }
    return true;
}

/* What the user gave, and what frameworks expect of a gang. */
static bool add_env(struct launch *u, struct err *err)
{
    struct arena *a = u->arena;
    struct str text = object_text(u->job, "env");
    yyjson_val *doc = json_parse(a, text.p ? text : STR("{}"), err), *key, *v;
    size_t i, max;
    if (!doc)
        return false;
    launch_env(u, "HOME", "/workspace");
    launch_env(u, "PYTHONUNBUFFERED", "1");
    launch_env(u, "INGOT_JOB", arena_printf(a, "%lld", (long long)u->job->id));
    launch_env(u, "NODE_RANK", arena_printf(a, "%d", u->spec.id.rank));
    launch_env(u, "NNODES", arena_printf(a, "%lld", (long long)object_int(u->job, "nodes")));
    launch_env(u, "MASTER_ADDR", launch_host(u, 0));
    launch_env(u, "MASTER_PORT", "29500");
    yyjson_obj_foreach(doc, i, max, key, v) launch_env(u, yyjson_get_str(key), yyjson_get_str(v));
    return true;
}

/* More of a path: behind what is there. */
static void extend_path(struct launch *u, const char *name, const char *folder)
{
    const char *before = launch_env_of(u, name);
    launch_env(u, name, before && *before ? arena_printf(u->arena, "%s:%s", before, folder) : folder);
}

/* The platform's address inside, what opens it, and the programs that use both. What the user gave wins. */
static bool add_platform(struct launch *u, struct err *err)
{
    const struct job_owner *owner = job_owner_of(u->job);
    struct core *core = u->jobs->core;
    struct arena *a = u->arena;
    char token[ACCOUNTS_SECRET_MAX];
    struct db_row row;
    bool found;
    if (!db_query_one(core->db, a, "SELECT id FROM projects WHERE id = ? AND COALESCE(job_access, 1) <> 0",
                      db_args(db_int(u->job->project)), &row, &found, err))
        return false;
    if (!found || (owner && owner->no_platform))
        return true;
    u->spec.programs = programs_folder(core, jobs_exec(u->jobs), a, err);
    if (!u->spec.programs || !accounts_job_token(core, u->job, u->spec.id.attempt, token, err))
        return false;
    u->spec.platform_port = PLATFORM_PORT;
    launch_env_default(u, "INGOT_URL", arena_printf(a, "http://127.0.0.1:%d", PLATFORM_PORT));
    launch_env_default(u, "INGOT_PROJECT", arena_printf(a, "%lld", (long long)u->job->project));
    if (!launch_env_of(u, "INGOT_TOKEN"))
        *(const char **)add(u, &u->secrets, sizeof(char *)) = arena_printf(a, "INGOT_TOKEN=%s", token);
    extend_path(u, "PATH", EXEC_PROGRAMS "/bin");
    extend_path(u, "PYTHONPATH", EXEC_PROGRAMS "/python/ingot.zip");
    return true;
}

static void add_peers(struct launch *u)
{
    int32_t nodes = (int32_t)object_int(u->job, "nodes");
    if (nodes < 2)
        return;
    struct exec_peer *peers = arena_array(u->arena, struct exec_peer, (size_t)nodes);
    for (int32_t i = 0; i < nodes; i++)
        peers[i] = (struct exec_peer){{u->job->id, u->spec.id.attempt, i}, launch_host(u, i)};
    u->spec.peers = peers;
    u->spec.n_peers = (size_t)nodes;
}

/* Of a job that an older version of the program placed; others have what they were placed with. */
static bool add_limits(struct launch *u, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(u->jobs->core->db, u->arena, "SELECT cpus, memory FROM specs WHERE id = ?",
                      db_args(db_int(object_int(u->job, "spec"))), &row, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, NULL, "the job's spec was deleted");
    u->spec.cpu_millis = (int64_t)(row.v[0].r * 1000);
    u->spec.memory = row.v[1].i;
    return true;
}

static bool add_version(struct launch *u, const char *field, const struct kind *kind, const char *target,
                        struct err *err)
{
    int64_t id = object_int(u->job, field);
    return !id || launch_version(u, kind, id, target, err);
}

/* What drivers need beside the card itself; given when the node has it. */
static const struct {
    const char *kind, *path;
} companions[] = {
    {"nvidia", "/dev/nvidiactl"},       {"nvidia", "/dev/nvidia-uvm"}, {"nvidia", "/dev/nvidia-uvm-tools"},
    {"ascend", "/dev/davinci_manager"}, {"ascend", "/dev/devmm_svm"},  {"ascend", "/dev/hisi_hdc"},
};

static void add_device(struct launch *u, const char *path)
{
    const char **list = u->devices.p;
    for (size_t i = 0; i < u->devices.n; i++)
        if (strcmp(list[i], path) == 0)
            return;
    *(const char **)add(u, &u->devices, sizeof path) = path;
}

/* The node, the limits and the cards that the scheduler chose for this rank. */
static bool add_placement(struct launch *u, struct err *err)
{
    struct placed p = placed_rank(u->arena, object_text(u->job, "placement"), u->spec.id.rank);
    yyjson_val *d;
    size_t i, max;
    auto_buf struct buf names = {0};
    u->spec.node = p.node;
    u->cards = p.cards;
    if (p.known) {
        u->spec.cpu_millis = (int64_t)(p.cpus * 1000 + 0.5);
        u->spec.memory = p.memory;
    } else if (!add_limits(u, err)) {
        return false;
    }
    if (!yyjson_arr_size(p.devices))
        return true;
    yyjson_arr_foreach(p.devices, i, max, d)
    {
        const char *path = yyjson_get_str(yyjson_obj_get(d, "path"));
        const char *kind = yyjson_get_str(yyjson_obj_get(d, "kind"));
        add_device(u, path);
        buf_printf(&names, "%s%s", i ? "," : "", path);
        for (size_t k = 0; k < countof(companions); k++)
            if (str_starts(str_of(kind), companions[k].kind) && access(companions[k].path, F_OK) == 0)
                add_device(u, companions[k].path);
    }
    launch_env(u, "INGOT_DEVICES", arena_strz(u->arena, buf_view(&names)));
    if (p.cards < 1)
        launch_env(u, "INGOT_DEVICE_SHARE", arena_printf(u->arena, "%g", p.cards));
    return true;
}

static void add_command(struct launch *u)
{
    const char *argv[] = {"/bin/sh", "-c", text_field(u, "command")};
    launch_argv(u, argv, countof(argv));
}

static void finish(struct launch *u)
{
    if (u->gang_ssh)
        gang_wrap_command(u);
    u->spec.mounts = u->mounts.p;
    u->spec.n_mounts = u->mounts.n;
    u->spec.files = u->files.p;
    u->spec.n_files = u->files.n;
    u->spec.env = u->env.p;
    u->spec.n_env = u->env.n;
    u->spec.secrets = u->secrets.p;
    u->spec.n_secrets = u->secrets.n;
    u->spec.ports = u->ports.p;
    u->spec.n_ports = u->ports.n;
    u->spec.devices = u->devices.p;
    u->spec.n_devices = u->devices.n;
}

bool launch_build(struct launch *u, struct err *err)
{
    const struct job_owner *owner = job_owner_of(u->job);
    u->spec.image = text_field(u, "image");
    u->spec.cwd = "/workspace";
    u->spec.hostname = launch_host(u, u->spec.id.rank);
    u->spec.network = u->job->project;
    u->spec.disk = DISK;
    u->spec.pids = PIDS;
    u->spec.grace_s = GRACE;
    add_command(u);
    add_peers(u);
    if (!add_image(u, err) || !add_env(u, err) || !add_platform(u, err) || !add_placement(u, err) ||
        !add_version(u, "algorithm", &kind_algorithm_version, "/workspace/algorithm", err) ||
        !add_version(u, "model", &kind_model_version, "/workspace/model", err))
        return false;
    int64_t dataset = object_int(u->job, "dataset");
    if (dataset && !launch_dataset(u, dataset, "/workspace/dataset", err))
        return false;
    if (owner && owner->prepare && !owner->prepare(u, err))
        return false;
    if (u->spec.n_peers && !launch_gang_ssh(u, err))
        return false;
    finish(u);
    return true;
}
