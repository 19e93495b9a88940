/* fs and proc. */
#include "base/fs.h"
#include "base/proc.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>

struct folder {
    char path[64];
    int fd;
};

static int setup(void **state)
{
    struct folder *f = base_alloc(sizeof *f);
    strcpy(f->path, "/tmp/ingot-fs-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    f->fd = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *state = f;
    return f->fd < 0;
}

static int teardown(void **state)
{
    struct folder *f = *state;
    close(f->fd);
    bool ok = fs_remove_tree(AT_FDCWD, f->path, NULL);
    free(f);
    return !ok;
}

static char *in(struct arena *a, struct folder *f, const char *name)
{
    return arena_printf(a, "%s/%s", f->path, name);
}

static void reads_and_writes(void **state)
{
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct str s;
    char *path = in(&a, *state, "file");
    assert_false(fs_read(&a, path, 10, &s, &err));
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_true(fs_write_atomic(path, STR("0123456789"), 0600, &err));
    assert_true(fs_read(&a, path, 10, &s, &err));
    assert_true(str_is(s, "0123456789"));
    assert_false(fs_read(&a, path, 9, &s, &err));
    assert_int_equal(err.code, ERR_TOO_LARGE);
    assert_true(fs_write_atomic(path, STR_NULL, 0640, &err));
    assert_true(fs_read(&a, path, 0, &s, &err));
    assert_int_equal(s.n, 0);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_false(fs_write_atomic(in(&a, *state, "none/file"), STR("x"), 0600, &err));
    assert_true(fs_read(&a, "/proc/self/status", 100000, &s, &err));
    assert_true(s.n > 100);
    assert_true(fs_free_bytes(((struct folder *)*state)->path) > 0);
}

static void makes_folders(void **state)
{
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct stat st;
    char *path = in(&a, *state, "x//y/z/");
    assert_true(fs_mkdirs(path, 0700, &err));
    assert_true(fs_mkdirs(path, 0700, &err));
    assert_true(stat(path, &st) == 0 && S_ISDIR(st.st_mode));
    assert_true(fs_write_atomic(in(&a, *state, "file"), STR(""), 0600, &err));
    assert_false(fs_mkdirs(in(&a, *state, "file/x"), 0700, &err));
    assert_false(fs_mkdirs(in(&a, *state, "file"), 0700, &err));
    assert_false(fs_mkdirs("", 0700, &err));
}

static void stays_beneath(void **state)
{
    struct folder *f = *state;
    auto_arena struct arena a = {0};
    struct err err = {0};
    assert_true(fs_mkdirs(in(&a, f, "d"), 0700, &err));
    assert_true(fs_write_atomic(in(&a, f, "d/file"), STR("x"), 0600, &err));
    assert_int_equal(symlink("d", in(&a, f, "link")), 0);
    assert_int_equal(symlink("/etc/passwd", in(&a, f, "d/out")), 0);
    int fd = fs_open_beneath(f->fd, "d/../d/file", O_RDONLY, 0, &err);
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    close(fd);
    static const char *const bad[] = {"../x", "/etc/passwd", "link/file", "d/out", "d/../../x"};
    for (size_t i = 0; i < countof(bad); i++) {
        assert_int_equal(fs_open_beneath(f->fd, bad[i], O_RDONLY, 0, &err), -1);
        assert_int_equal(err.code, ERR_INVALID);
    }
    assert_int_equal(fs_open_beneath(f->fd, "none", O_RDONLY, 0, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    fd = fs_open_beneath(f->fd, "new", O_WRONLY | O_CREAT | O_EXCL, 0600, &err);
    assert_true(fd >= 0);
    assert_true(fs_write_all(fd, "abc", 3, &err));
    close(fd);
    assert_int_equal(fs_open_beneath(f->fd, "new", O_WRONLY | O_CREAT | O_EXCL, 0600, &err), -1);
    assert_int_equal(err.code, ERR_EXISTS);
}

static void removes_trees(void **state)
{
    struct folder *f = *state;
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct stat st;
    assert_true(fs_mkdirs(in(&a, f, "keep"), 0700, &err));
    assert_true(fs_write_atomic(in(&a, f, "keep/file"), STR("x"), 0600, &err));
    assert_true(fs_mkdirs(in(&a, f, "tree/a/b"), 0700, &err));
    assert_true(fs_mkdirs(in(&a, f, "tree/c"), 0700, &err));
    for (int i = 0; i < 100; i++)
        assert_true(fs_write_atomic(arena_printf(&a, "%s/tree/a/%d", f->path, i), STR("x"), 0400, &err));
    assert_int_equal(symlink("../keep", in(&a, f, "tree/link")), 0);
    assert_int_equal(symlink("keep", in(&a, f, "link")), 0);
    assert_true(fs_remove_tree(f->fd, "tree", &err));
    assert_true(fs_remove_tree(f->fd, "tree", &err));
    assert_true(fs_remove_tree(f->fd, "link", &err));
    assert_int_equal(lstat(in(&a, f, "tree"), &st), -1);
    assert_int_equal(lstat(in(&a, f, "link"), &st), -1);
    assert_int_equal(stat(in(&a, f, "keep/file"), &st), 0);
    assert_true(fs_remove_tree(f->fd, "keep/file", &err));
}

static void removes_deep_trees(void **state)
{
    struct folder *f = *state;
    int fd = dup(f->fd);
    for (int i = 0; i < 3000; i++) { /* deeper than PATH_MAX and the limit of descriptors */
        const char *name = i ? "d" : "deep";
        assert_int_equal(mkdirat(fd, name, 0700), 0);
        int down = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(down >= 0);
        close(fd);
        fd = down;
    }
    close(fd);
    struct err err = {0};
    assert_true(fs_remove_tree(f->fd, "deep", &err));
    struct stat st;
    assert_int_equal(fstatat(f->fd, "deep", &st, AT_SYMLINK_NOFOLLOW), -1);
}

static void runs_programs(void **state)
{
    (void)state;
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct str out;
    int status = -1;
    char *hello[] = {"sh", "-c", "echo out; echo err >&2; cat; exit 7", NULL};
    assert_true(proc_run(&a, hello, 1000, &status, &out, &err));
    assert_int_equal(status, 7);
    assert_true(str_is(out, "out\nerr\n"));
    char *killed[] = {"sh", "-c", "kill -9 $$", NULL};
    assert_true(proc_run(&a, killed, 1000, &status, NULL, &err));
    assert_int_equal(status, 128 + SIGKILL);
    char *much[] = {"sh", "-c", "head -c 1000000 /dev/zero", NULL};
    assert_true(proc_run(&a, much, 1000, &status, &out, &err));
    assert_int_equal(out.n, 1000);
    assert_int_equal(status, 0);
    char *none[] = {"no-such-program-here", NULL};
    assert_false(proc_run(&a, none, 1000, &status, &out, &err));
    assert_non_null(strstr(err.message, "no-such-program-here"));
    /* A program left behind keeps the stream open; its number is printed so that it can be ended. */
    char *left[] = {"sh", "-c", "sleep 1000 & echo $!", NULL};
    assert_true(proc_run(&a, left, 1000, &status, &out, &err));
    int64_t pid;
    assert_true(str_to_i64(str_trim(out), &pid));
    kill((pid_t)pid, SIGKILL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_and_writes, setup, teardown),
        cmocka_unit_test_setup_teardown(makes_folders, setup, teardown),
        cmocka_unit_test_setup_teardown(stays_beneath, setup, teardown),
        cmocka_unit_test_setup_teardown(removes_trees, setup, teardown),
        cmocka_unit_test_setup_teardown(removes_deep_trees, setup, teardown),
        cmocka_unit_test(runs_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
