/* Names of containers and the rules every spec keeps to; running them is tests/exec. */
#include "exec/exec.h"
#include "exec/local/local.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void ids_read_back(void **state)
{
    (void)state;
    char text[EXEC_ID_MAX];
    struct exec_id id, all[] = {{1, 1, 0}, {INT64_MAX, INT32_MAX, INT32_MAX}, {17, 2, 30}};
    for (size_t i = 0; i < countof(all); i++) {
        assert_true(exec_id_parse(str_of(exec_id_format(all[i], text)), &id));
        assert_true(exec_id_equal(id, all[i]));
    }
    assert_string_equal(exec_id_format((struct exec_id){17, 2, 3}, text), "17-2-3");
}

static void other_texts_are_no_ids(void **state)
{
    (void)state;
    static const char *const bad[] = {"",        "1",
                                      "1-1",     "1-1-0-0",
                                      "01-1-0",  "1--1-0",
                                      "-1-1-0",  "1-1-a",
                                      "1-1- 0",  "+1-1-0",
                                      "1-1-0\n", "9223372036854775808-1-0",
                                      ".lock",   "1-2147483648-0",
                                      "../1-1-0"};
    struct exec_id id = {5, 5, 5};
    for (size_t i = 0; i < countof(bad); i++)
        assert_false(exec_id_parse(str_of(bad[i]), &id));
    assert_int_equal(id.job, 5);
    assert_false(exec_id_equal((struct exec_id){1, 1, 0}, (struct exec_id){1, 1, 1}));
}

static const char *const command[] = {"true"};

static struct exec_spec good(void)
{
    return (struct exec_spec){.id = {1, 1, 0}, .image = "host", .argv = command, .n_argv = 1};
}

static void refused(const struct exec_spec *s, const char *field)
{
    struct err err = {0};
    assert_false(exec_spec_check(s, &err));
    assert_int_equal(err.code, ERR_INVALID);
    assert_string_equal(err.field, field);
    assert_true(strlen(err.message) > 5);
}

static void a_spec_is_checked(void **state)
{
    (void)state;
    struct err err;
    struct exec_spec s = good();
    assert_true(exec_spec_check(&s, &err));
    s.id.attempt = 0;
    refused(&s, "id");
    s = good();
    s.image = NULL;
    refused(&s, "image");
    s = good();
    s.n_argv = 0;
    refused(&s, "argv");
    s = good();
    s.cwd = "/a/..";
    refused(&s, "cwd");
    s.cwd = "/a/..b/c";
    assert_true(exec_spec_check(&s, &err));
    s.user = "a;b";
    refused(&s, "user");
    s = good();
    s.memory = 100;
    refused(&s, "memory");
    s.memory = 64 << 20;
    assert_true(exec_spec_check(&s, &err));
}

static void targets_are_checked(void **state)
{
    (void)state;
    static const char *const bad[] = {"relative", "/",    "/proc",     "/proc/self",
                                      "/dev/x",   "/sys", "/a/../etc", ""};
    struct err err;
    for (size_t i = 0; i < countof(bad); i++) {
        struct exec_mount mount = {.source = "/tmp", .target = bad[i]};
        struct exec_file file = {.target = bad[i]};
        struct exec_spec s = good();
        s.mounts = &mount;
        s.n_mounts = 1;
        refused(&s, "mounts");
        s = good();
        s.files = &file;
        s.n_files = 1;
        refused(&s, "files");
    }
    struct exec_mount mount = {.source = "/tmp", .target = "/process"};
    struct exec_spec s = good();
    s.mounts = &mount;
    s.n_mounts = 1;
    assert_true(exec_spec_check(&s, &err));
}

static void words_of_states(void **state)
{
    (void)state;
    assert_string_equal(exec_state_name(EXEC_EXITED), "exited");
    assert_string_equal(exec_end_name(EXEC_END_NO_START), "no-start");
    assert_string_equal(exec_end_name(EXEC_END_LOST), "lost");
}

static void other_users_are_told(void **state)
{
    (void)state;
    struct local_options options = {.dir = "/nowhere/jobs", .name = "t"};
    struct err err = {0};
    bool root = geteuid() == 0;
    if (root)
        assert_int_equal(seteuid(65534), 0);
    struct exec *x = local_new(&options, &err);
    if (root)
        assert_int_equal(seteuid(0), 0);
    assert_null(x);
    assert_int_equal(err.code, ERR_UNAVAILABLE);
    assert_ptr_equal(strstr(err.message, "containers need root; this is user "), err.message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_read_back),     cmocka_unit_test(other_texts_are_no_ids),
        cmocka_unit_test(a_spec_is_checked), cmocka_unit_test(targets_are_checked),
        cmocka_unit_test(words_of_states),   cmocka_unit_test(other_users_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
