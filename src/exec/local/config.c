/* What is written into a new container's folder: the plan for the shim, which holds crun's config.json too,
 * and the files to put in. */
#include "exec/local/own.h"

#include "base/fs.h"
#include "base/json.h"
#include "exec/local/seccomp.h"
#include "exec/shim/shim.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

static const char *const capabilities[] = {"CAP_CHOWN",      "CAP_DAC_OVERRIDE", "CAP_FOWNER",
                                           "CAP_FSETID",     "CAP_KILL",         "CAP_SETGID",
                                           "CAP_SETUID",     "CAP_SETPCAP",      "CAP_NET_BIND_SERVICE",
                                           "CAP_SYS_CHROOT", "CAP_SETFCAP",      "CAP_AUDIT_WRITE"};

static const char *const masked[] = {
    "/proc/acpi",        "/proc/asound",      "/proc/interrupts",
    "/proc/kcore",       "/proc/keys",        "/proc/latency_stats",
    "/proc/sched_debug", "/proc/scsi",        "/proc/timer_list",
    "/proc/timer_stats", "/sys/firmware",     "/sys/fs/selinux",
    "/sys/dev/block",    "/sys/kernel/debug", "/sys/devices/virtual/powercap",
    "/proc/cmdline",     "/proc/config.gz",   "/proc/kallsyms",
    "/proc/modules",     "/proc/swaps",       "/proc/diskstats"};

static const char *const read_only[] = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
                                        "/proc/sysrq-trigger"};

static void strings(struct json_out *o, const char *key, const char *const *list, size_t n)
{
    json_key(o, key);
    json_array(o);
    for (size_t i = 0; i < n; i++)
        json_z(o, list[i]);
    json_array_end(o);
}

/* Without HOME crun would set root's; init makes an empty one the user's. */
static const struct {
    const char *name, *text;
} default_env[] = {{"PATH", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
                   {"HOME", "HOME="}};

static bool has_env(const struct exec_spec *spec, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < spec->n_env; i++) {
        if (strncmp(spec->env[i], name, n) == 0 && spec->env[i][n] == '=')
            return true;
    }
    return false;
}

static const char *hostname_of(const struct exec_spec *spec, char id[EXEC_ID_MAX])
{
    return spec->hostname ? spec->hostname : exec_id_format(spec->id, id);
}

static void write_process(struct json_out *o, const struct exec_spec *spec)
{
    static const char *const sets[] = {"bounding", "effective", "permitted"};
    json_key(o, "process");
    json_object(o);
    json_kbool(o, "terminal", false);
    json_kbool(o, "noNewPrivileges", true);
    json_kint(o, "oomScoreAdj", 300); /* when the machine runs out of memory: jobs before the server */
    json_key(o, "rlimits");
    json_raw(o, STR("[{\"type\":\"RLIMIT_CORE\",\"soft\":0,\"hard\":0}]"));
    json_kz(o, "cwd", "/");
    json_key(o, "user");
    json_raw(o, STR("{\"uid\":0,\"gid\":0}"));
    json_key(o, "args");
    json_array(o);
    json_z(o, "/dev/.ingot-init");
    json_z(o, "init");
    json_z(o, spec->cwd ? spec->cwd : "/");
    json_z(o, spec->user ? spec->user : "0");
    for (size_t i = 0; i < spec->n_argv; i++)
        json_z(o, spec->argv[i]);
    json_array_end(o);
    json_key(o, "env");
    json_array(o);
    for (size_t i = 0; i < countof(default_env); i++) {
        if (!has_env(spec, default_env[i].name))
            json_z(o, default_env[i].text);
    }
    for (size_t i = 0; i < spec->n_env; i++)
        json_z(o, spec->env[i]);
    json_array_end(o);
    json_key(o, "capabilities");
    json_object(o);
    for (size_t i = 0; i < countof(sets); i++)
        strings(o, sets[i], capabilities, countof(capabilities));
    json_object_end(o);
    json_object_end(o);
}

static void write_mount(struct json_out *o, const char *target, const char *type, const char *source,
                        const char *options)
{
    json_object(o);
    json_kz(o, "destination", target);
    json_kz(o, "type", type);
    json_kz(o, "source", source);
    json_key(o, "options");
    json_array(o);
    struct str rest = str_of(options);
    while (rest.p && rest.n > 0)
        json_string(o, str_cut(rest, ',', &rest));
    json_array_end(o);
    json_object_end(o);
}

