/* An environment's containers: its folder and what it works on, the tools and sshd in the first of them. */
#include "base/fs.h"
#include "base/hash.h"
#include "core/environment/environment.h"
#include "core/environment/tools.h"
#include "core/environment/workspace.h"
#include "core/folder/folder.h"
#include "core/job/ssh_key.h"

#include <crypt.h>

#define HOUR 3.6e9 /* microseconds */

static bool mount_workspace(struct launch *u, const struct object *o, struct err *err)
{
    struct arena *a = launch_arena(u);
    const char *folder = workspace_path(launch_core(u), o, a);
    struct workspace_mount *mounts;
    size_t n;
    if (!fs_mkdirs(arena_printf(a, "%s/persistent-model", folder), 0755, err) ||
        !workspace_mounts(launch_core(u), o, a, &mounts, &n, err))
        return false;
    launch_mount(u, folder, "/workspace", false);
    for (size_t i = 0; i < n; i++) {
        const struct workspace_mount *m = &mounts[i];
        const char *target = arena_printf(a, "/workspace/%s", m->path);
        bool ok = folder_is_version(m->version) ? launch_version(u, m->version, m->id, target, err)
                                                : launch_dataset(u, m->id, target, err);
        if (!ok)
            return false;
    }
    return true;
}

/* --- ssh --- */

static const char sshd_config[] = "Port 2222\n"
                                  "ListenAddress 127.0.0.1\n"
                                  "HostKey " ENVIRONMENT_FILES "/host_key\n"
                                  "AuthorizedKeysFile " ENVIRONMENT_FILES "/keys\n"
                                  "PermitRootLogin yes\n"
                                  "PasswordAuthentication yes\n"
                                  "KbdInteractiveAuthentication no\n"
                                  "UsePAM no\n"
                                  "StrictModes no\n"
                                  "PrintMotd no\n"
                                  "LoginGraceTime 60\n"
                                  "MaxAuthTries 6\n"
                                  "MaxStartups 20:50:60\n"
                                  "AllowTcpForwarding yes\n"
                                  "AllowStreamLocalForwarding yes\n"
                                  "AcceptEnv LANG LC_*\n"
                                  "PidFile none\n"
                                  "Subsystem sftp internal-sftp\n";

static struct str keys_text(struct arena *a, const struct object *o)
{
    struct err err = {0};
    auto_buf struct buf text = {0};
    struct str list = object_text(o, "ssh_keys");
    yyjson_val *keys = list.n ? json_parse(a, list, &err) : NULL, *v;
    size_t i, max;
    buf_z(&text, "# the environment's ssh_keys\n");
    if (keys)
        yyjson_arr_foreach(keys, i, max, v) buf_printf(&text, "%s\n", yyjson_get_str(v));
    return arena_str(a, buf_view(&text));
}

/* As /etc/shadow has it; the password itself is not in the container. */
static bool password_text(struct arena *a, const struct object *o, struct str *ret, struct err *err)
{
    struct crypt_data *data = arena_zalloc(a, sizeof *data);
    char salt[32], setting[CRYPT_GENSALT_OUTPUT_SIZE];
    random_bytes(salt, sizeof salt);
    const char *hash = NULL;
    if (crypt_gensalt_rn("$6$", 20000, salt, sizeof salt, setting, sizeof setting))
        hash = crypt_rn(arena_strz(a, object_text(o, "password")), setting, data, sizeof *data);
    if (!hash || hash[0] == '*')
        return err_set(err, ERR_INTERNAL, NULL, "cannot hash the environment's password");
    *ret = str_of(arena_printf(a, "%s\n", hash));
    return true;
}

