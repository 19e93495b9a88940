#include "base/fs.h"
#include "exec/local/own.h"
#include "exec/shim/shim.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

struct attached {
    pthread_mutex_t lock; /* held while the helper is reaped or signalled */
    pid_t helper;         /* 0 once it was reaped */
    int code;
    bool tty;
};

/* What /proc has of a running container. */
static const struct part {
    const char *name;
    bool of_init; /* of its first process; else of its supervisor */
    int flags;
} part_mounts = {"ns/mnt", false, O_RDONLY}, part_network = {"ns/net", true, O_RDONLY},
  part_root = {"root", true, O_PATH | O_DIRECTORY};

static bool find_running(struct local *l, struct exec_id id, struct container *ret, struct err *err)
{
    char name[EXEC_ID_MAX];
    exec_id_format(id, name);
    pthread_mutex_lock(&l->lock);
    struct container *c = container_find(l, id);
    if (c)
        *ret = *c;
    pthread_mutex_unlock(&l->lock);
    if (!c)
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no container %s", name);
    return ret->status.state == EXEC_RUNNING ||
           err_set(err, ERR_UNAVAILABLE, NULL, "container %s is not running", name);
}

/* Opens it; -1 when the container is not running. A number that was given to another process in between does
 * not lead there: the folder in /proc stays that of one process, and the first process is known by its
 * network. */
static int open_part(struct exec *x, struct exec_id id, const struct part *p, struct err *err)
{
    struct local *l = local_of(x);
    char name[EXEC_ID_MAX], path[64];
    struct stat st;
    struct container copy;
    exec_id_format(id, name);
    if (!find_running(l, id, &copy, err))
        return -1;
    snprintf(path, sizeof path, "/proc/%d", (int)(p->of_init ? copy.init : copy.shim));
    auto_fd int process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = process < 0 ? -1 : openat(process, p->name, p->flags | O_CLOEXEC);
    if (fd >= 0 && container_alive(l, name) &&
        (!p->of_init || (fstatat(process, "ns/net", &st, 0) == 0 && st.st_ino == copy.netns)))
        return fd;
    base_close_fd(&fd);
    err_set(err, ERR_UNAVAILABLE, NULL, "container %s is not running", name);
    return -1;
}

union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static int receive_fd(int sock)
{
    char byte;
    union control c;
    struct iovec iov = {&byte, 1};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c};
    ssize_t n;
    while ((n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
    }
    struct cmsghdr *h = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    int fd = -1;
    if (h && h->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(h), sizeof fd);
    return fd;
}

/* attach STAGE ID TTY ROWS COLS CWD USER N ENV... COMMAND... (src/exec/shim/attach.c) */
static char **arguments(struct local *l, const char *name, const struct exec_attach_spec *spec,
                        struct str plan, struct arena *a)
{
    size_t n = 0, count = 0, at = 0;
    const char *v;
    while (container_plan_next(plan, "env", &at))
        count++;
    char **list = arena_array(a, char *, count + spec->n_env + spec->n_argv + 16);
    size_t cwd_at = 0, user_at = 0;
    const char *cwd = spec->cwd ? spec->cwd : container_plan_next(plan, "cwd", &cwd_at);
    const char *user = spec->user ? spec->user : container_plan_next(plan, "user", &user_at);
    list[n++] = "ingot-shim";
    list[n++] = "attach";
    list[n++] = l->stage;
    list[n++] = arena_strdup(a, name);
    list[n++] = spec->tty ? "1" : "0";
    list[n++] = arena_printf(a, "%u", spec->rows ? spec->rows : 24);
    list[n++] = arena_printf(a, "%u", spec->cols ? spec->cols : 80);
    list[n++] = arena_strdup(a, cwd ? cwd : "/");
    list[n++] = arena_strdup(a, user ? user : "0");
    list[n++] = arena_printf(a, "%zu", count + spec->n_env);
    for (at = 0; (v = container_plan_next(plan, "env", &at));)
        list[n++] = arena_strdup(a, v);
    for (size_t i = 0; i < spec->n_env; i++)
        list[n++] = arena_strdup(a, spec->env[i]);
    for (size_t i = 0; i < spec->n_argv; i++)
        list[n++] = arena_strdup(a, spec->argv[i]);
    return list;
}

static bool check_spec(const struct exec_attach_spec *spec, struct err *err)
{
    if (spec->n_argv == 0 || !spec->argv[0][0] || spec->n_argv > 1000 || spec->n_env > 1000)
        return err_set(err, ERR_INVALID, "argv", "a command of 1 to 1000 words is required");
    if (spec->rows > 1000 || spec->cols > 1000)
        return err_set(err, ERR_INVALID, "rows", "a terminal has at most 1000 rows and columns");
    return true;
}

