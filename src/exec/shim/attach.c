/* A command inside a running container, for terminals. Started by the server with descriptor 3, a socket to
 * it (the terminal is sent over it; without a terminal it is the command's input and output), 4, the mount
 * namespace of the container's shim, and 5, crun's program. Arguments: attach STAGE ID TTY ROWS COLS CWD
 * USER N ENV... COMMAND... */
#include "exec/shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define SERVER_FD 3
#define MOUNTS_FD 4
#define CRUN_FD   5

enum { STAGE = 1, ID, TTY, ROWS, COLS, CWD, USER, ENV };

static char pid_name[32], socket_name[32];

static int listen_console(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%s", socket_name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(fd, 1) != 0)
        return -1;
    return fd;
}

union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static int receive_fd(int sock)
{
    char text[4096];
    union control c;
    struct iovec iov = {text, sizeof text};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c};
    if (recvmsg(sock, &m, MSG_CMSG_CLOEXEC) < 0)
        return -1;
    struct cmsghdr *h = CMSG_FIRSTHDR(&m);
    int fd = -1;
    if (h && h->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(h), sizeof fd);
    return fd;
}

static bool send_fd(int sock, int fd)
{
    union control c = {0};
    struct iovec iov = {"t", 1};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c};
    struct cmsghdr *h = CMSG_FIRSTHDR(&m);
    h->cmsg_level = SOL_SOCKET;
    h->cmsg_type = SCM_RIGHTS;
    h->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(h), &fd, sizeof fd);
    return sendmsg(sock, &m, MSG_NOSIGNAL) == 1;
}

/* crun --root=state exec [-t --console-socket=X] --pid-file=P -e A ... ID /dev/.ingot-init enter CWD USER
 * COMMAND... */
static pid_t start_crun(int argc, char **argv, bool tty)
{
    char **list = calloc((size_t)argc * 2 + 24, sizeof *list), pid_file[64], console[64];
    int n = 0, n_env = atoi(argv[ENV]);
    snprintf(pid_file, sizeof pid_file, "--pid-file=%s", pid_name);
    snprintf(console, sizeof console, "--console-socket=%s", socket_name);
    if (!list)
        return -1;
    char *const head[] = {"crun", "--root=state", "--cgroup-manager=cgroupfs", "--log=attach.log",
                          "exec", pid_file};
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        list[n++] = head[i];
    if (tty) {
        list[n++] = "-t";
        list[n++] = console;
    }
    for (int i = 0; i < n_env; i++) {
        list[n++] = "-e";
        list[n++] = argv[ENV + 1 + i];
    }
    char *const tail[] = {argv[ID], "/dev/.ingot-init", "enter", argv[CWD], argv[USER]};
    for (size_t i = 0; i < sizeof tail / sizeof tail[0]; i++)
        list[n++] = tail[i];
    for (int i = ENV + 1 + n_env; i < argc; i++)
        list[n++] = argv[i];
    pid_t pid = fork();
    if (pid == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        if (!tty && (dup2(SERVER_FD, 0) < 0 || dup2(SERVER_FD, 1) < 0 || dup2(SERVER_FD, 2) < 0))
            _exit(127);
        fexecve(CRUN_FD, list, environ);
        _exit(127);
    }
    free(list);
    return pid;
}

static void end_inside(int number)
{
    char text[32] = "";
    int fd = open(pid_name, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && read(fd, text, sizeof text - 1) > 0 && atoi(text) > 1)
        kill(atoi(text), number);
    if (fd >= 0)
        close(fd);
}

/* TERM from the server means: end it. */
static int wait_for(pid_t pid)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    bool ending = false;
    for (int status;;) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        struct timespec second = {1, 0};
        int number = sigtimedwait(&set, NULL, &second);
        if (number == SIGTERM && !ending) {
            ending = true;
            end_inside(SIGHUP);
        } else if (ending && number != SIGCHLD) {
            end_inside(SIGKILL);
        }
    }
}

/* crun connects once the terminal is there; when it ends instead, accept must not wait for ever. */
static int accept_console(int console, pid_t pid)
{
    fcntl(console, F_SETFL, O_NONBLOCK);
    for (;;) {
        int fd = accept4(console, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0 || errno != EAGAIN)
            return fd;
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid)
            return -1;
        usleep(1000);
    }
}

int shim_attach(int argc, char **argv)
{
    if (argc < ENV + 2 || ENV + 1 + atoi(argv[ENV]) >= argc)
        return 125;
    bool tty = argv[TTY][0] == '1';
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    setsid();
    if (setns(MOUNTS_FD, CLONE_NEWNS) != 0 || chdir(argv[STAGE]) != 0)
        return 125;
    close(MOUNTS_FD);
    snprintf(pid_name, sizeof pid_name, "attach-%d.pid", (int)getpid());
    snprintf(socket_name, sizeof socket_name, "attach-%d.sock", (int)getpid());
    int console = tty ? listen_console() : -1;
    if (tty && console < 0)
        return 125;
    pid_t pid = start_crun(argc, argv, tty);
    if (tty) {
        int sock = accept_console(console, pid);
        int terminal = sock < 0 ? -1 : receive_fd(sock);
        struct winsize size = {.ws_row = (unsigned short)atoi(argv[ROWS]),
                               .ws_col = (unsigned short)atoi(argv[COLS])};
        if (terminal >= 0 && (ioctl(terminal, TIOCSWINSZ, &size) != 0 || !send_fd(SERVER_FD, terminal)))
            kill(pid, SIGTERM);
        close(terminal);
    }
    close(SERVER_FD);
    int code = wait_for(pid);
    unlink(pid_name);
    unlink(socket_name);
    return code;
}
