#include "cli/env.h"

#include "cli/remote.h"
#include "cli/scope.h"
#include "core/environment/environment.h"

#include <errno.h>
#include <time.h>

#define PASSWORD "INGOT_SSH_PASSWORD"
/* Two tries a second, while what runs in it begins. */
#define SSH_TRIES  30
#define TOOL_TRIES 120

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

static bool get(struct cli *cli, const char *path, yyjson_val **ret, struct err *err)
{
    return remote_json(cli, &(struct remote_call){.method = "GET", .path = path}, ret, err);
}

/* --- waiting until one can get in --- */

/* ssh, or the row of a tool; NULL when there is no such tool. */
static yyjson_val *way_in(yyjson_val *access, const char *tool)
{
    yyjson_val *list = yyjson_obj_get(access, "tools"), *t;
    size_t i, max;
    if (!tool)
        return yyjson_obj_get(access, "ssh");
    yyjson_arr_foreach(list, i, max, t)
    {
        if (str_is(json_str(yyjson_obj_get(t, "name")), tool))
            return t;
    }
    return NULL;
}

static bool is_open(yyjson_val *way, const char *tool)
{
    return tool ? yyjson_is_str(yyjson_obj_get(way, "url")) : yyjson_is_obj(way);
}

/* Whether it may become so: the environment is about to run, or has just begun. */
static bool is_coming(yyjson_val *environment, yyjson_val *way, const char *tool, int *tries)
{
    struct str state = json_str(yyjson_obj_get(environment, "state"));
    if (str_is(state, "pending") || str_is(state, "starting"))
        return true;
    bool refused = tool && !str_is(json_str(yyjson_obj_get(way, "state")), "starting");
    return str_is(state, "running") && !refused && ++*tries < (tool ? TOOL_TRIES : SSH_TRIES);
}

static void tell_waiting(const char *name, yyjson_val *environment, char told[static 512])
{
    char text[512];
    struct str reason = json_str(yyjson_obj_get(environment, "reason"));
    snprintf(text, sizeof text, "%s is " STR_FMT "%s" STR_FMT, name,
             STR_ARG(json_str(yyjson_obj_get(environment, "state"))), reason.n ? ": " : "", STR_ARG(reason));
    if (strcmp(text, told) == 0)
        return;
    fprintf(stderr, "%s\n", text);
    memcpy(told, text, sizeof text);
}

/* The way in, which may be shut after all: then the environment does not run, or is another's. */
static bool find_way(struct cli *cli, const struct args *args, const char *tool, yyjson_val **ret,
                     struct err *err)
{
    const struct timespec pause = {.tv_nsec = 500 * 1000 * 1000};
    char told[512] = "";
    int64_t id;
    if (!scope_id(cli, &kind_environment, args, args->words[1], &id, err))
        return false;
    for (int tries = 0;;) {
        yyjson_val *access, *environment;
        const char *path = arena_printf(&cli->arena, "/environments/%lld", (long long)id);
        if (!get(cli, path, &environment, err) ||
            !get(cli, arena_printf(&cli->arena, "%s/access", path), &access, err))
            return false;
        *ret = way_in(access, tool);
        if (!*ret)
            return err_set(err, ERR_NOT_FOUND, "tool", "there is no tool \"%s\"", tool);
        if (is_open(*ret, tool) || !is_coming(environment, *ret, tool, &tries))
            return true;
        tell_waiting(args->words[1], environment, told);
        nanosleep(&pause, NULL);
    }
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

static bool run_ssh(struct cli *cli, const struct args *args, struct err *err)
{
    struct arena *a = &cli->arena;
    yyjson_val *ssh;
    size_t n = 0;
    if (!find_way(cli, args, NULL, &ssh, err))
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
    yyjson_val *tool;
    if (!find_way(cli, args, wanted, &tool, err))
        return false;
    const char *url = yyjson_get_str(yyjson_obj_get(tool, "url")),
               *reason = yyjson_get_str(yyjson_obj_get(tool, "reason"));
    if (!url)
        return err_set(err, ERR_CONFLICT, NULL, "%s: %s", wanted, reason ? reason : "it does not answer");
    puts(url);
    fflush(stdout);
    bool shown = getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
    if (!args_has(args, "print") && shown && isatty(STDOUT_FILENO))
        execlp("xdg-open", "xdg-open", url, (char *)NULL);
    return true;
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