static bool add_ssh(struct launch *u, const struct object *o, struct err *err)
{
    uint8_t seed[SSH_KEY_SEED];
    struct str secret, shared, password;
    struct arena *a = launch_arena(u);
    if (!hex_decode(object_text(o, "host_key"), seed, sizeof seed))
        return err_set(err, ERR_INTERNAL, NULL, "the environment has no host key");
    if (!ssh_key_files(a, seed, &secret, &shared, err) || !password_text(a, o, &password, err))
        return false;
    launch_file(u, ENVIRONMENT_FILES "/host_key", secret, 0600);
    launch_file(u, ENVIRONMENT_FILES "/keys", keys_text(a, o), 0600);
    launch_file(u, ENVIRONMENT_FILES "/password", password, 0600);
    launch_file(u, ENVIRONMENT_FILES "/sshd_config",
                str_of(arena_printf(a, "%s%s", sshd_config, launch_sshd_env(u))), 0644);
    launch_port(u, ENVIRONMENT_SSH_PORT);
    return true;
}

/* --- the first process --- */

/* What an image lacks is taken from the server's own /usr, run by its own loader (mount_host). */
static const char own_text[] =
    "host=" TOOL_DIR "/host\n"
    "libs=$(echo $host/lib/*-linux-gnu)\n"
    "own() {\n"
    "    program=$1; shift\n"
    "    if command -v \"$program\" >/dev/null 2>&1; then \"$program\" \"$@\"\n"
    "    else \"$libs\"/ld-linux-*.so.* --library-path \"$libs\" \"$host/bin/$program\" \"$@\"; fi\n"
    "}\n";

/* Root's home is /workspace, so that what programs keep there stays; what ends is started again. */
static const char start_text[] =
    "cd /workspace\n"
    "files=" ENVIRONMENT_FILES "\n"
    ". $files/own\n"
    "keep() { while :; do /bin/sh \"$files/$1\" </dev/null; echo \"$1 ended with code $?; it is started "
    "again\"; "
    "own sleep 2; done & }\n"
    "home='s#^\\(root:[^:]*:[^:]*:[^:]*:[^:]*\\):[^:]*:#\\1:/workspace:#'\n"
    "own sed \"$home\" /etc/passwd >/etc/passwd.new && own cat /etc/passwd.new >/etc/passwd\n"
    "own rm -f /etc/passwd.new\n"
    "export SHELL=$(command -v bash || echo /bin/sh)\n"
    "if [ -f $files/sshd ]; then\n"
    "    { read -r password <$files/password; echo \"root:$password:20000:0:99999:7:::\"\n"
    "      own grep -v '^root:' /etc/shadow 2>/dev/null; } >/etc/shadow.new\n"
    "    own chmod 600 /etc/shadow.new && own mv -f /etc/shadow.new /etc/shadow\n"
    "    own grep -q '^sshd:' /etc/passwd || echo 'sshd:x:100:65534::/run/sshd:/usr/sbin/nologin' "
    ">>/etc/passwd\n"
    "    own mkdir -p /run/sshd /var/log && own chmod 755 /run/sshd && : >>/var/log/lastlog\n"
    "    keep sshd\n"
    "fi\n"
    "for tool in $KEEP; do keep \"$tool\"; done\n"
    "echo 'the environment is ready'\n"
    "own rm -f " TOOL_WAKE "; own mkdir -p /run; own mkfifo " TOOL_WAKE " || own sleep infinity\n"
    "while :; do\n"
    "    read -r tool <" TOOL_WAKE " || continue\n"
    "    case \" $KEEP \" in *\" $tool \"*) continue ;; esac\n"
    "    [ -f \"$files/$tool\" ] && KEEP=\"$KEEP $tool\" && keep \"$tool\"\n"
    "done\n";

static const char sshd_text[] =
    ". " ENVIRONMENT_FILES "/own\n"
    "set -- -D -e -f " ENVIRONMENT_FILES "/sshd_config\n"
    "[ -x /usr/sbin/sshd ] && exec /usr/sbin/sshd \"$@\"\n"
    "exec \"$libs\"/ld-linux-*.so.* --library-path \"$libs\" $host/sbin/sshd -r \"$@\"\n";

