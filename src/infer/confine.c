#include "infer/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
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

static bool filter(struct err *err)
{
    struct sock_filter program[2 * countof(forbidden) + 32];
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
    for (size_t i = 0; i < countof(forbidden); i++) {
        program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)forbidden[i], 0, 1);
        program[n++] = (struct sock_filter)REFUSE(EPERM);
    }
    program[n++] = (struct sock_filter)ALLOW;
    struct sock_fprog p = {(unsigned short)n, program};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p) == 0 ||
           err_errno(err, errno, "the program cannot confine itself");
}

/* No rule follows: what is handled is refused everywhere. Files that are open stay so. */
static void no_writing(void)
{
    struct landlock_ruleset_attr all = {
        .handled_access_fs =
            LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
            LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
            LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
            LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM};
    auto_fd int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0);
    if (rules >= 0)
        syscall(SYS_landlock_restrict_self, rules, 0);
}

bool confine_self(struct err *err)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return err_errno(err, errno, "the program cannot confine itself");
    no_writing();
    return filter(err);
}
