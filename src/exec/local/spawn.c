#include "exec/local/own.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

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

static int open_crun(struct stat *ret)
{
    static const char *const folders[] = {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
                                          "/usr/bin",        "/sbin",          "/bin"};
    for (size_t i = 0; i < countof(folders); i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/crun", folders[i]);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && fstat(fd, ret) == 0 && S_ISREG(ret->st_mode) && ret->st_mode & S_IXUSR)
            return fd;
        base_close_fd(&fd);
    }
    return -1;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Under the lock. */
static bool load_crun(struct local *l, struct err *err)
{
    struct stat st;
    auto_fd int from = open_crun(&st);
    if (from < 0)
        return err_set(err, ERR_UNAVAILABLE, NULL, "crun is not installed");
    if (l->crun >= 0 && is_same(&st, &l->crun_stat))
        return true;
    int fd = memfd_create("crun", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    off_t at = 0;
    while (fd >= 0 && at < st.st_size && sendfile(fd, from, &at, (size_t)(st.st_size - at)) > 0) {
    }
    if (fd < 0 || at != st.st_size || fcntl(fd, F_ADD_SEALS, SEALS) != 0) {
        int why = errno;
        base_close_fd(&fd);
        return err_errno(err, why, "cannot copy crun's program");
    }
    base_close_fd(&l->crun);
    l->crun = fd;
    l->crun_stat = st;
    return true;
}

int spawn_crun(struct local *l, struct err *err)
{
    pthread_mutex_lock(&l->lock);
    int fd = load_crun(l, err) ? fcntl(l->crun, F_DUPFD_CLOEXEC, 3) : -1;
    if (fd < 0 && l->crun >= 0)
        err_errno(err, errno, "cannot open crun's program");
    pthread_mutex_unlock(&l->lock);
    return fd;
}

/* Descriptors above those that a child is given: moving one must not run over another. */
#define ABOVE 16

static int run(int program, int cwd, char *const argv[], const int *fds, size_t n, pid_t *ret)
{
    static char *const env[] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                "LC_ALL=C.UTF-8", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t how;
    sigset_t all, none;
    char path[32];
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigdefault(&how, &all);
    posix_spawnattr_setsigmask(&how, &none);
    if (cwd >= 0)
        posix_spawn_file_actions_addfchdir_np(&actions, cwd);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&actions, 0, 1);
    posix_spawn_file_actions_adddup2(&actions, 0, 2);
    for (size_t i = 0; i < n; i++)
        posix_spawn_file_actions_adddup2(&actions, fds[i], 3 + (int)i);
    posix_spawn_file_actions_adddup2(&actions, program, 3 + (int)n);
    posix_spawn_file_actions_addclosefrom_np(&actions, 4 + (int)n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", 3 + (int)n);
    int failed = posix_spawn(ret, path, &actions, &how, argv, env);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

pid_t spawn_shim(struct local *l, int cwd, char *const argv[], const int *fds, size_t n, struct err *err)
{
    pthread_mutex_lock(&l->lock);
    bool loaded = l->program >= 0 || load_program(l, err);
    pthread_mutex_unlock(&l->lock);
    if (!loaded)
        return -1;
    int moved[SPAWN_FDS] = {0}, failed = n > SPAWN_FDS ? EINVAL : 0;
    size_t have = 0;
    auto_fd int program = fcntl(l->program, F_DUPFD_CLOEXEC, ABOVE);
    auto_fd int folder = cwd >= 0 ? fcntl(cwd, F_DUPFD_CLOEXEC, ABOVE) : -1;
    if (program < 0 || (cwd >= 0 && folder < 0))
        failed = errno;
    for (; !failed && have < n; have++) {
        moved[have] = fcntl(fds[have], F_DUPFD_CLOEXEC, ABOVE);
        if (moved[have] < 0)
            failed = errno;
    }
    pid_t pid = -1;
    if (!failed)
        failed = run(program, folder, argv, moved, n, &pid);
    for (size_t i = 0; i < have; i++)
        base_close_fd(&moved[i]);
    if (failed)
        err_errno(err, failed, "cannot start a supervisor");
    return failed ? -1 : pid;
}
