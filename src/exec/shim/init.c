/* Process 1 of the container: starts the command as its only child, hands signals on, reaps what others leave
 * behind and tells the shim how the command ended. Without it a command without handlers would not notice
 * TERM. Arguments: init CWD USER COMMAND... */
#include "exec/shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define REPORT_FD 3

static pid_t child;

struct account {
    unsigned uid, gid;
    char home[256], name[64];
};

/* The line of /etc/passwd or /etc/group whose first or third field is `who`; fields are cut in place. */
static bool find_line(const char *path, const char *who, char *line, size_t cap, char *fields[7])
{
    FILE *f = fopen(path, "re");
    bool found = false;
    while (f && !found && fgets(line, (int)cap, f)) {
        line[strcspn(line, "\n")] = 0;
        char *at = line;
        for (int i = 0; i < 7; i++)
            fields[i] = at ? strsep(&at, ":") : "";
        found = strcmp(fields[0], who) == 0 || strcmp(fields[2], who) == 0;
    }
    if (f)
        fclose(f);
    return found;
}

static bool number_of(const char *text, unsigned *ret)
{
    char *end;
    unsigned long v = strtoul(text, &end, 10);
    if (!*text || *end || v > 65535)
        return false;
    *ret = (unsigned)v;
    return true;
}

static bool find_account(const char *user, struct account *ret)
{
    char name[256], line[1024], *fields[7];
    snprintf(name, sizeof name, "%s", user);
    char *group = strchr(name, ':');
    if (group)
        *group++ = 0;
    *ret = (struct account){.home = "/"};
    if (find_line("/etc/passwd", name, line, sizeof line, fields)) {
        if (!number_of(fields[2], &ret->uid) || !number_of(fields[3], &ret->gid))
            return false;
        snprintf(ret->home, sizeof ret->home, "%s", fields[5]);
        snprintf(ret->name, sizeof ret->name, "%s", fields[0]);
    } else if (!number_of(name, &ret->uid)) {
        return false;
    }
    if (!group || number_of(group, &ret->gid))
        return true;
    return find_line("/etc/group", group, line, sizeof line, fields) && number_of(fields[2], &ret->gid);
}

/* What the command gets beside its environment (shim.h); what that has wins. */
static void take_secrets(void)
{
    char line[8192];
    FILE *f = fopen(SHIM_SECRETS, "re");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        char *value = strchr(line, '=');
        if (!value)
            continue;
        *value++ = 0;
        setenv(line, value, 0);
    }
    if (f)
        fclose(f);
}

static void become(const struct account *a)
{
    take_secrets();
    const char *home = getenv("HOME");
    if (!home || !*home)
        setenv("HOME", a->home, 1);
    if (a->name[0] && !getenv("USER"))
        setenv("USER", a->name, 1);
    if (a->uid == 0 && a->gid == 0)
        return;
    if (setgroups(0, NULL) != 0 || setresgid(a->gid, a->gid, a->gid) != 0 ||
        setresuid(a->uid, a->uid, a->uid) != 0)
        _exit(126);
}

/* The folder it works in is the user's: crun makes it root's when something is mounted below it. A volume
 * keeps its owner. */
static void make_folders(const char *path, const struct account *a)
{
    char part[4096];
    struct stat root, own;
    for (size_t i = 1; path[i - 1] && i < sizeof part; i++) {
        if (path[i] != '/' && path[i] != 0)
            continue;
        memcpy(part, path, i);
        part[i] = 0;
        if (mkdir(part, 0755) == 0 && chown(part, a->uid, a->gid) != 0)
            return;
    }
    if (a->uid == 0 || stat("/", &root) != 0 || stat(path, &own) != 0 || own.st_dev != root.st_dev)
        return;
    if (own.st_uid == 0 && chown(path, a->uid, a->gid) != 0)
        return;
}

static int report(int status, int error, const char *what, const char *text)
{
    struct init_report r = {.status = status, .error = error};
    snprintf(r.text, sizeof r.text, "%s '%.150s'", what, text);
    write_all(REPORT_FD, &r, sizeof r);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void start(char **argv, const struct account *a, int failed)
{
    sigset_t none;
    sigemptyset(&none);
    become(a);
    setsid();
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(argv[0], argv);
    int error = errno;
    write_all(failed, &error, sizeof error);
    _exit(error == ENOENT ? 127 : 126);
}

/* Whether it was a stop. */
static bool hand_on(int number)
{
    /* A stop is for all; other signals are for the command. */
    if (number == SIGTERM)
        kill(-1, number);
    else if (number != SIGCHLD)
        kill(child, number);
    return number == SIGTERM;
}

/* Until the command has ended. One that is stopped is often a shell, which ends at once, while what it
 * started uses the time that it is given: then until nothing of it is left (the supervisor kills what takes
 * too long). */
static int supervise(void)
{
    sigset_t all;
    bool stopped = false, ended = false;
    int result = 0;
    sigfillset(&all);
    for (;;) {
        int status;
        pid_t pid;
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
            if (pid != child)
                continue;
            ended = true;
            result = status;
        }
        bool alone = pid < 0 && errno == ECHILD;
        if (ended && (alone || !stopped))
            return result;
        siginfo_t info;
        if (sigwaitinfo(&all, &info) > 0 && hand_on(info.si_signo))
            stopped = true;
    }
}

int shim_init(int argc, char **argv)
{
    if (argc < 4)
        return 125;
    const char *cwd = argv[1], *user = argv[2];
    char **command = argv + 3;
    int failed[2], error = 0;
    struct account a;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    fcntl(REPORT_FD, F_SETFD, FD_CLOEXEC);
    if (!find_account(user, &a))
        return report(125 << 8, ENOENT, "there is no user", user);
    make_folders(cwd, &a);
    if (chdir(cwd) != 0)
        return report(125 << 8, errno, "cannot enter", cwd);
    if (pipe2(failed, O_CLOEXEC) != 0 || (child = fork()) < 0)
        return report(125 << 8, errno, "cannot start", command[0]);
    if (child == 0)
        start(command, &a, failed[1]);
    close(failed[1]);
    if (read(failed[0], &error, sizeof error) == sizeof error)
        return report((error == ENOENT ? 127 : 126) << 8, error, "cannot run", command[0]);
    close(failed[0]);
    return report(supervise(), 0, "", "");
}

/* A further command in the container: enter CWD USER COMMAND... */
int shim_enter(int argc, char **argv)
{
    struct account a;
    if (argc < 4)
        return 125;
    if (!find_account(argv[2], &a)) {
        fprintf(stderr, "there is no user '%s'\n", argv[2]);
        return 125;
    }
    if (chdir(argv[1]) != 0) {
        fprintf(stderr, "cannot enter '%s': %s\n", argv[1], strerror(errno));
        return 125;
    }
    become(&a);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); /* crun forgets it here */
    execvp(argv[3], argv + 3);
    fprintf(stderr, "cannot run '%s': %s\n", argv[3], strerror(errno));
    return errno == ENOENT ? 127 : 126;
}
