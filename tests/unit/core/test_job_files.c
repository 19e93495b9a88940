/* Files that jobs leave in the data folder: curves, and checkouts that nobody uses any more. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "core/job/checkout.h"
#include "core/job/curves_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MINUTE INT64_C(60000000)

struct fixture {
    struct core core;
    char dir[64], url[128];
};

static int begin(void **state)
{
    struct fixture *f = base_zalloc(sizeof *f);
    struct err err = {0};
    char path[128];
    snprintf(f->dir, sizeof f->dir, "/tmp/ingot-unit-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->url, sizeof f->url, "sqlite:%s/test.db", f->dir);
    snprintf(path, sizeof path, "%s/curves", f->dir);
    f->core.data = f->dir;
    assert_true(fs_mkdirs(path, 0700, &err));
    f->core.db = db_open(&(struct db_options){.url = f->url}, &err);
    assert_non_null(f->core.db);
    assert_true(db_script(f->core.db, "CREATE TABLE jobs (id BIGINT, state TEXT, checkouts TEXT);", &err));
    *state = f;
    return 0;
}

static int end(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    db_close(f->core.db);
    assert_true(fs_remove_tree(AT_FDCWD, f->dir, &err));
    free(f);
    return 0;
}

static void test_only_a_day_of_minutes_is_kept(void **state)
{
    struct fixture *f = *state;
    auto_arena struct arena a;
    arena_init(&a);
    struct err err = {0};
    const struct exec_id id = {7, 1, 0};
    struct curve_point *points;
    size_t n;
    assert_true(curves_file_read(&f->core, id, &a, &points, &n, &err));
    assert_int_equal(n, 0);
    for (int64_t i = 0; i < 3000; i++) {
        struct curve_point p = {.at = i * MINUTE, .cpu = i};
        assert_true(curves_file_add(&f->core, id, &p, &err));
    }
    assert_true(curves_file_read(&f->core, id, &a, &points, &n, &err));
    assert_int_equal(n, CURVES_MINUTES);
    assert_int_equal(points[n - 1].cpu, 2999);
    assert_int_equal(points[0].cpu, 3000 - CURVES_MINUTES);
    struct stat st;
    assert_int_equal(stat(arena_printf(&a, "%s/curves/7-1-0.2", f->dir), &st), 0);
    assert_true(st.st_size < (off_t)(2 * CURVES_MINUTES * sizeof *points));
    /* A record that a crash cut short does not count. */
    assert_int_equal(truncate(arena_printf(&a, "%s/curves/7-1-0.2", f->dir), st.st_size - 5), 0);
    assert_true(curves_file_read(&f->core, id, &a, &points, &n, &err));
    assert_int_equal(points[n - 1].cpu, 2998);
    curves_forget(&f->core, id);
    assert_true(curves_file_read(&f->core, id, &a, &points, &n, &err));
    assert_int_equal(n, 0);
}

static yyjson_val *project_curve(struct fixture *f, struct arena *a)
{
    auto_buf struct buf text = {0};
    struct json_out out;
    struct err err = {0};
    json_begin(&out, &text);
    assert_true(curves_write_project(&f->core, 3, &out, &err));
    yyjson_val *list = json_parse(a, arena_str(a, buf_view(&text)), &err);
    assert_non_null(list);
    return list;
}

static void test_gaps_of_a_project_are_zero(void **state)
{
    struct fixture *f = *state;
    auto_arena struct arena a;
    arena_init(&a);
    struct err err = {0};
    assert_int_equal(yyjson_arr_size(project_curve(f, &a)), 3);
    int64_t now = clock_now(), minute = now - now % MINUTE;
    static const struct curves_cards cards = {"npu", 2};
    for (int64_t i = 0; i < 3; i++) {
        struct curve_point p = {.at = minute - (60 - i) * MINUTE, .cpu = 1500000, .memory = 42};
        assert_true(curves_file_add_project(&f->core, 3, &p, &cards, 1, &err));
    }
    yyjson_val *list = project_curve(f, &a), *v = yyjson_arr_get(list, 3);
    assert_int_equal(yyjson_arr_size(list), 3 + 3 + 2);
    assert_true(yyjson_get_num(yyjson_obj_get(v, "cpu")) == 1.5);
    assert_int_equal(yyjson_get_sint(yyjson_obj_get(v, "memory")), 42);
    assert_true(yyjson_get_num(yyjson_obj_get(yyjson_obj_get(v, "accelerators"), "npu")) == 2);
    assert_true(yyjson_get_num(yyjson_obj_get(yyjson_arr_get_last(list), "cpu")) == 0);
}

static void make(struct fixture *f, const char *name)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct err err = {0};
    assert_true(fs_mkdirs(arena_printf(&a, "%s/checkouts/%s/in", f->dir, name), 0755, &err));
}

static bool is_there(struct fixture *f, const char *name)
{
    auto_arena struct arena a;
    arena_init(&a);
    return access(arena_printf(&a, "%s/checkouts/%s", f->dir, name), F_OK) == 0;
}

static void test_checkouts_are_swept(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    assert_true(db_script(f->core.db,
                          "INSERT INTO jobs VALUES (1, 'running', 'used other '), (2, 'completed', 'old ');",
                          &err));
    make(f, "used");
    make(f, "use"); /* a part of another's name */
    make(f, "old");
    make(f, ".half-x-7");
    assert_true(checkout_sweep(&f->core, &lock, 3600, &err));
    assert_true(is_there(f, "used") && is_there(f, "old") && is_there(f, "use"));
    assert_true(checkout_sweep(&f->core, &lock, -10, &err));
    assert_true(is_there(f, "used") && is_there(f, ".half-x-7"));
    assert_false(is_there(f, "old") || is_there(f, "use") || is_there(f, ".gone-old"));
    assert_true(checkout_sweep_halves(&f->core, &err));
    assert_false(is_there(f, ".half-x-7"));
    pthread_mutex_destroy(&lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_only_a_day_of_minutes_is_kept, begin, end),
        cmocka_unit_test_setup_teardown(test_gaps_of_a_project_are_zero, begin, end),
        cmocka_unit_test_setup_teardown(test_checkouts_are_swept, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
