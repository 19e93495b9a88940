#include "exec/local/own.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/mman.h>

extern const unsigned char shim_program[], shim_program_end[]; /* cmake/shim.cmake */

static bool load_program(struct local *l, struct err *err)
{
    int fd = memfd_create("ingot-shim", MFD_CLOEXEC);
    const char *p = (const char *)shim_program;
    /* cppcheck-suppress comparePointers */
    size_t n = (size_t)(shim_program_end - shim_program);
    if (fd < 0)
        return err_errno(err, errno, "cannot make room for the supervisor's program");
    for (ssize_t w; n > 0; p += w, n -= (size_t)w) {
        w = write(fd, p, n);
        if (w < 0) {
            close(fd);
            return err_errno(err, errno, "cannot copy the supervisor's program");
        }
    }
    l->program = fd;
    return true;
}

/* Between fork and exec: only what is safe there. */
static void become(int program, int cwd, char *const argv[], const int *fds, size_t n)
{
    static char *const env[] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                "LC_ALL=C.UTF-8", NULL};
    int moved[4];
    int exe = fcntl(program, F_DUPFD_CLOEXEC, 16), null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (size_t i = 0; i < n; i++)
        moved[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 16);
    if (exe < 0 || null < 0 || (cwd >= 0 && fchdir(cwd) != 0))
        _exit(127);
    for (int i = 0; i < 3; i++)
        dup2(null, i);
    for (size_t i = 0; i < n; i++)
        dup2(moved[i], 3 + (int)i);
    close_range(3 + (unsigned)n, ~0U, CLOSE_RANGE_CLOEXEC);
    struct sigaction usual = {.sa_handler = SIG_DFL};
    for (int i = 1; i < 32; i++)
        sigaction(i, &usual, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    fexecve(exe, argv, env);
    _exit(127);
}

pid_t spawn_shim(struct local *l, int cwd, char *const argv[], const int *fds, size_t n, struct err *err)
{
    pthread_mutex_lock(&l->lock);
    bool loaded = l->program >= 0 || load_program(l, err);
    pthread_mutex_unlock(&l->lock);
    if (!loaded)
        return -1;
    pid_t pid = fork();
    if (pid == 0)
        become(l->program, cwd, argv, fds, n);
    if (pid < 0)
        err_errno(err, errno, "cannot start a supervisor");
    return pid;
}