static void write_mounts(struct local *l, struct json_out *o, const struct exec_spec *spec, struct arena *a)
{
    static const struct {
        const char *target, *type, *options;
    } basic[] = {
        {"/proc", "proc", "nosuid,noexec,nodev"},
        {"/dev", "tmpfs", "nosuid,strictatime,mode=755,size=1024k"},
        {"/dev/pts", "devpts", "nosuid,noexec,newinstance,ptmxmode=0666,mode=0620,gid=5"},
        {"/dev/mqueue", "mqueue", "nosuid,noexec,nodev"},
        {"/sys", "sysfs", "nosuid,noexec,nodev,ro"},
    };
    static const char *const texts[][2] = {
        {"/etc/hosts", "hosts"}, {"/etc/resolv.conf", "resolv"}, {"/etc/hostname", "hostname"}};
    json_key(o, "mounts");
    json_array(o);
    for (size_t i = 0; i < countof(basic); i++)
        write_mount(o, basic[i].target, basic[i].type, basic[i].type, basic[i].options);
    write_mount(o, "/dev/shm", "tmpfs", "shm",
                arena_printf(a, "nosuid,noexec,nodev,mode=1777,size=%lld",
                             (long long)(spec->shm ? spec->shm : 64 << 20)));
    if (spec->programs)
        write_mount(o, EXEC_PROGRAMS, "bind", arena_printf(a, "%s/programs", l->stage),
                    "bind,ro,nosuid,nodev");
    write_mount(o, "/dev/.ingot-init", "bind", arena_printf(a, "%s/init", l->stage), "bind,ro,nosuid,nodev");
    if (spec->n_secrets)
        write_mount(o, SHIM_SECRETS, "bind", arena_printf(a, "%s/secrets", l->stage),
                    "bind,ro,nosuid,nodev,noexec");
    for (size_t i = 0; i < countof(texts); i++)
        write_mount(o, texts[i][0], "bind", arena_printf(a, "%s/%s", l->stage, texts[i][1]),
                    "bind,nosuid,nodev");
    for (size_t i = 0; i < spec->n_mounts; i++)
        write_mount(o, spec->mounts[i].target, "bind", arena_printf(a, "%s/m%zu", l->stage, i),
                    spec->mounts[i].read_only ? "bind,ro,nosuid,nodev" : "bind,nosuid,nodev");
    for (size_t i = 0; i < spec->n_files; i++)
        write_mount(o, spec->files[i].target, "bind", arena_printf(a, "%s/f%zu", l->stage, i),
                    "bind,nosuid,nodev,noexec");
    for (size_t i = 0; i < spec->n_devices; i++)
        write_mount(o, spec->devices[i], "bind", arena_printf(a, "%s/devices/%zu", l->stage, i),
                    "bind,nosuid,noexec");
    json_array_end(o);
}

static bool has_swap(void)
{
    struct sysinfo info;
    return sysinfo(&info) == 0 && info.totalswap > 0;
}

static void write_resources(struct json_out *o, const struct exec_spec *spec)
{
    json_key(o, "resources");
    json_object(o);
    json_key(o, "devices");
    json_array(o);
    json_raw(o, STR("{\"allow\":false,\"access\":\"rwm\"}"));
    for (size_t i = 0; i < spec->n_devices; i++) {
        struct stat st;
        if (stat(spec->devices[i], &st) != 0)
            continue; /* checked before */
        json_object(o);
        json_kbool(o, "allow", true);
        json_kz(o, "type", S_ISBLK(st.st_mode) ? "b" : "c");
        json_kint(o, "major", (int64_t)(st.st_rdev >> 8 & 0xfff));
        json_kint(o, "minor", (int64_t)(st.st_rdev & 0xff) | (int64_t)(st.st_rdev >> 12 & 0xfff00));
        json_kz(o, "access", "rw");
        json_object_end(o);
    }
    json_array_end(o);
    if (spec->memory) {
        json_key(o, "memory");
        json_object(o);
        json_kint(o, "limit", spec->memory);
        if (has_swap())
            json_kint(o, "swap", spec->memory);
        json_object_end(o);
    }
    if (spec->cpu_millis) {
        json_key(o, "cpu");
        json_object(o);
        json_kint(o, "period", 100000);
        json_kint(o, "quota", spec->cpu_millis * 100);
        int64_t shares = spec->cpu_millis * 1024 / 1000;
        json_kint(o, "shares", shares < 2 ? 2 : shares > 262144 ? 262144 : shares);
        json_object_end(o);
    }
    if (spec->pids) {
        json_key(o, "pids");
        json_object(o);
        json_kint(o, "limit", spec->pids + 1); /* init */
        json_object_end(o);
    }
    json_object_end(o);
}