static int reap(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool attach_start(struct exec *x, struct exec_id id, const struct exec_attach_spec *spec,
                  struct exec_attach *ret, struct err *err)
{
    struct local *l = local_of(x);
    auto_arena struct arena a;
    arena_init(&a);
    char name[EXEC_ID_MAX];
    exec_id_format(id, name);
    if (!check_spec(spec, err))
        return false;
    auto_fd int mounts = open_part(x, id, &part_mounts, err);
    struct str plan = mounts < 0 ? STR_NULL : container_plan(l, &a, name, err);
    if (!plan.p)
        return false;
    auto_fd int crun = spawn_crun(l, err);
    if (crun < 0)
        return false;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return err_errno(err, errno, "cannot make a socket");
    const int fds[] = {pair[1], mounts, crun};
    pid_t pid = spawn_shim(l, -1, arguments(l, name, spec, plan, &a), fds, countof(fds), err);
    close(pair[1]);
    int fd = pair[0];
    if (pid > 0 && spec->tty) {
        fd = receive_fd(pair[0]);
        close(pair[0]);
        if (fd < 0)
            return err_set(err, ERR_UNAVAILABLE, NULL, "container %s gave no terminal (code %d)", name,
                           reap(pid));
    }
    if (pid < 0) {
        close(fd);
        return false;
    }
    fcntl(fd, F_SETFL, O_NONBLOCK);
    struct attached *own = base_zalloc(sizeof *own);
    *own = (struct attached){.helper = pid, .tty = spec->tty};
    pthread_mutex_init(&own->lock, NULL);
    *ret = (struct exec_attach){.fd = fd, .own = own};
    return true;
}

bool attach_resize(struct exec_attach *at, unsigned rows, unsigned cols, struct err *err)
{
    struct attached *own = at->own;
    struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
    if (rows < 1 || rows > 1000 || cols < 1 || cols > 1000)
        return err_set(err, ERR_INVALID, "rows", "a terminal has 1 to 1000 rows and columns");
    if (own->tty && ioctl(at->fd, TIOCSWINSZ, &size) != 0)
        return err_errno(err, errno, "cannot resize the terminal");
    return true;
}

/* Its number is its own until it is reaped: until then attach_stop may signal it. */
static void wait_helper(struct attached *own)
{
    siginfo_t info;
    if (!own->helper)
        return;
    while (waitid(P_PID, (id_t)own->helper, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
    pthread_mutex_lock(&own->lock);
    own->code = reap(own->helper);
    own->helper = 0;
    pthread_mutex_unlock(&own->lock);
}

bool attach_wait(struct exec_attach *at, int *ret_code, struct err *err)
{
    (void)err;
    struct attached *own = at->own;
    wait_helper(own);
    *ret_code = own->code;
    return true;
}

void attach_stop(struct exec_attach *at)
{
    struct attached *own = at->own;
    pthread_mutex_lock(&own->lock);
    if (own->helper)
        kill(own->helper, SIGTERM);
    pthread_mutex_unlock(&own->lock);
}

void attach_close(struct exec_attach *at)
{
    struct attached *own = at->own;
    if (!own)
        return;
    base_close_fd(&at->fd);
    attach_stop(at);
    wait_helper(own);
    pthread_mutex_destroy(&own->lock);
    free(own);
    *at = (struct exec_attach){.fd = -1};
}

/* The end of a connect that was begun: 0 when it is there or still under way. */
static int connect_error(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int error = 0;
    socklen_t n = sizeof error;
    if (poll(&p, 1, 0) == 1 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) != 0)
        error = errno;
    return error;
}

/* Without waiting: the loopback answers at once, but for a program that listens and does not accept, which
 * must not block the caller's thread. */
static int connect_here(const struct sockaddr *to, socklen_t n)
{
    int fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, to, n) == 0)
        return fd;
    int error = errno == EINPROGRESS ? connect_error(fd) : errno;
    if (!error)
        return fd;
    close(fd);
    errno = error;
    return -1;
}

int attach_connect(struct exec *x, struct exec_id id, uint16_t port, struct err *err)
{
    auto_fd int there = open_part(x, id, &part_network, err);
    if (there < 0)
        return -1;
    struct sockaddr_in four = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 six = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    auto_fd int here = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (here < 0 || setns(there, CLONE_NEWNET) != 0) {
        err_errno(err, errno, "cannot enter the container's network");
        return -1;
    }
    int fd = connect_here((struct sockaddr *)&four, sizeof four);
    int saved = errno;
    if (fd < 0)
        fd = connect_here((struct sockaddr *)&six, sizeof six);
    if (setns(here, CLONE_NEWNET) != 0)
        abort(); /* this thread would go on in the container's network */
    if (fd < 0)
        err_set(err, ERR_UNAVAILABLE, NULL, "nothing answers on port %u: %s", port, strerror(saved));
    return fd;
}

/* The supervisor's own socket; its number is not another process's as long as it holds the container's pipe.
 */
int attach_listen(struct exec *x, struct exec_id id, struct err *err)
{
    struct local *l = local_of(x);
    struct container copy;
    int listens = 0;
    socklen_t n = sizeof listens;
    if (!find_running(l, id, &copy, err))
        return -1;
    auto_fd int shim = pidfd_open(copy.shim, 0);
    int fd = shim < 0 || !container_alive(l, copy.name) ? -1 : pidfd_getfd(shim, SHIM_LISTEN_FD, 0);
    if (fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &n) == 0 && listens)
        return fd;
    base_close_fd(&fd);
    err_set(err, ERR_UNAVAILABLE, NULL, "container %s does not listen for the platform", copy.name);
    return -1;
}

int attach_folder(struct exec *x, struct exec_id id, const char *path, struct err *err)
{
    auto_fd int root = open_part(x, id, &part_root, err);
    while (*path == '/')
        path++;
    return root < 0 ? -1 : fs_open_beneath(root, *path ? path : ".", O_RDONLY | O_DIRECTORY, 0, err);
}
