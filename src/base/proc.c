#include "base/proc.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

static bool is_among(const char *variable, const char *const *env)
{
    const size_t name = strcspn(variable, "=") + 1;
    while (*env && strncmp(*env, variable, name) != 0)
        env++;
    return *env != NULL;
}

/* The environment with those in place of their namesakes; to be freed. */
static char **environment(const char *const *more)
{
    size_t n = 0, given = 0, all = 0;
    while (environ[all])
        all++;
    while (more[given])
        given++;
    char **out = base_zalloc((all + given + 1) * sizeof *out);
    for (size_t i = 0; i < all; i++)
        if (!is_among(environ[i], more))
            out[n++] = environ[i];
    memcpy(out + n, more, given * sizeof *more);
    return out;
}

/* in: -1 for /dev/null. group: the child leads a process group of its own. more: of the environment, or NULL.
 */
static int spawn(char *const argv[], const char *const *more, int in, int out, int error, bool group,
                 pid_t *ret)
{
    auto_free char **env = more ? environment(more) : NULL;
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t at;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&fa);
    if (in >= 0)
        posix_spawn_file_actions_adddup2(&fa, in, 0);
    else
        posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&fa, out, 1);
    posix_spawn_file_actions_adddup2(&fa, error, 2);
    posix_spawnattr_init(&at);
    posix_spawnattr_setsigmask(&at, &none);
    posix_spawnattr_setsigdefault(&at, &all);
    posix_spawnattr_setflags(
        &at, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (group ? POSIX_SPAWN_SETPGROUP : 0)));
    int rc = posix_spawnp(ret, argv[0], &fa, &at, argv, env ? env : environ);
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

static bool wait_for(pid_t pid, const char *name, int *ret_status, struct err *err)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_errno(err, errno, "waiting for %s", name);
    *ret_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}

bool proc_run(struct arena *a, char *const argv[], size_t max, int *ret_status, struct str *ret_output,
              struct err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_errno(err, errno, "running %s", argv[0]);
    auto_fd int in = ends[0];
    pid_t pid;
    int rc = spawn(argv, NULL, -1, ends[1], ends[1], false, &pid);
    close(ends[1]);
    if (rc)
        return err_errno(err, rc, "running %s", argv[0]);
    auto_fd int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    auto_buf struct buf b = {0};
    fcntl(in, F_SETFL, O_NONBLOCK);
    collect(in, pidfd, max, &b);
    if (!wait_for(pid, argv[0], ret_status, err))
        return false;
    if (ret_output)
        *ret_output = arena_str(a, (struct str){b.p ? b.p : "", b.n});
    return true;
}

/* --- following --- */

#define LOOK_MS 200

/* Whole lines of what came; what exceeds a line's limit is dropped. */
static void take_lines(const struct proc_follow *f, struct buf *b)
{
    size_t done = 0;
    for (char *end; b->n > done && (end = memchr(b->p + done, '\n', b->n - done));) {
        f->line(f->ctx, (struct str){b->p + done, (size_t)(end - b->p) - done});
        done = (size_t)(end - b->p) + 1;
    }
    if (!done && b->n >= PROC_LINE_MAX)
        done = b->n;
    if (done)
        memmove(b->p, b->p + done, b->n - done);
    b->n -= done;
}

static bool follow(const struct proc_follow *f, int fd, int pidfd, struct err *err)
{
    auto_buf struct buf b = {0};
    struct pollfd p[2] = {{.fd = fd, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};
    for (;;) {
        poll(p, 2, LOOK_MS);
        bool ended = p[1].revents != 0;
        bool more = drain(fd, PROC_LINE_MAX, &b);
        take_lines(f, &b);
        if (ended)
            return true;
        if (!more)
            p[0].fd = -1;
        if (!f->go_on(f->ctx, err))
            return false;
    }
}

bool proc_follow(const struct proc_follow *f, int *ret_status, struct err *err)
{
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) < 0)
        return err_errno(err, errno, "running %s", f->argv[0]);
    auto_fd int hold = in[1]; /* the program's input stays open as long as it is followed */
    (void)hold;
    if (pipe2(out, O_CLOEXEC) < 0) {
        close(in[0]);
        return err_errno(err, errno, "running %s", f->argv[0]);
    }
    auto_fd int from = out[0];
    pid_t pid;
    int rc = spawn(f->argv, f->env, in[0], out[1], f->log, true, &pid);
    close(in[0]);
    close(out[1]);
    if (rc)
        return err_errno(err, rc, "running %s", f->argv[0]);
    auto_fd int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    fcntl(from, F_SETFL, O_NONBLOCK);
    bool ok = follow(f, from, pidfd, err);
    kill(-pid, SIGKILL); /* what it left running too */
    return wait_for(pid, f->argv[0], ret_status, ok ? err : &(struct err){0}) && ok;
}

const char *proc_beside(struct arena *a, const char *installed, const char *built)
{
    char self[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return NULL;
    self[n] = 0;
    *strrchr(self, '/') = 0;
    const char *path = arena_printf(a, "%s/%s", self, installed);
    if (access(path, R_OK) == 0)
        return path;
    path = arena_printf(a, "%s/%s", self, built);
    return access(path, R_OK) == 0 ? path : NULL;
}