static void write_namespace(struct json_out *o, const char *type, const char *path)
{
    json_object(o);
    json_kz(o, "type", type);
    if (path)
        json_kz(o, "path", path);
    json_object_end(o);
}

static void write_linux(struct local *l, struct json_out *o, const struct exec_spec *spec, struct arena *a)
{
    static const char *const fresh[] = {"pid", "ipc", "uts", "mount", "cgroup"};
    char name[EXEC_ID_MAX], cgroup[96];
    container_cgroup(l, exec_id_format(spec->id, name), cgroup);
    json_key(o, "linux");
    json_object(o);
    json_key(o, "namespaces");
    json_array(o);
    for (size_t i = 0; i < countof(fresh); i++)
        write_namespace(o, fresh[i], NULL);
    write_namespace(o, "network", arena_printf(a, "%s/ns/net", l->stage));
    if (l->users)
        write_namespace(o, "user", arena_printf(a, "%s/ns/user", l->stage));
    json_array_end(o);
    json_kz(o, "cgroupsPath", cgroup);
    write_resources(o, spec);
    strings(o, "maskedPaths", masked, countof(masked));
    strings(o, "readonlyPaths", read_only, countof(read_only));
    json_key(o, "seccomp");
    seccomp_write(o);
    json_object_end(o);
}

static void write_config(struct local *l, const struct exec_spec *spec, struct arena *a, struct buf *out)
{
    struct json_out o;
    char id[EXEC_ID_MAX];
    json_begin(&o, out);
    json_object(&o);
    json_kz(&o, "ociVersion", "1.0.0");
    json_kz(&o, "hostname", hostname_of(spec, id));
    json_key(&o, "root");
    json_raw(&o, STR("{\"path\":\"rootfs\",\"readonly\":false}"));
    write_process(&o, spec);
    write_mounts(l, &o, spec, a);
    write_linux(l, &o, spec, a);
    json_object_end(&o);
}

static void pair(struct buf *b, const char *key, const char *value)
{
    buf_add(b, key, strlen(key) + 1);
    buf_add(b, value, strlen(value) + 1);
}

static void pair_int(struct buf *b, const char *key, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    pair(b, key, text);
}

static void plan_network(struct local *l, struct buf *b, const struct exec_spec *spec,
                         const struct lease *leases, size_t n, struct arena *a)
{
    auto_buf struct buf hosts = {0};
    char id[EXEC_ID_MAX], text[16];
    const char *hostname = hostname_of(spec, id);
    bool named = false;
    buf_z(&hosts, "127.0.0.1\tlocalhost\n::1\tlocalhost\n");
    if (n == 0)
        buf_printf(&hosts, "127.0.1.1\t%s\n", hostname);
    for (size_t i = 0; i < n; i++) {
        char name[EXEC_ID_MAX];
        network_text(leases[i].address, text);
        pair(b, "lease",
             arena_printf(a, "%s %lld %u", exec_id_format(leases[i].id, name), (long long)leases[i].project,
                          leases[i].address));
        for (size_t k = 0; k < spec->n_peers; k++) {
            if (!exec_id_equal(spec->peers[k].id, leases[i].id))
                continue;
            buf_printf(&hosts, "%s\t%s\n", text, spec->peers[k].hostname);
            named = named || strcmp(spec->peers[k].hostname, hostname) == 0;
        }
        if (!exec_id_equal(leases[i].id, spec->id))
            continue;
        if (!named)
            buf_printf(&hosts, "%s\t%s\n", text, hostname);
        char bridge[16], gateway[16];
        network_bridge_name(l, network_slot(l, leases[i].address), bridge);
        pair(b, "bridge", bridge);
        pair(b, "veth", arena_printf(a, "%sv%x", l->name, leases[i].address - l->subnet));
        pair(b, "address", text);
        network_text((leases[i].address & ~((1u << (32 - NETWORK_PREFIX)) - 1)) + 1, gateway);
        pair(b, "gateway", l->egress ? gateway : "");
    }
    pair(b, "hosts", hosts.p);
}

/* The machine's servers, without those that only it can reach. */
static char *resolv_text(struct local *l, struct arena *a)
{
    struct str text;
    if (!l->egress)
        return "";
    if (l->dns)
        return arena_printf(a, "nameserver %s\n", l->dns);
    if (!fs_read(a, "/etc/resolv.conf", 65536, &text, NULL))
        return "";
    return arena_strz(a, text);
}

