#include "exec/local/seccomp.h"

/* What reaches the kernel's administration, its keys, its tracing, other namespaces, or has a record of being
 * the way out. Those that C libraries try first and can do without answer ENOSYS, the others EPERM. */
static const char *const forbidden[] = {"_sysctl",
                                        "acct",
                                        "add_key",
                                        "bpf",
                                        "clock_adjtime",
                                        "clock_settime",
                                        "create_module",
                                        "delete_module",
                                        "fanotify_init",
                                        "finit_module",
                                        "fsconfig",
                                        "fsmount",
                                        "fsopen",
                                        "fspick",
                                        "get_kernel_syms",
                                        "init_module",
                                        "io_uring_enter",
                                        "io_uring_setup",
                                        "io_uring_register",
                                        "ioperm",
                                        "iopl",
                                        "kcmp",
                                        "kexec_file_load",
                                        "kexec_load",
                                        "keyctl",
                                        "lookup_dcookie",
                                        "mount",
                                        "mount_setattr",
                                        "move_mount",
                                        "move_pages",
                                        "nfsservctl",
                                        "open_by_handle_at",
                                        "open_tree",
                                        "perf_event_open",
                                        "pivot_root",
                                        "process_madvise",
                                        "process_vm_readv",
                                        "process_vm_writev",
                                        "query_module",
                                        "quotactl",
                                        "quotactl_fd",
                                        "reboot",
                                        "request_key",
                                        "setdomainname",
                                        "sethostname",
                                        "setns",
                                        "settimeofday",
                                        "stime",
                                        "swapoff",
                                        "swapon",
                                        "sysfs",
                                        "syslog",
                                        "umount",
                                        "umount2",
                                        "unshare",
                                        "userfaultfd",
                                        "uselib",
                                        "ustat",
                                        "vhangup",
                                        "vm86",
                                        "vm86old"};

static void rule(struct json_out *o, const char *const *names, size_t n, int error, struct str args)
{
    json_object(o);
    json_key(o, "names");
    json_array(o);
    for (size_t i = 0; i < n; i++)
        json_z(o, names[i]);
    json_array_end(o);
    json_kz(o, "action", "SCMP_ACT_ERRNO");
    json_kint(o, "errnoRet", error);
    if (args.p) {
        json_key(o, "args");
        json_raw(o, args);
    }
    json_object_end(o);
}

void seccomp_write(struct json_out *o)
{
    static const char *const clone3[] = {"clone3"}, *const clone[] = {"clone"}, *const control[] = {"ioctl"},
                             *const sockets[] = {"socket"};
    json_object(o);
    json_kz(o, "defaultAction", "SCMP_ACT_ALLOW");
    json_key(o, "syscalls");
    json_array(o);
    rule(o, forbidden, countof(forbidden), 1, STR_NULL);
    /* clone3 hides its flags in memory, where a filter cannot look; libraries then use clone. */
    rule(o, clone3, 1, 38, STR_NULL);
    /* One rule per flag: NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
    static const unsigned flags[] = {0x20000,    0x2000000,  0x4000000, 0x8000000,
                                     0x10000000, 0x20000000, 0x40000000};
    for (size_t i = 0; i < countof(flags); i++) {
        auto_buf struct buf args = {0};
        buf_printf(&args, "[{\"index\":0,\"value\":%u,\"valueTwo\":%u,\"op\":\"SCMP_CMP_MASKED_EQ\"}]",
                   flags[i], flags[i]);
        rule(o, clone, 1, 1, buf_view(&args));
    }
    /* TIOCSTI and TIOCLINUX type into the terminal of a person attached to the container. */
    rule(o, control, 1, 1, STR("[{\"index\":1,\"value\":21522,\"op\":\"SCMP_CMP_EQ\"}]"));
    rule(o, control, 1, 1, STR("[{\"index\":1,\"value\":21532,\"op\":\"SCMP_CMP_EQ\"}]"));
    /* AF_VSOCK leads to the machine that this one is a guest of, past every network namespace. */
    rule(o, sockets, 1, 97, STR("[{\"index\":0,\"value\":40,\"op\":\"SCMP_CMP_EQ\"}]"));
    json_array_end(o);
    json_object_end(o);
}
