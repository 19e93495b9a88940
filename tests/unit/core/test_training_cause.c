/* Why runs failed: what the ends of logs tell. */
#include "core/training/cause.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct {
    const char *log, *reason;
    int code;
    const char *id, *detail;
} known[] = {
    {"ModuleNotFoundError: No module named 'torch'", "ended with exit code 1", 1, "module-missing", "torch"},
    {"/usr/bin/python3: No module named ingot_learn.x", "", 1, "module-missing", "ingot_learn.x"},
    {"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", "", 1, "device-memory",
     NULL},
    {"fine so far", "out of memory: the limit is 128 MB", 137, "out-of-memory", NULL},
    {"Killed", "it needed more memory than its spec gives", 137, "out-of-memory", NULL},
    {"numpy.core._exceptions.MemoryError: Unable to allocate 7 GiB", "", 1, "out-of-memory", NULL},
    {"OSError: [Errno 28] No space left on device: 'a'", "", 1, "no-space", NULL},
    {"x", "its disk was full (the limit is 10 MB): ended with exit code 7", 7, "no-space", NULL},
    {"RuntimeError: Found no NVIDIA driver on your system", "", 1, "no-device", NULL},
    {"AssertionError: Torch not compiled with CUDA enabled", "", 1, "no-device", NULL},
    {"step=1 loss=1", "its hours are over", -1, "time-out", NULL},
    {"TimeoutError: the read operation timed out", "", 1, "time-out", NULL},
    {"epoch 1: val_loss=nan", "ended with exit code 1", 1, "nan", NULL},
    {"ValueError: Input contains NaN.", "", 1, "nan", NULL},
    {"sh: 1: trian.py: not found", "ended with exit code 127", 127, "command-not-found", "trian.py"},
    {"bash: line 1: nvcc: command not found", "", 127, "command-not-found", "nvcc"},
    {"", "ended with exit code 127", 127, "command-not-found", NULL},
    {"", "cannot run '/bin/sh': No such file or directory", -1, "command-not-found", "/bin/sh"},
    {"python3: can't open file '/workspace/x.py': [Errno 2] No such file or directory", "", 2, "file-missing",
     "/workspace/x.py"},
    {"PermissionError: [Errno 13] Permission denied: '/etc/x'", "", 1, "permission-denied", "/etc/x"},
    {"sh: 1: ./run.sh: Permission denied", "", 126, "permission-denied", "./run.sh"},
    {"Killed", "ended with exit code 137", 137, "killed", NULL},
    {"", "ended by signal 11", 139, "killed", NULL},
    {"ValueError: bad shape", "ended with exit code 1", 1, "exception", "ValueError"},
    {"KeyError", "", 1, "exception", "KeyError"},
    /* Words that only look alike. */
    {"a skilled worker; the nanometre loss: nano; memoryerrors", "ended with exit code 3", 3, "other", NULL},
    {"", "", -1, "other", NULL},
};

static void causes_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(known); i++) {
        auto_arena struct arena a;
        arena_init(&a);
        struct cause_line line = {str_of(known[i].log), true};
        struct cause_facts f = {&line, 1, str_of(known[i].reason), known[i].code};
        struct cause c;
        cause_find(&a, &f, &c);
        assert_string_equal(c.id, known[i].id);
        assert_string_equal(arena_strz(&a, c.detail), known[i].detail ? known[i].detail : "");
        assert_null(strpbrk(c.en, "*{}"));
        assert_null(strpbrk(c.zh, "*{}"));
        if (known[i].detail)
            assert_non_null(strstr(c.en, known[i].detail));
    }
}

static void the_runtime_of_a_module_is_named(void **state)
{
    static const struct {
        const char *line, *runtime;
    } modules[] = {{"No module named 'torch'", "pytorch"},
                   {"No module named 'torchvision.ops'", "pytorch"},
                   {"No module named 'lightgbm'", "sklearn"},
                   {"No module named 'torches'", NULL}};
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < countof(modules); i++) {
        const struct cause_line line = {str_of(modules[i].line), true};
        struct cause c;
        cause_find(&a, &(struct cause_facts){.line = &line, .n = 1, .exit_code = 1}, &c);
        assert_string_equal(c.id, "module-missing");
        const char *named = strstr(c.en, "The runtime ");
        assert_true((named != NULL) == (modules[i].runtime != NULL));
        if (named)
            assert_int_equal(strncmp(named + 12, modules[i].runtime, strlen(modules[i].runtime)), 0);
        assert_true((strstr(c.zh, "运行环境") != NULL) == (modules[i].runtime != NULL));
    }
}

static void old_lines_tell_nothing(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    struct cause_line line[] = {
        {STR("mkdir: /root/.cache: Permission denied"), true},
        {STR("Traceback (most recent call last):"), true},
        {STR("step=1 loss=2"), false},
        {STR("  File \"train.py\", line 3, in <module>"), true},
        {STR("IndexError: list index out of range"), true},
        {STR(""), true},
    };
    struct cause_facts f = {line, countof(line), STR("ended with exit code 1"), 1};
    struct cause c;
    cause_find(&a, &f, &c);
    assert_string_equal(c.id, "exception");
    /* The lines of errors from the trace on; no empty one at the end. */
    assert_int_equal(c.n, 3);
    assert_true(str_is(c.line[0], "Traceback (most recent call last):"));
    assert_true(str_is(c.line[2], "IndexError: list index out of range"));
}

static void few_lines_are_quoted(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    struct cause_line line[200];
    for (size_t i = 0; i < countof(line); i++)
        line[i] = (struct cause_line){str_of(arena_printf(&a, "line %zu", i)), false};
    struct cause_facts f = {line, countof(line), STR(""), 1};
    struct cause c;
    cause_find(&a, &f, &c);
    assert_int_equal(c.n, CAUSE_LINES);
    assert_true(str_is(c.line[CAUSE_LINES - 1], "line 199"));
    assert_true(str_is(c.line[0], "line 180"));
}

static void lines_become_plain(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    static const struct {
        const char *in, *out;
    } lines[] = {{"\033[31mred\033[0m", "red"},
                 {"10%\r50%\r100% \r", "100%"},
                 {"a\001b\tc", "ab\tc"},
                 {"\033", ""},
                 {"\033[", ""},
                 {"图\xff片", "图片"}};
    for (size_t i = 0; i < countof(lines); i++)
        assert_string_equal(arena_strz(&a, cause_plain(&a, str_of(lines[i].in))), lines[i].out);
    char *wide = arena_alloc(&a, 5000);
    for (size_t i = 0; i < 5000; i++)
        wide[i] = "图"[i % 3];
    assert_true(cause_plain(&a, (struct str){wide, 4998}).n <= CAUSE_WIDTH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(causes_are_found),       cmocka_unit_test(the_runtime_of_a_module_is_named),
        cmocka_unit_test(old_lines_tell_nothing), cmocka_unit_test(few_lines_are_quoted),
        cmocka_unit_test(lines_become_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