static uint32_t uid_base(const struct local *l, const struct exec_spec *spec, const struct lease *leases,
                         size_t n)
{
    if (!l->users)
        return 0;
    for (size_t i = 0; i < n; i++) {
        if (exec_id_equal(leases[i].id, spec->id))
            return UID_FIRST + network_slot(l, leases[i].address) * UID_RANGE;
    }
    return UID_FIRST + NETWORK_SLOTS * UID_RANGE; /* those without a network */
}

static void write_plan(struct local *l, const struct container *c, const struct exec_spec *spec,
                       const struct lease *leases, size_t n, struct arena *a, struct buf *b)
{
    char id[EXEC_ID_MAX], cgroup[96];
    pair(b, "id", exec_id_format(spec->id, id));
    pair(b, "stage", l->stage);
    container_cgroup(l, id, cgroup);
    pair(b, "cgroup", cgroup);
    pair_int(b, "uid_base", uid_base(l, spec, leases, n));
    if (spec->n_layers == 0 || spec->host) {
        pair(b, "host", "1");
        pair(b, "layer", arena_printf(a, "%s/%s", l->dir, c->host));
    }
    for (size_t i = 0; i < spec->n_layers; i++)
        pair(b, "layer", spec->layers[i]);
    if (spec->n_secrets)
        pair(b, "secrets", "1");
    if (spec->programs)
        pair(b, "programs", spec->programs);
    if (spec->platform_port)
        pair_int(b, "platform_port", spec->platform_port);
    if (supervisors_suit(spec))
        pair(b, "keep", "1");
    pair_int(b, "disk", spec->disk);
    pair_int(b, "memory", spec->memory);
    pair_int(b, "grace", spec->grace_s ? spec->grace_s : 10);
    pair_int(b, "log_limit", spec->log_limit ? spec->log_limit : LOG_DEFAULT);
    pair(b, "hostname", arena_printf(a, "%s\n", hostname_of(spec, id)));
    pair(b, "resolv", resolv_text(l, a));
    pair(b, "cwd", spec->cwd ? spec->cwd : "/");
    pair(b, "user", spec->user ? spec->user : "0");
    plan_network(l, b, spec, leases, n, a);
    for (size_t i = 0; i < spec->n_mounts; i++)
        pair(b, "mount",
             arena_printf(a, "%s %s", spec->mounts[i].read_only ? "ro" : "rw", spec->mounts[i].source));
    for (size_t i = 0; i < spec->n_devices; i++)
        pair(b, "device", spec->devices[i]);
    for (size_t i = 0; i < spec->n_files; i++)
        pair(b, "file", arena_printf(a, "%o f%zu", spec->files[i].mode ? spec->files[i].mode : 0644, i));
    for (size_t i = 0; i < countof(default_env); i++) {
        if (!has_env(spec, default_env[i].name))
            pair(b, "env", default_env[i].text);
    }
    for (size_t i = 0; i < spec->n_env; i++)
        pair(b, "env", spec->env[i]);
    auto_buf struct buf config = {0};
    write_config(l, spec, a, &config);
    pair(b, "config", config.p);
}

static bool put(const char *dir, const char *name, struct str data, struct arena *a, struct err *err)
{
    const char *path = arena_printf(a, "%s/%s", dir, name);
    auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, errno, "cannot make %s", path);
    return fs_write_all(fd, data.p, data.n, err);
}

static bool put_secrets(const char *dir, const struct exec_spec *spec, struct arena *a, struct err *err)
{
    auto_buf struct buf lines = {0};
    for (size_t i = 0; i < spec->n_secrets; i++)
        buf_printf(&lines, "%s\n", spec->secrets[i]);
    return !spec->n_secrets || put(dir, "secrets", buf_view(&lines), a, err);
}

bool config_write(struct local *l, const struct container *c, const struct exec_spec *spec,
                  const struct lease *leases, size_t n, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    auto_buf struct buf plan = {0};
    char id[EXEC_ID_MAX];
    char *dir = arena_printf(&a, "%s/%s", l->dir, exec_id_format(spec->id, id));
    if (mkdir(dir, 0700) != 0)
        return err_errno(err, errno, "cannot make %s", dir);
    if (mkfifo(arena_printf(&a, "%s/ctl", dir), 0600) != 0)
        return err_errno(err, errno, "cannot make a pipe in %s", dir);
    for (size_t i = 0; i < spec->n_files; i++) {
        if (!put(dir, arena_printf(&a, "f%zu", i), spec->files[i].content, &a, err))
            return false;
    }
    if (!put_secrets(dir, spec, &a, err))
        return false;
    write_plan(l, c, spec, leases, n, &a, &plan);
    return put(dir, "plan", buf_view(&plan), &a, err);
}
