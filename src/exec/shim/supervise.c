#include "exec/shim/shim.h"

#include "exec/local/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FLUSH_MS 200 /* an unfinished line is shown after this */

static struct {
    struct plan plan;
    pid_t container;
    int out[2], errors[2], report[2]; /* pipes; [1] is the container's end */
    int signals;
    bool exited;
    int status;
    bool stopping, killed;
    bool over;        /* the command has ended, and init ends all that is left */
    int64_t deadline; /* of the grace, by steady(); 0: none */
    int64_t started_us;
} s = {.container = -1};

/* Microseconds of a clock that is never set. */
static int64_t steady(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static bool make_pipes(void)
{
    int *const pipes[] = {s.out, s.errors, s.report};
    for (size_t i = 0; i < 3; i++) {
        if (pipe2(pipes[i], O_CLOEXEC) != 0)
            return fail_errno("cannot make a pipe");
        fcntl(pipes[i][0], F_SETFL, O_NONBLOCK);
    }
    fcntl(s.out[1], F_SETPIPE_SZ, 256 * 1024);
    return true;
}

/* Its descriptor 3 is init's; everything above is closed by exec. */
static pid_t start_crun(void)
{
    char *argv[] = {"crun",
                    "--root=state",
                    "--cgroup-manager=cgroupfs",
                    "--log=crun.log",
                    "run",
                    "--detach",
                    "--pid-file=pid",
                    "--preserve-fds=1",
                    "--bundle=.",
                    (char *)plan_get(&s.plan, "id"),
                    NULL};
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    int null = open("/dev/null", O_RDONLY);
    int report = fcntl(s.report[1], F_DUPFD_CLOEXEC, 10);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (null < 0 || report < 0 || dup2(null, 0) < 0 || dup2(s.out[1], 1) < 0 || dup2(s.errors[1], 2) < 0 ||
        dup2(report, 3) < 0)
        _exit(127);
    fexecve(SHIM_CRUN_FD, argv, environ);
    _exit(127);
}

/* What crun said last: "2026-... `cannot ...`: text" */
static void crun_reason(void)
{
    char text[4096];
    int fd = open("crun.log", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
        n--;
    text[n > 0 ? n : 0] = 0;
    char *line = strrchr(text, '\n');
    line = line ? line + 1 : text;
    char *words = strstr(line, ": ");
    fail("crun: %s", words ? words + 2 : *line ? line : "ended without a word; is it installed?");
}

static bool start_container(void)
{
    int status = 0;
    pid_t pid = start_crun();
    if (pid < 0)
        return fail_errno("cannot run crun");
    close(s.out[1]);
    close(s.errors[1]);
    close(s.report[1]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0) {
        crun_reason();
        return false;
    }
    char text[32] = "";
    int fd = open("pid", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
        return fail_errno("crun wrote no process number");
    close(fd);
    s.container = (pid_t)strtol(text, NULL, 10);
    s.started_us = now_us();
    return write_text("run", false, "%d %d %lld %llu\n", (int)getpid(), (int)s.container,
                      (long long)s.started_us, (unsigned long long)wire_netns);
}

/* false at the end of the stream */
static bool copy(int stream, int *fd)
{
    static char chunk[128 * 1024];
    ssize_t n = read(*fd, chunk, sizeof chunk);
    if (n > 0) {
        logfile_add(stream, chunk, (size_t)n);
        return true;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    close(*fd);
    *fd = -1;
    return false;
}

static void kill_now(void)
{
    s.killed = true;
    s.deadline = 0;
    if (!s.exited && s.container > 0) {
        kill(s.container, SIGKILL);
        cgroup_unthrottle(plan_get(&s.plan, "cgroup"));
    }
}

/* "T GRACE\n" or "K\n" */
static void command(const char *line)
{
    if (line[0] == 'K') {
        s.stopping = true;
        kill_now();
    } else if (line[0] == 'T' && !s.exited) {
        int64_t grace = line[1] ? strtoll(line + 1, NULL, 10) : -1;
        if (grace < 0)
            grace = plan_int(&s.plan, "grace");
        int64_t deadline = steady() + grace * 1000000;
        if (!s.stopping || deadline < s.deadline)
            s.deadline = deadline;
        s.stopping = true;
        kill(s.container, SIGTERM);
    }
}

static void obey(void)
{
    char text[512];
    ssize_t n = read(SHIM_CTL_FD, text, sizeof text - 1);
    if (n <= 0)
        return;
    text[n] = 0;
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        command(line);
    }
}

/* Everything whose parent has died is our child. */
static void reap(void)
{
    struct signalfd_siginfo info;
    int status;
    pid_t pid;
    while (read(s.signals, &info, sizeof info) > 0) {
    }
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == s.container) {
            s.exited = true;
            s.status = status;
        }
    }
}

static int patience(void)
{
    int64_t ms = -1;
    if (logfile_pending())
        ms = FLUSH_MS;
    if (s.deadline) {
        int64_t left = (s.deadline - steady()) / 1000 + 1;
        left = left < 0 ? 0 : left;
        ms = ms < 0 || left < ms ? left : ms;
    }
    return (int)ms;
}

static void watch(void)
{
    reap(); /* it may have gone already */
    while (!s.exited || s.out[0] >= 0 || s.errors[0] >= 0) {
        struct pollfd p[] = {{.fd = s.out[0], .events = POLLIN},
                             {.fd = s.errors[0], .events = POLLIN},
                             {.fd = s.signals, .events = POLLIN},
                             {.fd = SHIM_CTL_FD, .events = POLLIN},
                             {.fd = s.over ? -1 : s.report[0], .events = POLLIN}};
        int n = poll(p, 5, patience());
        if (n == 0 && logfile_pending())
            logfile_flush(false);
        if (n > 0 && p[0].revents)
            copy(1, &s.out[0]);
        if (n > 0 && p[1].revents)
            copy(2, &s.errors[0]);
        if (n > 0 && p[2].revents)
            reap();
        if (n > 0 && p[3].revents)
            obey();
        if (n > 0 && p[4].revents) {
            s.over = true;
            cgroup_unthrottle(plan_get(&s.plan, "cgroup"));
        }
        if (s.deadline && steady() >= s.deadline)
            kill_now();
    }
    logfile_flush(true);
}

/* How it ended follows what `run` says, and the file gets a second name: no further file is made. A server
 * that runs writes the end to its database before a client learns of it; else it must be on the disk. */
static void write_exit(const char *end, int code, int signal, bool oom, const char *reason)
{
    char text[512];
    bool sync = reuse_is_alone();
    int n = snprintf(text, sizeof text, "%s %d %d %d %lld %lld\n%s\n", end, code, signal, oom,
                     (long long)s.started_us, (long long)now_us(), reason);
    int fd = openat(job_dir, "run", O_WRONLY | O_APPEND | O_CLOEXEC);
    bool ok = fd >= 0 && write_all(fd, text, (size_t)n) && (!sync || fsync(fd) == 0) &&
              linkat(job_dir, "run", job_dir, "exit.new", 0) == 0 &&
              renameat(job_dir, "exit.new", job_dir, "exit") == 0;
    if (fd >= 0)
        close(fd);
    if (!ok)
        write_text("exit", sync, "-\n%s", text);
    else if (sync)
        fsync(job_dir);
}

/* The command failed by itself; these limits make calls fail, and what it makes of that is its own affair. */
static void limits_reached(int code, char *ret, size_t cap)
{
    if (disk_full())
        snprintf(ret, cap, "its disk was full (the limit is %lld MB): ended with exit code %d",
                 (long long)plan_int(&s.plan, "disk") >> 20, code);
    else if (disk_machine_full())
        snprintf(ret, cap, "the machine's disk was full: ended with exit code %d", code);
    else if (cgroup_forks_refused(plan_get(&s.plan, "cgroup")))
        snprintf(ret, cap, "it had as many processes as it may: ended with exit code %d", code);
}

static void describe(void)
{
    struct init_report r = {.status = s.status};
    bool reported = read(s.report[0], &r, sizeof r) == sizeof r;
    bool oom = cgroup_oom(plan_get(&s.plan, "cgroup"));
    int signal = WIFSIGNALED(r.status) ? WTERMSIG(r.status) : 0;
    int code = signal ? 128 + signal : WEXITSTATUS(r.status);
    char reason[256] = "";
    const char *end = signal ? "signal" : "exit";
    if (reported && r.error) {
        end = "no-start";
        snprintf(reason, sizeof reason, "%.200s: %s", r.text, strerror(r.error));
    } else if (s.stopping) {
        end = "stopped";
        snprintf(reason, sizeof reason, s.killed ? "killed" : "stopped");
    } else if (oom && (signal == SIGKILL || code == 137)) {
        end = "oom";
        snprintf(reason, sizeof reason, "out of memory: the limit is %lld MB",
                 (long long)plan_int(&s.plan, "memory") >> 20);
    } else if (signal) {
        snprintf(reason, sizeof reason, "ended by signal %d (%s)", signal, strsignal(signal));
    } else if (oom) {
        snprintf(reason, sizeof reason, "a process inside was ended by the memory limit");
    } else if (code) {
        limits_reached(code, reason, sizeof reason);
    }
    if (reason[0])
        logfile_remark(reason);
    cgroup_remove(plan_get(&s.plan, "cgroup"));
    write_exit(end, code, signal, oom, reason);
}

static bool become_supervisor(void)
{
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigaddset(&child, SIGPIPE);
    sigprocmask(SIG_BLOCK, &child, NULL);
    s.signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    return (s.signals >= 0 && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0) ||
           fail_errno("cannot become the supervisor");
}

static bool prepare(void)
{
    if (!plan_read(&s.plan, "plan"))
        return false;
    logfile_limit(plan_int(&s.plan, "log_limit"));
    return make_pipes() && stage_begin(&s.plan) && wire_build(&s.plan) && stage_build(&s.plan);
}

/* One container, from its plan to its end. */
static bool serve(void)
{
    fcntl(SHIM_CTL_FD, F_SETFL, O_NONBLOCK);
    fchmod(SHIM_CTL_FD, SHIM_BEGUN);
    if (fail_reason[0] || !prepare() || !start_container()) {
        if (s.container > 0)
            kill(s.container, SIGKILL);
        cgroup_kill(plan_get(&s.plan, "cgroup"));
        cgroup_remove(plan_get(&s.plan, "cgroup"));
        logfile_remark(fail_reason);
        write_exit("no-start", -1, 0, false, fail_reason);
        return false;
    }
    watch();
    describe();
    return true;
}

static void forget(void)
{
    int signals = s.signals;
    close(s.report[0]);
    free(s.plan.text);
    logfile_close();
    memset(&s, 0, sizeof s);
    s.container = -1;
    s.signals = signals;
}

int shim_supervise(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    setsid();
    bool isolated = stage_isolate();
    job_dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (isolated)
        become_supervisor();
    do {
        if (!serve())
            return 1;
        if (!reuse_clear(&s.plan))
            return 0;
        forget();
    } while (reuse_next());
    return 0;
}

/* Whether this machine can do all that a container needs; the reason, if not, goes to descriptor 3. */
int shim_probe(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    bool isolated = stage_isolate();
    job_dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (isolated && become_supervisor() && prepare())
        return 0;
    write_all(SHIM_CTL_FD, fail_reason, strlen(fail_reason));
    return 1;
}
