#include "exec/shim/shim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

char fail_reason[256];
int job_dir = -1;

bool fail(const char *fmt, ...)
{
    if (fail_reason[0])
        return false;
    va_list args;
    va_start(args, fmt);
    vsnprintf(fail_reason, sizeof fail_reason, fmt, args);
    va_end(args);
    return false;
}

bool fail_errno(const char *fmt, ...)
{
    int saved = errno;
    if (fail_reason[0])
        return false;
    va_list args;
    va_start(args, fmt);
    vsnprintf(fail_reason, sizeof fail_reason, fmt, args);
    va_end(args);
    size_t n = strlen(fail_reason);
    snprintf(fail_reason + n, sizeof fail_reason - n, ": %s", strerror(saved));
    return false;
}

int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

bool write_all(int fd, const void *p, size_t n)
{
    const char *at = p;
    while (n > 0) {
        ssize_t w = write(fd, at, n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0)
            return false;
        at += w;
        n -= (size_t)w;
    }
    return true;
}

bool remove_tree(int parent, const char *name)
{
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
        return true;
    if (errno != EISDIR)
        return false;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    bool ok = d != NULL;
    for (struct dirent *e; ok && (e = readdir(d));)
        ok = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || remove_tree(fd, e->d_name);
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
    return ok && unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

bool write_text(const char *name, bool sync, const char *fmt, ...)
{
    char text[1024], temporary[64];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n >= (int)sizeof text)
        n = sizeof text - 1;
    snprintf(temporary, sizeof temporary, "%s.new", name);
    int fd = openat(job_dir, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write_all(fd, text, (size_t)n) && (!sync || fsync(fd) == 0);
    if (fd >= 0)
        close(fd);
    ok = ok && renameat(job_dir, temporary, job_dir, name) == 0;
    if (ok && sync)
        fsync(job_dir);
    return ok || fail_errno("cannot write %s", name);
}

bool plan_read(struct plan *p, const char *path)
{
    int fd = openat(job_dir, path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return fail_errno("cannot open the plan");
    p->n = (size_t)st.st_size;
    p->text = calloc(1, p->n + 2);
    if (!p->text || read(fd, p->text, p->n) != (ssize_t)p->n)
        return fail_errno("cannot read the plan");
    close(fd);
    return true;
}

const char *plan_next(const struct plan *p, const char *key, const char *after)
{
    const char *at = after ? after + strlen(after) + 1 : p->text;
    while (at < p->text + p->n) {
        const char *value = at + strlen(at) + 1;
        if (strcmp(at, key) == 0)
            return value;
        at = value + strlen(value) + 1;
    }
    return NULL;
}

const char *plan_get(const struct plan *p, const char *key)
{
    const char *value = plan_next(p, key, NULL);
    return value ? value : "";
}

int64_t plan_int(const struct plan *p, const char *key)
{
    return strtoll(plan_get(p, key), NULL, 10);
}

pid_t run_child(char *const argv[])
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(argv[0], argv);
    _exit(127);
}

bool run_wait(pid_t pid, const char *what)
{
    int status;
    if (pid < 0)
        return fail_errno("cannot run %s", what);
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return fail_errno("cannot wait for %s", what);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return fail("cannot run %s: is it installed?", what);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return fail("%s failed (status %d)", what, status);
    return true;
}
