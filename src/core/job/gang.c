/* Ranks that reach each other by ssh without a password, and find each other's names where MPI and Volcano
 * put them. One key per job serves as every rank's identity, authorised key and host key. */
#include "base/hash.h"
#include "core/job/launch_own.h"
#include "core/job/ssh_key.h"

static const char sshd_config[] = "Port 22\n"
                                  "HostKey /etc/ingot/ssh_key\n"
                                  "AuthorizedKeysFile /etc/ingot/ssh_keys\n"
                                  "PermitRootLogin prohibit-password\n"
                                  "PasswordAuthentication no\n"
                                  "KbdInteractiveAuthentication no\n"
                                  "UsePAM no\n"
                                  "StrictModes no\n"
                                  "PrintMotd no\n"
                                  "AcceptEnv *\n"
                                  "MaxStartups 200\n"
                                  "PidFile /run/ingot-sshd.pid\n"
                                  "Subsystem sftp internal-sftp\n";

/* A rank that is asked may be a moment behind: ssh tries again each second. */
static const char ssh_config[] = "Host job-*\n"
                                 "    User root\n"
                                 "    IdentityFile /etc/ingot/ssh_key\n"
                                 "    IdentitiesOnly yes\n"
                                 "    StrictHostKeyChecking no\n"
                                 "    UserKnownHostsFile /dev/null\n"
                                 "    LogLevel ERROR\n"
                                 "    ConnectionAttempts 120\n"
                                 "    BatchMode yes\n";

/* sshd goes into the background, the command takes this process's place. */
static const char start[] =
    "if [ -x /usr/sbin/sshd ]; then mkdir -p /run/sshd && /usr/sbin/sshd -f /etc/ingot/sshd_config; "
    "else echo 'no /usr/sbin/sshd in this image: the ranks cannot be reached by ssh' >&2; fi; exec \"$@\"";

/* --- the key --- */

/* The seed stands in the job's row; the first launch makes it. */
static bool seed_write(struct op *op, void *ctx, struct err *err)
{
    struct launch *u = ctx;
    struct object now;
    bool found;
    if (!engine_load_row(op, &kind_job, u->job->id, &now, &found, err))
        return false;
    if (!found || object_text(&now, "ssh_key").n)
        return true;
    uint8_t seed[SSH_KEY_SEED];
    char hex[2 * SSH_KEY_SEED + 1];
    random_bytes(seed, sizeof seed);
    hex_encode(seed, sizeof seed, hex);
    return engine_set_status(op, &kind_job, now.id, ENGINE_STATUSES(status_set("ssh_key", db_textz(hex))),
                             err);
}

static bool read_seed(struct launch *u, uint8_t ret[SSH_KEY_SEED], struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(u->jobs->core->db, u->arena, "SELECT ssh_key FROM jobs WHERE id = ?",
                      db_args(db_int(u->job->id)), &row, &found, err))
        return false;
    return (found && row.v[0].type == DB_TEXT && hex_decode(row.v[0].s, ret, SSH_KEY_SEED)) ||
           err_set(err, ERR_INTERNAL, NULL, "the job has no key");
}

static bool make_keys(struct launch *u, struct str *ret_private, struct str *ret_public, struct err *err)
{
    uint8_t seed[SSH_KEY_SEED];
    if (!object_text(u->job, "ssh_key").n &&
        !engine_write(u->jobs->core, &caller_system, u->arena, seed_write, u, err))
        return false;
    if (!read_seed(u, seed, err))
        return false;
    return ssh_key_files(u->arena, seed, ret_private, ret_public, err);
}

/* --- names --- */

/* A process per card; without cards, per core. */
static void add_host_files(struct launch *u)
{
    auto_buf struct buf names = {0}, slots = {0};
    int64_t cores = u->spec.cpu_millis / 1000, n = u->cards >= 1 ? (int64_t)u->cards : cores > 1 ? cores : 1;
    for (int32_t i = 0; i < (int32_t)object_int(u->job, "nodes"); i++) {
        buf_printf(&names, "%s\n", launch_host(u, i));
        buf_printf(&slots, "%s slots=%lld\n", launch_host(u, i), (long long)n);
    }
    launch_file(u, "/etc/volcano/worker.host", arena_str(u->arena, buf_view(&names)), 0644);
    launch_file(u, "/etc/mpi/hostfile", arena_str(u->arena, buf_view(&slots)), 0644);
}

/* Containers have no right to run as another user, and no shared memory between nodes. */
static void add_mpi_env(struct launch *u)
{
    static const struct {
        const char *name, *value;
        bool gang; /* of several nodes only */
    } env[] = {
        {"OMPI_ALLOW_RUN_AS_ROOT", "1", false},
        {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", false},
        {"OMPI_MCA_orte_default_hostfile", "/etc/mpi/hostfile", false},
        {"OMPI_MCA_btl_vader_single_copy_mechanism", "none", false},
        {"OMPI_MCA_plm_rsh_no_tree_spawn", "1", true},
        {"OMPI_MCA_btl_tcp_if_include", "eth0", true},
        {"OMPI_MCA_oob_tcp_if_include", "eth0", true},
    };
    for (size_t i = 0; i < countof(env); i++)
        if (!env[i].gang || object_int(u->job, "nodes") > 1)
            launch_env_default(u, env[i].name, env[i].value);
}

/* torchrun reads its options from PET_*. The last two are its own defaults (rank 9 is not written to a file,
 * like the others), said so that the torchrun of Debian 12 understands them. */
static void add_torchrun_env(struct launch *u)
{
    const char *const env[][2] = {
        {"PET_NNODES", arena_printf(u->arena, "%lld", (long long)object_int(u->job, "nodes"))},
        {"PET_NODE_RANK", arena_printf(u->arena, "%d", launch_rank(u))},
        {"PET_MASTER_ADDR", launch_host(u, 0)},
        {"PET_MASTER_PORT", "29500"},
        {"PET_NPROC_PER_NODE", arena_printf(u->arena, "%lld", u->cards > 1 ? (long long)u->cards : 1LL)},
        {"PET_REDIRECTS", "9:0"},
        {"PET_TEE", "9:0"},
    };
    for (size_t i = 0; i < countof(env); i++)
        launch_env_default(u, env[i][0], env[i][1]);
}

void launch_distributed(struct launch *u)
{
    if (u->distributed)
        return;
    add_host_files(u);
    add_mpi_env(u);
    add_torchrun_env(u);
    u->distributed = true;
}

void gang_wrap_command(struct launch *u)
{
    size_t n = u->spec.n_argv;
    const char **argv = arena_array(u->arena, const char *, n + 4);
    argv[0] = "/bin/sh";
    argv[1] = "-c";
    argv[2] = start;
    argv[3] = "sh";
    memcpy(argv + 4, u->spec.argv, n * sizeof *argv);
    launch_argv(u, argv, n + 4);
}

bool launch_gang_ssh(struct launch *u, struct err *err)
{
    struct str secret, shared;
    if (u->gang_ssh)
        return true;
    if (!make_keys(u, &secret, &shared, err))
        return false;
    launch_file(u, "/etc/ingot/ssh_key", secret, 0600);
    launch_file(u, "/etc/ingot/ssh_keys", shared, 0644);
    launch_distributed(u);
    launch_file(u, "/etc/ingot/sshd_config",
                str_of(arena_printf(u->arena, "%s%s", sshd_config, launch_sshd_env(u))), 0644);
    launch_file(u, "/etc/ssh/ssh_config", str_of(ssh_config), 0644);
    u->gang_ssh = true;
    return true;
}
