#include "infer/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

/* LeakSanitizer stops the program's threads by tracing them. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TRACED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TRACED 1
#endif
#endif

static const int forbidden[] = {
    SYS_execve,
    SYS_execveat,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_setns,
    SYS_unshare,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_unlinkat,
    SYS_mkdirat,
    SYS_renameat2,
    SYS_linkat,
    SYS_symlinkat,
    SYS_mknodat,
    SYS_fchmodat,
    SYS_fchownat,
    SYS_open_by_handle_at,
#ifdef SYS_open
    SYS_creat,
    SYS_unlink,
    SYS_rename,
    SYS_mkdir,
    SYS_rmdir,
    SYS_link,
    SYS_symlink,
    SYS_mknod,
    SYS_chmod,
    SYS_chown,
#endif
#ifndef TRACED
    SYS_ptrace,
#endif
};

#define ACCESS_WRITE (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)
#define LOAD(field)  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define REFUSE(code) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (code))
#define ALLOW        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
/* An open whose flags, the low half of argument n, ask for writing. */
#define OPEN_RULE(call, n)                                                                                   \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 3), LOAD(args[n]),                                        \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, ACCESS_WRITE, 0, 1), REFUSE(EACCES), LOAD(nr)

/* Of a program that answers nobody. */
static const int networking[] = {SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen};

static size_t refuse(struct sock_filter *program, size_t n, const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
        program[n++] = (struct sock_filter)REFUSE(EPERM);
    }
    return n;
}

static bool filter(bool offline, struct err *err)
{
    struct sock_filter program[2 * (countof(forbidden) + countof(networking)) + 32];
    size_t n = 0;
    const struct sock_filter head[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
#ifdef SYS_open
        OPEN_RULE(SYS_open, 1),
#endif
        OPEN_RULE(SYS_openat, 2),
    };
    memcpy(program, head, sizeof head);
    n = countof(head);
    n = refuse(program, n, forbidden, countof(forbidden));
    if (offline)
        n = refuse(program, n, networking, countof(networking));
    program[n++] = (struct sock_filter)ALLOW;
    struct sock_fprog p = {(unsigned short)n, program};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p) == 0 ||
           err_errno(err, errno, "the program cannot confine itself");
}

#define READING (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

/* What programs need to run: libraries, what the kernel says of the machine. */
static const char *const of_system[] = {"/usr",  "/lib", "/lib64", "/etc/ld.so.cache",
                                        "/proc", "/sys", "/dev"};

static void allow(int rules, const char *path)
{
    struct stat st;
    auto_fd int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0)
        return;
    struct landlock_path_beneath_attr rule = {
        .allowed_access = S_ISDIR(st.st_mode) ? READING : LANDLOCK_ACCESS_FS_READ_FILE, .parent_fd = fd};
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

/* What is handled is refused everywhere but where a rule allows it. Files that are open stay so. */
static void restrict_files(const struct confine_more *more)
{
    struct landlock_ruleset_attr all = {
        .handled_access_fs =
            LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
            LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
            LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
            LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM | (more ? READING : 0)};
    auto_fd int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0);
    if (rules < 0)
        return;
    for (size_t i = 0; more && i < countof(of_system); i++)
        allow(rules, of_system[i]);
    for (size_t i = 0; more && i < more->n_read; i++)
        allow(rules, more->read[i]);
    syscall(SYS_landlock_restrict_self, rules, 0);
}

bool confine_self(const struct confine_more *more, struct err *err)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return err_errno(err, errno, "the program cannot confine itself");
    restrict_files(more);
    return filter(more && more->offline, err);
}
