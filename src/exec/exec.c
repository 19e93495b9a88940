#include "exec/exec.h"

#include <stdio.h>

char *exec_id_format(struct exec_id id, char ret[EXEC_ID_MAX])
{
    snprintf(ret, EXEC_ID_MAX, "%lld-%d-%d", (long long)id.job, id.attempt, id.rank);
    return ret;
}

bool exec_id_parse(struct str s, struct exec_id *ret)
{
    struct str rest, rank;
    uint64_t job, attempt, number;
    struct str first = str_cut(s, '-', &rest);
    struct str second = str_cut(rest, '-', &rank);
    if (!str_to_u64(first, &job) || !str_to_u64(second, &attempt) || !str_to_u64(rank, &number))
        return false;
    if (job > INT64_MAX || attempt > INT32_MAX || number > INT32_MAX)
        return false;
    struct exec_id id = {(int64_t)job, (int32_t)attempt, (int32_t)number};
    char text[EXEC_ID_MAX];
    if (!str_is(s, exec_id_format(id, text)))
        return false; /* leading zeros: another name of the same thing */
    *ret = id;
    return true;
}

bool exec_id_equal(struct exec_id a, struct exec_id b)
{
    return a.job == b.job && a.attempt == b.attempt && a.rank == b.rank;
}

const char *exec_state_name(enum exec_state state)
{
    static const char *const names[] = {"starting", "running", "exited"};
    return names[state];
}

const char *exec_end_name(enum exec_end end)
{
    static const char *const names[] = {"none", "exit", "signal", "stopped", "oom", "no-start", "lost"};
    return names[end];
}

static bool check_path(const char *path, const char *field, struct err *err)
{
    if (!path || path[0] != '/')
        return err_set(err, ERR_INVALID, field, "'%.200s' must be an absolute path", path ? path : "");
    if (strlen(path) > 1000)
        return err_set(err, ERR_INVALID, field, "a path of %zu bytes is too long; at most 1000",
                       strlen(path));
    for (const char *at = path; at; at = strchr(at + 1, '/')) {
        if (strncmp(at, "/..", 3) == 0 && (at[3] == '/' || at[3] == 0))
            return err_set(err, ERR_INVALID, field, "'%.200s' must not contain '..'", path);
    }
    return true;
}

static bool check_target(const char *path, const char *field, struct err *err)
{
    static const char *const taken[] = {"/proc", "/sys", "/dev"};
    if (!check_path(path, field, err))
        return false;
    for (size_t i = 0; i < countof(taken); i++) {
        size_t n = strlen(taken[i]);
        if (strncmp(path, taken[i], n) == 0 && (path[n] == '/' || path[n] == 0))
            return err_set(err, ERR_INVALID, field, "'%.200s' is the system's: mount elsewhere", path);
    }
    return path[1] ? true : err_set(err, ERR_INVALID, field, "'/' cannot be mounted over");
}

static bool check_name(const char *name, const char *field, const char *more, struct err *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    size_t n = strlen(name), at = 0;
    while (name[at] && (strchr(letters, name[at]) || strchr(more, name[at])))
        at++;
    if (n == 0 || n > 63 || at < n || name[0] == '-')
        return err_set(err, ERR_INVALID, field, "'%.80s' must be 1 to 63 of letters, digits, '-' and '%s'",
                       name, more);
    return true;
}

static bool check_limits(const struct exec_spec *s, struct err *err)
{
    const struct {
        const char *name;
        int64_t value, least, most;
    } limits[] = {
        {"cpu_millis", s->cpu_millis, 10, 100000000},
        {"memory", s->memory, 8 << 20, INT64_C(1) << 50},
        {"disk", s->disk, 8 << 20, INT64_C(1) << 44}, /* what ext4 can hold */
        {"pids", s->pids, 1, 4000000},
        {"shm", s->shm, 1 << 16, INT64_C(1) << 50},
        {"log_limit", s->log_limit, 1 << 20, INT64_C(1) << 50},
        {"grace_s", s->grace_s, 1, 86400},
    };
    for (size_t i = 0; i < countof(limits); i++) {
        if (limits[i].value && (limits[i].value < limits[i].least || limits[i].value > limits[i].most))
            return err_set(err, ERR_INVALID, limits[i].name, "%lld is not between %lld and %lld",
                           (long long)limits[i].value, (long long)limits[i].least, (long long)limits[i].most);
    }
    return true;
}

