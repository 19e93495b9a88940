/* Both versions of cgroups on trees of plain files: in a mount namespace of its own, a tmpfs lies over
 * /sys/fs/cgroup. tests/exec has the real ones of the machine, which are of one version. */
#include "base/fs.h"
#include "exec/local/cgroup.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ROOT "/sys/fs/cgroup"

static bool isolated;

static void put(const char *path, const char *text)
{
    char full[256];
    snprintf(full, sizeof full, ROOT "/%s", path);
    auto_fd int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && fs_write_all(fd, text, strlen(text), NULL));
}

static void has(const char *path, const char *text)
{
    char full[256], found[256] = "";
    snprintf(full, sizeof full, ROOT "/%s", path);
    auto_fd int fd = open(full, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && read(fd, found, sizeof found - 1) >= 0);
    assert_string_equal(found, text);
}

static void make(const char *path)
{
    char full[256];
    snprintf(full, sizeof full, ROOT "/%s", path);
    assert_true(fs_mkdirs(full, 0700, NULL));
}

static int begin(void **state)
{
    (void)state;
    isolated = geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
               mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
               mount("none", ROOT, "tmpfs", 0, NULL) == 0;
    return 0;
}

/* Another tmpfs for each test. */
static int fresh(void **state)
{
    (void)state;
    return isolated && mount("none", ROOT, "tmpfs", 0, NULL) != 0;
}

static int gone(void **state)
{
    (void)state;
    return isolated && umount2(ROOT, MNT_DETACH) != 0;
}

/* A process that only a signal ends, written into the group. */
static pid_t member(const char *file)
{
    char text[32];
    pid_t pid = fork();
    if (pid == 0) {
        for (;;)
            pause();
    }
    snprintf(text, sizeof text, "%d\n", (int)pid);
    put(file, text);
    return pid;
}

static void killed(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void version_two(void **state)
{
    (void)state;
    struct cgroup_use use;
    if (!isolated)
        skip();
    assert_int_equal(cgroup_version(), 0);
    put("cgroup.controllers", "cpu memory pids\n");
    assert_int_equal(cgroup_version(), 2);
    assert_false(cgroup_is_hybrid());
    assert_false(cgroup_read("/i/1-1-0", &use));
    make("i/1-1-0");
    put("i/1-1-0/cpu.stat", "usage_usec 1500\nuser_usec 1000\nsystem_usec 500\n");
    put("i/1-1-0/memory.current", "8000\n");
    put("i/1-1-0/memory.stat", "anon 5000\nfile 3000\ninactive_file 2000\n");
    put("i/1-1-0/memory.events", "low 0\nhigh 0\nmax 7\noom 0\noom_kill 0\n");
    put("i/1-1-0/pids.current", "3\n");
    put("i/1-1-0/pids.events", "max 0\n");
    put("i/1-1-0/cpu.max", "10000 100000\n");
    assert_true(cgroup_read("/i/1-1-0", &use));
    assert_int_equal(use.cpu_ns, 1500000);
    assert_int_equal(use.memory, 6000);
    assert_int_equal(use.pids, 3);
    assert_false(cgroup_oom("/i/1-1-0"));
    assert_false(cgroup_forks_refused("/i/1-1-0"));
    put("i/1-1-0/memory.events", "low 0\nhigh 0\nmax 9\noom 2\noom_kill 1\noom_group_kill 0\n");
    put("i/1-1-0/pids.events", "max 4\n");
    assert_true(cgroup_oom("/i/1-1-0"));
    assert_true(cgroup_forks_refused("/i/1-1-0"));

    put("i/1-1-0/cgroup.freeze", "0");
    put("i/1-1-0/cgroup.events", "populated 1\nfrozen 1\n");
    assert_true(cgroup_freeze("/i/1-1-0", true));
    has("i/1-1-0/cgroup.freeze", "1");
    assert_true(cgroup_freeze("/i/1-1-0", false));
    has("i/1-1-0/cgroup.freeze", "0");

    pid_t pid = member("i/1-1-0/cgroup.procs");
    put("i/1-1-0/cpu.max", "");
    cgroup_kill("/i/1-1-0");
    killed(pid);
    has("i/1-1-0/cpu.max", "max");
    make("i/2-1-0");
    assert_true(cgroup_remove("/i/2-1-0"));
    assert_int_not_equal(access(ROOT "/i/2-1-0", F_OK), 0);
    assert_true(cgroup_remove("/i/2-1-0"));
}

static void version_one(void **state)
{
    (void)state;
    struct cgroup_use use;
    if (!isolated)
        skip();
    static const char *const controllers[] = {"cpu", "cpuacct", "memory", "pids", "freezer"};
    for (size_t i = 0; i < countof(controllers); i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/i/1-1-0", controllers[i]);
        make(path);
    }
    put("memory/cgroup.procs", "");
    assert_int_equal(cgroup_version(), 1);
    assert_false(cgroup_is_hybrid());
    make("unified");
    put("unified/cgroup.procs", "");
    assert_true(cgroup_is_hybrid());
    put("cpuacct/i/1-1-0/cpuacct.usage", "1500000\n");
    put("memory/i/1-1-0/memory.usage_in_bytes", "8000\n");
    put("memory/i/1-1-0/memory.stat", "cache 3000\ninactive_file 1\ntotal_inactive_file 2000\n");
    put("memory/i/1-1-0/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
    put("pids/i/1-1-0/pids.current", "3\n");
    put("freezer/i/1-1-0/freezer.state", "THAWED");
    put("cpu/i/1-1-0/cpu.cfs_quota_us", "");
    assert_true(cgroup_read("/i/1-1-0", &use));
    assert_true(use.cpu_ns == 1500000 && use.memory == 6000 && use.pids == 3);
    assert_true(cgroup_oom("/i/1-1-0"));
    assert_false(cgroup_forks_refused("/i/1-1-0"));
    assert_true(cgroup_freeze("/i/1-1-0", true));
    has("freezer/i/1-1-0/freezer.state", "FROZEN");
    pid_t pid = member("pids/i/1-1-0/cgroup.procs");
    cgroup_kill("/i/1-1-0");
    killed(pid);
    has("cpu/i/1-1-0/cpu.cfs_quota_us", "-1");
    make("memory/i/2-1-0");
    make("pids/i/2-1-0");
    assert_true(cgroup_remove("/i/2-1-0"));
    assert_int_not_equal(access(ROOT "/memory/i/2-1-0", F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(version_two, fresh, gone),
        cmocka_unit_test_setup_teardown(version_one, fresh, gone),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
