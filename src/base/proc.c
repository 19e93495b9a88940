#include "base/proc.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

static int spawn(char *const argv[], int out, pid_t *ret)
{
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t at;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&fa, out, 1);
    posix_spawn_file_actions_adddup2(&fa, out, 2);
    posix_spawnattr_init(&at);
    posix_spawnattr_setsigmask(&at, &none);
    posix_spawnattr_setsigdefault(&at, &all);
    posix_spawnattr_setflags(&at, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int rc = posix_spawnp(ret, argv[0], &fa, &at, argv, environ);
    posix_spawnattr_destroy(&at);
    posix_spawn_file_actions_destroy(&fa);
    return rc;
}

/* Takes what can be read now; false at the end. Beyond max it is read and dropped. */
static bool drain(int fd, size_t max, struct buf *b)
{
    char chunk[4096];
    for (;;) {
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno == EAGAIN;
        if (got == 0)
            return false;
        size_t room = max - b->n;
        buf_add(b, chunk, (size_t)got < room ? (size_t)got : room);
    }
}

/* Reads until the stream ends or the child does: what it left running may hold the stream for ever. */
static void collect(int fd, int pidfd, size_t max, struct buf *b)
{
    struct pollfd p[2] = {{.fd = fd, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};
    for (;;) {
        if (poll(p, 2, -1) < 0 && errno != EINTR)
            return;
        bool ended = p[1].revents != 0;
        if (!drain(fd, max, b) || ended)
            return;
    }
}

bool proc_run(struct arena *a, char *const argv[], size_t max, int *ret_status, struct str *ret_output,
              struct err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_errno(err, errno, "running %s", argv[0]);
    auto_fd int in = ends[0];
    pid_t pid;
    int rc = spawn(argv, ends[1], &pid);
    close(ends[1]);
    if (rc)
        return err_errno(err, rc, "running %s", argv[0]);
    auto_fd int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    auto_buf struct buf b = {0};
    fcntl(in, F_SETFL, O_NONBLOCK);
    collect(in, pidfd, max, &b);
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_errno(err, errno, "waiting for %s", argv[0]);
    *ret_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (ret_output)
        *ret_output = arena_str(a, (struct str){b.p ? b.p : "", b.n});
    return true;
}