static bool check_command(const struct exec_spec *s, struct err *err)
{
    size_t bytes = 0;
    if (s->n_argv == 0 || !s->argv[0][0])
        return err_set(err, ERR_INVALID, "argv", "a command is required");
    for (size_t i = 0; i < s->n_argv; i++)
        bytes += strlen(s->argv[i]) + 1;
    for (size_t i = 0; i < s->n_env; i++) {
        const char *equal = strchr(s->env[i], '=');
        if (!equal || equal == s->env[i])
            return err_set(err, ERR_INVALID, "env", "'%.100s' must be NAME=value", s->env[i]);
        bytes += strlen(s->env[i]) + 1;
    }
    if (bytes > 1 << 20 || s->n_argv + s->n_env > 20000)
        return err_set(err, ERR_INVALID, "argv",
                       "command and environment are larger than 1 MB or 20000 words");
    if (s->cwd && !check_path(s->cwd, "cwd", err))
        return false;
    return (!s->user || check_name(s->user, "user", "_.:", err)) &&
           (!s->hostname || check_name(s->hostname, "hostname", ".", err));
}

bool exec_spec_check(const struct exec_spec *s, struct err *err)
{
    if (s->id.job < 1 || s->id.attempt < 1 || s->id.rank < 0)
        return err_set(err, ERR_INVALID, "id", "job and attempt count from 1, rank from 0");
    if (s->n_layers == 0 && (!s->image || strcmp(s->image, "host") != 0))
        return err_set(err, ERR_INVALID, "image", "image '%.100s' has no layers", s->image ? s->image : "");
    for (size_t i = 0; i < s->n_secrets; i++) {
        if (!strchr(s->secrets[i], '=') || strlen(s->secrets[i]) > EXEC_SECRET_MAX ||
            strchr(s->secrets[i], '\n'))
            return err_set(err, ERR_INVALID, "secrets", "each is NAME=value, a line of at most %d bytes",
                           EXEC_SECRET_MAX);
    }
    if (s->n_secrets > EXEC_SECRETS)
        return err_set(err, ERR_INVALID, "secrets", "at most %d", EXEC_SECRETS);
    if (s->n_layers > 120 || s->n_mounts > 200 || s->n_files > 100 || s->n_peers > 1000 || s->n_devices > 200)
        return err_set(err, ERR_INVALID, NULL,
                       "at most 120 layers, 200 mounts, 100 files, 1000 peers and 200 devices");
    if (!check_command(s, err) || !check_limits(s, err) ||
        (s->programs && !check_path(s->programs, "programs", err)))
        return false;
    for (size_t i = 0; i < s->n_layers; i++) {
        if (!check_path(s->layers[i], "layers", err))
            return false;
    }
    for (size_t i = 0; i < s->n_mounts; i++) {
        if (!check_path(s->mounts[i].source, "mounts", err) ||
            !check_target(s->mounts[i].target, "mounts", err))
            return false;
    }
    for (size_t i = 0; i < s->n_files; i++) {
        if (!check_target(s->files[i].target, "files", err))
            return false;
        if (s->files[i].content.n > 1 << 20)
            return err_set(err, ERR_INVALID, "files", "%s is larger than 1 MB", s->files[i].target);
    }
    for (size_t i = 0; i < s->n_peers; i++) {
        if (!check_name(s->peers[i].hostname, "peers", ".", err))
            return false;
    }
    for (size_t i = 0; i < s->n_devices; i++) {
        if (!check_path(s->devices[i], "devices", err) || strncmp(s->devices[i], "/dev/", 5) != 0)
            return err_set(err, ERR_INVALID, "devices", "'%.200s' is not a device", s->devices[i]);
    }
    return true;
}