static void mount_host(struct launch *u)
{
    if (!str_is(object_text(launch_job(u), "image"), "host"))
        launch_mount(u, "/usr", TOOL_DIR "/host", true);
    launch_file(u, ENVIRONMENT_FILES "/own", str_of(own_text), 0644);
}

/* What is installed goes to /workspace, where it stays, and is found there; login shells, too, have the path
 * that the image was made with. */
static void add_paths(struct launch *u)
{
    struct arena *a = launch_arena(u);
    const char *path = arena_printf(a, "/workspace/.local/bin:%s", launch_env_of(u, "PATH"));
    launch_env(u, "PATH", path);
    launch_env(u, "PIP_USER", "1");
    launch_env(u, "PIP_BREAK_SYSTEM_PACKAGES", "1");
    if (!strchr(path, '\''))
        launch_file(u, "/etc/profile.d/ingot.sh", str_of(arena_printf(a, "export PATH='%s'\n", path)), 0644);
}

static bool add_tools(struct launch *u, struct err *err)
{
    struct arena *a = launch_arena(u);
    auto_buf struct buf names = {0};
    for (const struct tool *t = tools; t->name; t++) {
        if (strcmp(t->owner_kind, kind_environment.name) != 0 || tool_missing(launch_core(u), t, a))
            continue;
        if (!tool_prepare(u, t, err))
            return false;
        launch_file(u, arena_printf(a, ENVIRONMENT_FILES "/%s", t->name),
                    str_of(tool_command(a, t, launch_job(u)->id)), 0644);
        if (!t->on_demand)
            buf_printf(&names, "%s ", t->name);
    }
    launch_env(u, "KEEP", names.n ? arena_strz(a, buf_view(&names)) : "");
    launch_file(u, ENVIRONMENT_FILES "/sshd", str_of(sshd_text), 0644);
    return true;
}

static bool prepare(struct launch *u, struct err *err)
{
    static const char *const argv[] = {"/bin/sh", ENVIRONMENT_FILES "/start"};
    struct object o;
    int64_t id = object_int(launch_job(u), "owner");
    if (!engine_get(launch_core(u), &caller_system, &kind_environment, 0, id, launch_arena(u), &o, err) ||
        !mount_workspace(u, &o, err))
        return false;
    launch_root(u); /* whichever user the image names: ssh, the tools and /workspace are root's */
    add_paths(u);
    launch_distributed(u);
    mount_host(u);
    launch_file(u, ENVIRONMENT_FILES "/start", str_of(start_text), 0644);
    if (launch_rank(u) == 0 && (!add_ssh(u, &o, err) || !add_tools(u, err)))
        return false;
    launch_argv(u, argv, countof(argv));
    return true;
}

/* --- the environment's row follows its job --- */

static const char *const states[] = {
    [JOB_QUEUED] = "pending",    [JOB_STARTING] = "starting", [JOB_RUNNING] = "running",
    [JOB_STOPPING] = "stopping", [JOB_COMPLETED] = "stopped", [JOB_FAILED] = "failed",
    [JOB_STOPPED] = "stopped",
};

static bool changed(struct op *op, const struct object *job, enum job_state from, struct err *err)
{
    (void)from;
    struct object o;
    bool found;
    enum job_state state = job_state_of(job);
    if (!engine_load_row(op, &kind_environment, object_int(job, "owner"), &o, &found, err))
        return false;
    if (!found || object_int(&o, "job") != job->id)
        return true;
    double hours = object_value(job, "hours")->type == DB_REAL ? object_value(job, "hours")->r
                                                               : (double)object_int(job, "hours");
    *object_value(&o, "state") = db_textz(states[state]);
    *object_value(&o, "started_at") = *object_value(job, "started_at");
    bool limited = state == JOB_RUNNING && hours > 0;
    *object_value(&o, "ends_at") =
        limited ? db_int(object_int(job, "started_at") + (int64_t)(hours * HOUR)) : db_null();
    return engine_update_row(op, &o, err);
}

const struct job_owner environment_owner = {
    .kind = "environment",
    .prepare = prepare,
    .changed = changed,
};
