#include "cli/env.h"

#include "cli/remote.h"
#include "cli/scope.h"
#include "core/environment/environment.h"

#include <errno.h>
#include <time.h>

#define PASSWORD  "INGOT_SSH_PASSWORD"
#define SSH_TRIES 30 /* two a second, while an environment starts */

const struct flag env_flags[] = {
    {"tool", 0, FLAG_VALUE, "NAME", "open: jupyter (the default) or vscode", NULL},
    {"print", 0, FLAG_SWITCH, NULL, "only print the command or address", NULL},
    {"project", 'p', FLAG_VALUE, "NAME", "where the environment is", NULL},
};

bool env_answer_ssh(void)
{
    const char *password = getenv(PASSWORD);
    if (!password)
        return false;
    puts(password);
    return true;
}

static bool find(struct cli *cli, const struct args *args, int64_t *ret_id, yyjson_val **ret, struct err *err)
{
    if (!scope_id(cli, &kind_environment, args, args->words[1], ret_id, err))
        return false;
    struct remote_call call = {
        .method = "GET", .path = arena_printf(&cli->arena, "/environments/%lld/access", (long long)*ret_id)};
    return remote_json(cli, &call, ret, err);
}

/* --- ssh --- */

/* ssh runs this very program to learn the password; the host's key is what the platform says. */
static bool become_ssh(struct cli *cli, const char **argv, const char *password, struct err *err)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (password && n > 0) {
        self[n] = 0;
        setenv(PASSWORD, password, 1);
        setenv("SSH_ASKPASS", self, 1);
        setenv("SSH_ASKPASS_REQUIRE", "force", 1);
    }
    (void)cli;
    fflush(NULL);
    execvp("ssh", (char *const *)argv);
    return err_errno(err, errno, "cannot run ssh");
}

/* It has begun, or is about to: ssh will answer in a moment. */
static bool starts(struct cli *cli, int64_t id)
{
    struct remote_call call = {.method = "GET",
                               .path = arena_printf(&cli->arena, "/environments/%lld", (long long)id)};
    yyjson_val *o;
    struct err err = {0};
    if (!remote_json(cli, &call, &o, &err))
        return false;
    const char *state = yyjson_get_str(yyjson_obj_get(o, "state"));
    return state && (strcmp(state, "starting") == 0 || strcmp(state, "running") == 0);
}

static bool find_ssh(struct cli *cli, const struct args *args, yyjson_val **ret, struct err *err)
{
    int64_t id;
    yyjson_val *access;
    struct timespec pause = {.tv_nsec = 500 * 1000 * 1000};
    for (int tries = 0; find(cli, args, &id, &access, err); tries++) {
        *ret = yyjson_obj_get(access, "ssh");
        if (yyjson_is_obj(*ret) || tries == SSH_TRIES || !starts(cli, id))
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

static bool run_ssh(struct cli *cli, const struct args *args, struct err *err)
{
    struct arena *a = &cli->arena;
    yyjson_val *ssh;
    size_t n = 0;
    if (!find_ssh(cli, args, &ssh, err))
        return false;
    if (!yyjson_is_obj(ssh))
        return err_set(err, ERR_CONFLICT, NULL,
                       "%s has no ssh now: it does not run, or is another's (ingot environment get %s)",
                       args->words[1], args->words[1]);
    if (args_has(args, "print")) {
        puts(yyjson_get_str(yyjson_obj_get(ssh, "command")));
        return true;
    }
    const char **argv = arena_array(a, const char *, args->word_count + 16);
    argv[n++] = "ssh";
    argv[n++] = "-o";
    argv[n++] = "StrictHostKeyChecking=yes";
    argv[n++] = "-o";
    argv[n++] = "UserKnownHostsFile=none";
    argv[n++] = "-o";
    argv[n++] = "HostKeyAlias=ingot";
    argv[n++] = "-o";
    argv[n++] = arena_printf(a, "KnownHostsCommand=/bin/echo ingot %s",
                             yyjson_get_str(yyjson_obj_get(ssh, "host_key")));
    argv[n++] = "-p";
    argv[n++] = arena_printf(a, "%lld", (long long)yyjson_get_sint(yyjson_obj_get(ssh, "port")));
    argv[n++] = arena_printf(a, "%s@%s", yyjson_get_str(yyjson_obj_get(ssh, "user")),
                             yyjson_get_str(yyjson_obj_get(ssh, "host")));
    for (size_t i = 2; i < args->word_count; i++)
        argv[n++] = args->words[i];
    return become_ssh(cli, argv, yyjson_get_str(yyjson_obj_get(ssh, "password")), err);
}

/* --- open --- */

static bool run_open(struct cli *cli, const struct args *args, struct err *err)
{
    const char *wanted = args_value(args, "tool") ? args_value(args, "tool") : "jupyter";
    int64_t id;
    yyjson_val *access, *tool;
    size_t i, max;
    if (!find(cli, args, &id, &access, err))
        return false;
    yyjson_val *list = yyjson_obj_get(access, "tools");
    yyjson_arr_foreach(list, i, max, tool)
    {
        const char *url = yyjson_get_str(yyjson_obj_get(tool, "url"));
        const char *reason = yyjson_get_str(yyjson_obj_get(tool, "reason"));
        if (strcmp(yyjson_get_str(yyjson_obj_get(tool, "name")), wanted) != 0)
            continue;
        if (!url)
            return err_set(err, ERR_CONFLICT, NULL, "%s: %s", wanted,
                           reason ? reason : "it is starting; try again in a moment");
        puts(url);
        fflush(stdout);
        bool shown = getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
        if (!args_has(args, "print") && shown && isatty(STDOUT_FILENO))
            execlp("xdg-open", "xdg-open", url, (char *)NULL);
        return true;
    }
    return err_set(err, ERR_NOT_FOUND, "tool", "there is no tool \"%s\"", wanted);
}

bool env_run(struct cli *cli, const struct args *args, struct err *err)
{
    static const char usage[] = "ingot env ssh NAME [-- COMMAND...] | open NAME";
    if (!args_count(args, 2, SIZE_MAX, usage, err))
        return false;
    if (strcmp(args->words[0], "ssh") == 0)
        return run_ssh(cli, args, err);
    if (strcmp(args->words[0], "open") == 0)
        return args_count(args, 2, 2, usage, err) && run_open(cli, args, err);
    return err_set(err, ERR_MALFORMED, NULL, "usage: %s", usage);
}
